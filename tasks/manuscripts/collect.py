"""The manuscripts at the paths a user named, and the authors' own reasons."""

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
"""Read of a LaTeX file to see whether it is a whole document: longer than preambles are."""
SUFFIXES = (".pdf", *TEXT_SUFFIXES, *TEX_SUFFIXES, *ARCHIVE_SUFFIXES)


def collect_manuscripts(
    paths: Sequence[Path],
    reasons: Mapping[str, str] | None = None,
    *,
    maximum_bytes: int = 40_000_000,
) -> tuple[ManuscriptSource, ...]:
    """Every manuscript at `paths`, in order, each once; of folders by name.

    A folder that holds one LaTeX paper is that paper; any other is a folder of manuscripts. Of
    several main files each is a manuscript; what they include and their figures are none. A
    manuscript is called by its file's name without suffix, with a hash behind it where two share a
    name.

    Args:
        reasons: the authors' own reasons by manuscript: name of the file, with or without suffix.

    Of a folder, a link or a pipe that is called like a manuscript is listed with the others, and
    found unreadable.

    Raises:
        ConfigurationError: a path that is not there, a file of another kind, a folder without
            manuscripts, a reason for none.
    """
    found = list(
        dict.fromkeys(place for path in paths for place in _manuscripts(path, maximum_bytes))
    )
    included = {place: _included(place, maximum_bytes) for place in found}
    hashes = {place: _hash(place, maximum_bytes, included[place]) for place in found}
    names = [_name(place) for place in found]
    sources = []
    given = dict(reasons or {})
    for place, name in zip(found, names, strict=True):
        alone = names.count(name) == 1
        known = (
            given.pop(place.name, None) or given.pop(name, None)
            if alone
            else given.pop(place.name, None)
        )
        shown = name if alone else f"{name}-{hashes[place][:8]}"
        sources.append(
            ManuscriptSource(
                manuscript_id=shown,
                path=place,
                included=included[place],
                content_sha256=hashes[place],
                known_reason=known,
            )
        )
    if given:
        raise ConfigurationError(
            f"--reasons names {next(iter(given))!r}, and no manuscript is called that; they are"
            f" {', '.join(names[:5])}"
        )
    # Of manuscripts with one name and one content, the first stands for all.
    by_id: dict[str, ManuscriptSource] = {}
    for source in sources:
        by_id.setdefault(source.manuscript_id, source)
    return tuple(by_id.values())


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


def _inside(folder: Path, maximum_bytes: int, *, in_project: bool = False) -> Iterator[Path]:
    """The manuscripts of a folder: one LaTeX paper, each of several, or what else it holds.

    Args:
        in_project: whether a folder above holds main files: LaTeX parts are theirs then.
    """
    # Opened for each main file: the limits hold for one manuscript, not for a folder of thousands.
    opened = partial(FolderFiles, folder, maximum_bytes)
    names = [each.name for each in sorted(folder.iterdir()) if _is_latex(each)]
    starts = [name for name in names if starts_document(_start_of(folder / name))]
    mains = main_files(starts, opened)
    parts_alone = not mains and any(not is_figure(_start_of(folder / name)) for name in names)
    if len(mains) == 1 or (parts_alone and not in_project):
        yield folder
        return
    drawn = {name for main in mains for name in used_files(opened(), main)}
    prints = {PurePosixPath(main).stem for main in mains}
    for each in sorted(folder.iterdir()):
        name = each.name
        if each.is_dir() and not each.is_symlink():
            if not name.startswith(".") and not any(one.startswith(f"{name}/") for one in drawn):
                yield from _inside(each, maximum_bytes, in_project=in_project or bool(mains))
        elif name in mains or (name not in names and _is_manuscript(each, drawn, prints)):
            yield each


def _is_latex(file: Path) -> bool:
    named = file.suffix.lower() in TEX_SUFFIXES and not file.name.startswith(".")
    return named and file.is_file() and not file.is_symlink()


def _start_of(file: Path) -> str:
    with open_file(file) as stream:
        return decode(stream.read(_START_BYTES))


def _is_manuscript(file: Path, drawn: Set[str], prints: Set[str]) -> bool:
    name = file.name.lower()
    if name.startswith(".") or not name.endswith(SUFFIXES) or name in ("readme.md", "readme.txt"):
        return False
    return not drawn & {file.name, file.stem} and not (
        name.endswith(".pdf") and file.stem in prints
    )


def _name(place: Path) -> str:
    name = place.name
    for suffix in SUFFIXES:
        if place.is_file() and name.lower().endswith(suffix):
            return name[: -len(suffix)] or name
    return name


def _included(place: Path, maximum_bytes: int) -> tuple[IncludedFile, ...]:
    try:
        return included_files(place, maximum_bytes)
    except (LatexError, PlainFileError):
        return ()  # which reading says
    except OSError as error:
        raise ConfigurationError(f"{place} cannot be read: {error.strerror}") from error


def _hash(place: Path, maximum_bytes: int, included: Sequence[IncludedFile]) -> str:
    """Over the file with what it includes, or a folder's LaTeX files; of what will not be read (too
    large, or a link), over its name.
    """
    try:
        content = latex_content(place, maximum_bytes, included)
    except (LatexError, PlainFileError) as error:
        content = f"{error.reason}: {place.name}".encode("utf-8", "replace")
    except OSError as error:
        raise ConfigurationError(f"{place} cannot be read: {error.strerror}") from error
    return hashlib.sha256(content).hexdigest()


_FORMAT = (
    'write JSON Lines such as {"manuscript": "paper-1", "reason": "…"}, or CSV with the columns'
    " manuscript, reason"
)


def read_reasons(path: Path) -> dict[str, str]:
    """Reasons by manuscript: JSON Lines, one JSON object or list, or CSV.

    Raises:
        ConfigurationError: the file cannot be read, an entry lacks a field, or two speak of one
            manuscript.
    """
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise ConfigurationError(f"--reasons {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"--reasons {path} is no UTF-8 text: {_FORMAT}") from error
    reasons: dict[str, str] = {}
    for number, entry in enumerate(_entries(path, text), start=1):
        fields = (
            (entry.get("manuscript"), entry.get("reason"))
            if isinstance(entry, dict)
            else (None, None)
        )
        name, reason = fields
        if not (
            isinstance(name, str) and name.strip() and isinstance(reason, str) and reason.strip()
        ):
            raise ConfigurationError(
                f"--reasons {path}: entry {number} lacks its manuscript or its reason; {_FORMAT}"
            )
        if not encodable(name + reason):
            raise ConfigurationError(
                f"--reasons {path}: entry {number} holds half a character (a lone surrogate): write"
                " it anew"
            )
        if name.strip() in reasons:
            raise ConfigurationError(
                f"--reasons {path}: entry {number} gives {name.strip()!r} a second reason"
            )
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
            whole = json.loads(text)
            if isinstance(whole, dict) and not {"manuscript", "reason"} <= set(whole):
                return [{"manuscript": name, "reason": reason} for name, reason in whole.items()]
            return whole if isinstance(whole, list) else [whole]
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    except json.JSONDecodeError as error:
        raise ConfigurationError(
            f"--reasons {path}: line {error.lineno} is no JSON; {_FORMAT}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"--reasons {path} is nested too deeply, or holds too large a number; {_FORMAT}"
        ) from error
