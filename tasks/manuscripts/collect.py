"""Manuscripts at the paths of a user, and the authors' own reasons."""

import csv
import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from schemas.base import encodable
from schemas.errors import ConfigurationError
from schemas.text.plain_files import PlainFileError, open_file
from schemas.works.check_run import IncludedFile, ManuscriptSource
from tasks.documents.latex import FolderFiles, included_files, latex_content
from tasks.documents.latex_source import (
    LatexError,
    decode,
    is_figure,
    main_files,
    starts_document,
    used_files,
)

TEXT_SUFFIXES = (".txt", ".md", ".mmd", ".markdown", ".ocr")
TEX_SUFFIXES = (".tex", ".ltx", ".latex")
ARCHIVE_SUFFIXES = (".zip", ".tar.gz", ".tgz", ".tar", ".gz")
_START_BYTES = 200_000
"""Bytes read to see whether a LaTeX file is a whole document; more than preambles have."""
SUFFIXES = (".pdf", *TEXT_SUFFIXES, *TEX_SUFFIXES, *ARCHIVE_SUFFIXES)


def collect_manuscripts(
    paths: Sequence[Path],
    reasons: Mapping[str, str] | None = None,
    *,
    maximum_bytes: int = 40_000_000,
) -> tuple[ManuscriptSource, ...]:
    """Return the manuscripts at `paths` in order, without duplicates; those of folders by name.

    A folder with one LaTeX paper is that paper; any other is a folder of manuscripts. Each of several
    main files is a manuscript; files they include and their figures are not. The id is the file name
    without suffix, plus a hash if two names are equal. A folder, link or pipe named like a
    manuscript is listed with the others and later fails to be read.

    Args:
        reasons: the authors' own reasons by file name, with or without suffix.

    Raises:
        ConfigurationError: a missing path, an unknown format, a folder without manuscripts, or a
            reason for none.
    """
    places = list(
        dict.fromkeys(place for path in paths for place in _manuscripts(path, maximum_bytes))
    )
    names = [_name(place) for place in places]
    # Of manuscripts with one name and one content, the first stands for all.
    sources: dict[str, ManuscriptSource] = {}
    remaining_reasons = dict(reasons or {})
    for place, name in zip(places, names, strict=True):
        inclusions, sha256 = _content(place, maximum_bytes)
        is_unique = names.count(name) == 1
        reason = remaining_reasons.pop(place.name, None)
        if is_unique:
            reason = reason or remaining_reasons.pop(name, None)
        source = ManuscriptSource(
            manuscript_id=name if is_unique else f"{name}-{sha256[:8]}",
            path=place,
            included=inclusions,
            content_sha256=sha256,
            known_reason=reason,
        )
        sources.setdefault(source.manuscript_id, source)
    if remaining_reasons:
        raise ConfigurationError(
            f"--reasons names {next(iter(remaining_reasons))!r}, and no manuscript is called that; they are"
            f" {', '.join(names[:5])}"
        )
    return tuple(sources.values())


def _manuscripts(path: Path, maximum_bytes: int) -> Iterator[Path]:
    if not path.exists():
        raise ConfigurationError(
            f"{path} is not there: name a PDF, a text file, a LaTeX source, or a folder of them"
        )
    place = path.resolve()  # the user's own choice where it is a link; none inside is followed
    if not path.is_dir():
        if not path.name.lower().endswith(SUFFIXES):
            raise ConfigurationError(
                f"{path.name} is no manuscript: Assay reads {', '.join(SUFFIXES)}, and folders of"
                " LaTeX"
            )
        open_file(place).close()
        yield place
        return
    try:
        inside = list(_inside(place, maximum_bytes))
    except LatexError as error:
        raise ConfigurationError(f"{path}: {error}; name the manuscripts one by one") from error
    if not inside:
        raise ConfigurationError(
            f"the folder {path} holds no manuscript: Assay reads {', '.join(SUFFIXES)}, and folders"
            " of LaTeX"
        )
    yield from inside


def papers_inside(folder: Path, maximum_bytes: int) -> Iterator[Path]:
    """Yield the manuscript files of a folder, without figures and parts of LaTeX papers.

    Raises:
        ConfigurationError: the LaTeX files are too many or too large.
    """
    try:
        yield from _inside(folder, maximum_bytes, is_project=False)
    except LatexError as error:
        raise ConfigurationError(f"{folder}: {error}; name the manuscripts one by one") from error


def _inside(
    folder: Path, maximum_bytes: int, *, in_project: bool = False, is_project: bool = True
) -> Iterator[Path]:
    """Yield the manuscripts of a folder: one LaTeX paper, each of several, or other files.

    Args:
        in_project: True if a folder above has main files, which own the LaTeX parts.
        is_project: True if a folder with one LaTeX paper is nothing else.
    """
    # Opened per main file: the limits apply to one manuscript, not to a folder of thousands.
    open_files = partial(FolderFiles, folder, maximum_bytes)
    names = [each.name for each in sorted(folder.iterdir()) if _is_latex(each)]
    starts = [name for name in names if starts_document(_start_of(folder / name))]
    mains = main_files(starts, open_files)
    parts_alone = not mains and any(not is_figure(_start_of(folder / name)) for name in names)
    if is_project and (len(mains) == 1 or (parts_alone and not in_project)):
        yield folder
        return
    figures = {name for main in mains for name in used_files(open_files(), main)}
    prints = {PurePosixPath(main).stem for main in mains}
    for each in sorted(folder.iterdir()):
        name = each.name
        if each.is_dir() and not each.is_symlink():
            if not name.startswith(".") and not any(one.startswith(f"{name}/") for one in figures):
                yield from _inside(
                    each,
                    maximum_bytes,
                    in_project=in_project or bool(mains),
                    is_project=is_project,
                )
        elif name in mains or (name not in names and _is_manuscript(each, figures, prints)):
            yield each


def _is_latex(file: Path) -> bool:
    has_suffix = file.suffix.lower() in TEX_SUFFIXES and not file.name.startswith(".")
    return has_suffix and file.is_file() and not file.is_symlink()


def _start_of(file: Path) -> str:
    with open_file(file) as stream:
        return decode(stream.read(_START_BYTES))


def _is_manuscript(file: Path, figures: Set[str], prints: Set[str]) -> bool:
    name = file.name.lower()
    if name.startswith(".") or not name.endswith(SUFFIXES) or name in ("readme.md", "readme.txt"):
        return False
    return not figures & {file.name, file.stem} and not (
        name.endswith(".pdf") and file.stem in prints
    )


def _name(place: Path) -> str:
    name = place.name
    for suffix in SUFFIXES:
        if place.is_file() and name.lower().endswith(suffix):
            return name[: -len(suffix)] or name
    return name


def _content(place: Path, maximum_bytes: int) -> tuple[tuple[IncludedFile, ...], str]:
    """Return the included files, and the hash of all text; of unreadable text, that of its name."""
    inclusions: tuple[IncludedFile, ...] = ()
    try:
        inclusions = included_files(place, maximum_bytes)
        content = latex_content(place, maximum_bytes, inclusions)
    except (LatexError, PlainFileError) as error:  # reading reports the reason
        content = f"{error.reason}: {place.name}".encode("utf-8", "replace")
    except OSError as error:
        raise ConfigurationError(f"{place} cannot be read: {error.strerror}") from error
    return inclusions, hashlib.sha256(content).hexdigest()


_FORMAT = (
    'write JSON Lines such as {"manuscript": "paper-1", "reason": "…"}, or CSV with the columns'
    " manuscript, reason"
)


def read_reasons(path: Path) -> dict[str, str]:
    """Return reasons by manuscript from JSON Lines, a JSON object or list, or CSV.

    Raises:
        ConfigurationError: the file is unreadable, an entry lacks a field, or a manuscript has two
            reasons.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"--reasons {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"--reasons {path} is no UTF-8 text: {_FORMAT}") from error
    reasons: dict[str, str] = {}
    for number, entry in enumerate(_entries(path, text), start=1):
        fields = entry if isinstance(entry, dict) else {}
        name, reason = fields.get("manuscript"), fields.get("reason")
        place = f"--reasons {path}: entry {number}"
        if not (
            isinstance(name, str) and name.strip() and isinstance(reason, str) and reason.strip()
        ):
            raise ConfigurationError(f"{place} lacks its manuscript or its reason; {_FORMAT}")
        if not encodable(name + reason):
            raise ConfigurationError(f"{place} contains a lone surrogate: write it again as UTF-8")
        if name.strip() in reasons:
            raise ConfigurationError(f"{place} gives {name.strip()!r} a second reason")
        reasons[name.strip()] = reason.strip()
    if not reasons:
        raise ConfigurationError(f"--reasons {path} is empty: {_FORMAT}")
    return reasons


def _entries(path: Path, text: str) -> list[Any]:
    if path.suffix.lower() == ".csv":
        try:
            return list(csv.DictReader(io.StringIO(text, newline="")))
        except csv.Error as error:
            raise ConfigurationError(
                f"--reasons {path} is no readable table ({error}): check the quotes; {_FORMAT}"
            ) from error
    try:
        if path.suffix.lower() == ".json":
            document = json.loads(text)
            if isinstance(document, dict) and not {"manuscript", "reason"} <= set(document):
                return [{"manuscript": name, "reason": reason} for name, reason in document.items()]
            return document if isinstance(document, list) else [document]
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"--reasons {path}: line {error.lineno} is no JSON; {_FORMAT}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"--reasons {path} is nested too deeply, or holds too large a number; {_FORMAT}"
        ) from error
