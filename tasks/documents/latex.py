"""LaTeX sources of papers, read in a child process with limits: arXiv e-prints, archives, folders,
single files.
"""

import asyncio
import io
import tarfile
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from schemas.failure import SourceFailure
from schemas.reasons import Reason, reason_named
from schemas.settings import DocumentSettings
from tasks.documents.child import EXIT_REFUSED, run_child, verdict
from tasks.documents.document import LatexSource, ParsedDocument
from tasks.web.calls import failure

PARSER = "latex"
VERSION = 1
"""Raised whenever the same source would give other sections: it is part of the cache key."""

_MODULE = "tasks.documents.latex_text"
ReadT = TypeVar("ReadT", ParsedDocument, LatexSource)
_SUFFIXES = frozenset({".tex", ".ltx", ".latex", ".bbl"})


async def read_latex(path: Path, settings: DocumentSettings) -> ParsedDocument | SourceFailure:
    """Headed sections of the LaTeX source at `path`, or why it cannot be read.

    `path` is a `.tex` file, a folder, or an archive (tar, tar.gz, gzip, zip). Of a folder only its
    own LaTeX files are read; links are not followed. Costs at most `parse_seconds` of processor
    time and `parse_memory_bytes`.
    """
    return await _read_at(path, settings, ParsedDocument)


async def read_latex_source(
    content: bytes, name: str, settings: DocumentSettings
) -> ParsedDocument | SourceFailure:
    """The same for a source in memory, such as an arXiv e-print. `name` stands in the failure."""
    return await _read(content, name, settings, ParsedDocument)


async def read_latex_whole(path: Path, settings: DocumentSettings) -> LatexSource | SourceFailure:
    """The LaTeX of the paper at `path` as one text, or why it cannot be read; `path` and limits as
    for `read_latex`.
    """
    return await _read_at(path, settings, LatexSource)


async def _read_at(
    path: Path, settings: DocumentSettings, kind: type[ReadT]
) -> ReadT | SourceFailure:
    try:
        content = await asyncio.to_thread(latex_content, path, settings.maximum_bytes)
    except FileNotFoundError:
        return failure(PARSER, path.name, Reason.NOT_FOUND, f"{path} is not there")
    except OSError as error:
        detail = f"{path} cannot be read ({error.strerror})"
        return failure(PARSER, path.name, Reason.UNREACHABLE, detail)
    if content is None:
        detail = f"the source exceeds {settings.maximum_bytes:,} bytes"
        return failure(PARSER, path.name, Reason.TOO_LARGE, detail)
    return await _read(content, path.name, settings, kind)


async def _read(
    content: bytes, name: str, settings: DocumentSettings, kind: type[ReadT]
) -> ReadT | SourceFailure:
    cpu_seconds = max(int(settings.parse_seconds), 1)
    wanted: tuple[str, ...] = ("source",) if kind is LatexSource else ()
    ended = await run_child(
        ("-B", "-m", _MODULE, str(cpu_seconds), str(settings.parse_memory_bytes), *wanted),
        content,
        cpu_seconds,
    )
    if ended.code == 0:
        try:
            return kind.model_validate_json(ended.output)
        except ValidationError:
            return failure(PARSER, name, Reason.DAMAGED, "the reader's answer is cut off")
    if ended.code == EXIT_REFUSED:
        reason, _, detail = ended.errors.partition(" ")
        known = reason_named(reason)
        if known is None:
            return failure(PARSER, name, Reason.DAMAGED, "the reader refused it without a reason")
        return failure(PARSER, name, known, detail)
    return failure(PARSER, name, *verdict(ended, settings, "the source"))


def latex_content(path: Path, maximum_bytes: int) -> bytes | None:
    """The file's bytes, or a folder's LaTeX files as a tar; None beyond `maximum_bytes`."""
    if not path.is_dir():
        return path.read_bytes() if path.stat().st_size <= maximum_bytes else None
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for each in sorted(path.rglob("*")):
            if (
                each.suffix.lower() in _SUFFIXES
                and each.is_file()
                and not _behind_a_link(each, path)
            ):
                archive.add(each, arcname=str(each.relative_to(path)), recursive=False)
                if packed.tell() > maximum_bytes:
                    return None
    return packed.getvalue()


def _behind_a_link(path: Path, folder: Path) -> bool:
    return any(
        each.is_symlink()
        for each in (path, *path.parents)
        if each != folder and folder in each.parents
    )
