"""What a run of checks has to do: the manuscripts at the paths a user named, the authors' own
reasons, and the shards.
"""

import csv
import hashlib
import io
import json
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.base import encodable
from schemas.check_run import CheckRequest, ManuscriptSource
from schemas.errors import ConfigurationError
from schemas.patterns import MULTILINE, linear
from tasks.documents.latex import latex_content
from tasks.shards.work import Shard

TEXT_SUFFIXES = (".txt", ".md", ".mmd", ".markdown", ".ocr")
TEX_SUFFIXES = (".tex", ".ltx", ".latex")
ARCHIVE_SUFFIXES = (".zip", ".tar.gz", ".tgz", ".tar", ".gz")
SUFFIXES = (".pdf", *TEXT_SUFFIXES, *TEX_SUFFIXES, *ARCHIVE_SUFFIXES)
_DOCUMENT_CLASS = linear(r"^[^%\n]*\\document(?:class|style)(?:\W|\Z)", MULTILINE)
_MAIN_NAMES = ("main", "ms", "paper", "article", "manuscript", "root", "arxiv")
_FIRST_CHARACTERS = 200_000


def collect_manuscripts(
    paths: Sequence[Path],
    reasons: Mapping[str, str] | None = None,
    *,
    maximum_bytes: int = 40_000_000,
) -> tuple[ManuscriptSource, ...]:
    """Every manuscript at `paths`, in order, each once; of folders by name.

    A folder that holds one LaTeX paper is that paper; any other is a folder of manuscripts. A
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
    found = list(dict.fromkeys(place for path in paths for place in _manuscripts(path)))
    hashes = {place: _hash(place, maximum_bytes) for place in found}
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
                manuscript_id=shown, path=place, content_sha256=hashes[place], known_reason=known
            )
        )
    if given:
        raise ConfigurationError(
            f"--reasons names {next(iter(given))!r}, and no manuscript is called that; they are"
            f" {', '.join(names[:5])}"
        )
    repeated = [
        source.manuscript_id
        for source in sources
        if sum(other.manuscript_id == source.manuscript_id for other in sources) > 1
    ]
    return tuple(
        source
        for number, source in enumerate(sources)
        if source.manuscript_id not in repeated or _first(sources, number)
    )


def _first(sources: Sequence[ManuscriptSource], number: int) -> bool:
    """Of manuscripts with one name and one content, the first stands for all."""
    return all(source.manuscript_id != sources[number].manuscript_id for source in sources[:number])


def _manuscripts(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise ConfigurationError(
            f"{path} is not there: name a PDF, a text file, a LaTeX source, or a folder of them"
        )
    if not path.is_dir():
        if not path.name.lower().endswith(SUFFIXES):
            raise ConfigurationError(
                f"{path.name} is no manuscript: Assay reads {', '.join(SUFFIXES)}, and folders of"
                " LaTeX"
            )
        if not may_be_read(path.resolve()):
            raise ConfigurationError(
                f"{path} is a pipe, socket or device: copy its content into a file"
            )
        yield path.resolve()
        return
    inside = list(_inside(path))
    if not inside:
        raise ConfigurationError(
            f"the folder {path} holds no manuscript: Assay reads {', '.join(SUFFIXES)}, and folders"
            " of LaTeX"
        )
    yield from inside


def _inside(folder: Path) -> Iterator[Path]:
    if _is_latex_paper(folder):
        yield folder.resolve()
        return
    for each in sorted(folder.iterdir()):
        if each.name.startswith("."):
            continue
        if each.is_dir() and not each.is_symlink():
            yield from _inside(each)
        elif each.name.lower().endswith(SUFFIXES) and each.name.lower() not in (
            "readme.md",
            "readme.txt",
        ):
            yield folder.resolve() / each.name


def _is_latex_paper(folder: Path) -> bool:
    """Whether the folder's own LaTeX files are one paper: one that starts a document, or one with a
    usual name; or parts alone.
    """
    files = [
        each
        for each in folder.iterdir()
        if each.suffix.lower() in TEX_SUFFIXES and each.is_file() and not each.is_symlink()
    ]
    starts = [each for each in files if _DOCUMENT_CLASS.search(_start_of(each))]
    usual = any(each.stem.lower() in _MAIN_NAMES for each in starts)
    return bool(files) and (len(starts) <= 1 or usual)


def _start_of(file: Path) -> str:
    with file.open("rb") as stream:
        return stream.read(_FIRST_CHARACTERS).decode("utf-8", "replace")


def may_be_read(place: Path) -> bool:
    """Whether it is a file or folder itself: a link may lead anywhere, and a pipe is waited for for
    ever.
    """
    mode = place.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _name(place: Path) -> str:
    name = place.name
    for suffix in SUFFIXES:
        if place.is_file() and name.lower().endswith(suffix):
            return name[: -len(suffix)] or name
    return name


def _hash(place: Path, maximum_bytes: int) -> str:
    """Over the file, or a folder's LaTeX files; of what will not be read (too large, or no file),
    over its name.
    """
    try:
        if not may_be_read(place):
            return hashlib.sha256(f"no file: {place.name}".encode("utf-8", "replace")).hexdigest()
        content = latex_content(place, maximum_bytes)
    except OSError as error:
        raise ConfigurationError(f"{place} cannot be read: {error.strerror}") from error
    return hashlib.sha256(
        content if content is not None else f"too large: {place.name}".encode("utf-8", "replace")
    ).hexdigest()


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


class CheckJob(Shard):
    """Some manuscripts of one check run, for one worker."""

    request: CheckRequest
    sources: tuple[ManuscriptSource, ...]
    gateway_url: str | None = None  # None: nothing is looked up

    @property
    def unit_names(self) -> tuple[str, ...]:
        return tuple(source.manuscript_id for source in self.sources)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(source.path for source in self.sources)
