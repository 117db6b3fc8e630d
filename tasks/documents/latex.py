"""LaTeX sources (arXiv e-prints, archives, folders, files), parsed in a limited child process."""

import asyncio
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from schemas.failure import SourceFailure
from schemas.reasons import Reason, reason_named
from schemas.settings import DocumentSettings
from schemas.text.plain_files import PlainFileError, files_below, open_file, read_file
from schemas.works.check_run import IncludedFile
from tasks.documents.child import EXIT_REFUSED, run_child, verdict
from tasks.documents.document import LatexSource, ParsedDocument
from tasks.documents.latex_source import (
    MAXIMUM_MEMBERS,
    LatexError,
    decode,
    follow_inclusions,
    is_latex,
)
from tasks.web.calls import failure

PARSER = "latex"
VERSION = 2
"""Part of the cache key; increased whenever the same source gives other sections."""

_MODULE = "tasks.documents.latex_text"
ReadT = TypeVar("ReadT", ParsedDocument, LatexSource)


async def read_latex(
    path: Path, settings: DocumentSettings, inclusions: Sequence[IncludedFile] = ()
) -> ParsedDocument | SourceFailure:
    """Parse the LaTeX source at `path`, or return the failure.

    `path` is a `.tex` file, a folder, or an archive (tar, tar.gz, gzip, zip). Only LaTeX files of
    the folder, or included from it, are read; links are not followed. Limited to `parse_seconds` of
    processor time and `parse_memory_bytes`.

    Args:
        inclusions: the files that `path` includes; empty: search for them.
    """
    return await _read_at(path, settings, ParsedDocument, inclusions)


async def read_latex_source(
    content: bytes, name: str, settings: DocumentSettings
) -> ParsedDocument | SourceFailure:
    """Parse a source in memory, such as an arXiv e-print; `name` is used in failures."""
    return await _read(content, name, settings, ParsedDocument, "")


async def read_latex_whole(
    path: Path, settings: DocumentSettings, inclusions: Sequence[IncludedFile] = ()
) -> LatexSource | SourceFailure:
    """Read the LaTeX of the paper at `path` as one text; arguments as for `read_latex`."""
    return await _read_at(path, settings, LatexSource, inclusions)


async def _read_at(
    path: Path,
    settings: DocumentSettings,
    kind: type[ReadT],
    inclusions: Sequence[IncludedFile],
) -> ReadT | SourceFailure:
    try:
        content = await asyncio.to_thread(latex_content, path, settings.maximum_bytes, inclusions)
    except LatexError as error:
        return failure(PARSER, path.name, error.reason, str(error))
    except PlainFileError as error:
        return failure(PARSER, path.name, error.reason, error.named)
    except FileNotFoundError:
        return failure(PARSER, path.name, Reason.NOT_FOUND, f"{path} is not there")
    except OSError as error:
        detail = f"{path} cannot be read ({error.strerror})"
        return failure(PARSER, path.name, Reason.UNREACHABLE, detail)
    main = path.name if path.is_file() else ""
    return await _read(content, path.name, settings, kind, main)


async def _read(
    content: bytes, name: str, settings: DocumentSettings, kind: type[ReadT], main: str
) -> ReadT | SourceFailure:
    output_kind = "source" if kind is LatexSource else "document"
    end = await run_child((_MODULE, output_kind, main), content, settings)
    if end.code == 0:
        try:
            return kind.model_validate_json(end.output)
        except ValidationError:
            return failure(PARSER, name, Reason.DAMAGED, "the reader's answer is cut off")
    if end.code != EXIT_REFUSED:
        return failure(PARSER, name, *verdict(end, settings, "the source"))
    reason_text, _, detail = end.errors.partition(" ")
    reason = reason_named(reason_text)
    if reason is None:
        return failure(PARSER, name, Reason.DAMAGED, "the reader refused it without a reason")
    return failure(PARSER, name, reason, detail)


def latex_content(path: Path, maximum_bytes: int, inclusions: Sequence[IncludedFile] = ()) -> bytes:
    """Return the file's bytes, or a tar of a folder's LaTeX files or of a file with inclusions.

    Args:
        inclusions: the files that `path` includes; empty: search for them.

    Raises:
        LatexError: more than `maximum_bytes`.
        PlainFileError: a link or too large.
        OSError: it cannot be read.
    """
    if path.is_dir() and not path.is_symlink():
        files = FolderFiles(path, maximum_bytes)
        members = [
            (name, each)
            for each in sorted(files_below(path, with_hidden=False))
            if (name := str(each.relative_to(path))) in files
        ]
    else:
        inclusions = inclusions or included_files(path, maximum_bytes)
        if not inclusions:
            return read_file(path, maximum_bytes)
        members = [(path.name, path), *((each.name, each.path) for each in inclusions)]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, file in members:
            content = read_file(file, maximum_bytes)
            member = tarfile.TarInfo(name)  # without times or owners: equal texts, equal hash
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
            if buffer.tell() > maximum_bytes:
                detail = f"the source exceeds {maximum_bytes:,} bytes"
                raise LatexError(Reason.TOO_LARGE, detail)
    return buffer.getvalue()


def included_files(path: Path, maximum_bytes: int) -> tuple[IncludedFile, ...]:
    """Return the files of its folder that a LaTeX file includes, and its bibliography.

    Raises:
        LatexError: they are too large.
    """
    if not is_latex(path.name):
        return ()
    files = FolderFiles(path.parent, maximum_bytes)
    names = follow_inclusions(files, path.name).reached[1:] if path.name in files else []
    bibliography = f"{path.stem}.bbl"
    if bibliography in files and bibliography not in names:
        names.append(bibliography)
    return tuple(IncludedFile(name=name, path=path.parent / name) for name in names)


class FolderFiles:
    """The LaTeX files of a folder by relative path, without hidden files and links.

    Each text is read on first use.
    """

    def __init__(self, folder: Path, maximum_bytes: int) -> None:
        self._folder, self._left = folder, maximum_bytes
        self._texts: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        if not is_latex(name):
            return False
        try:
            open_file(self._folder / name).close()
        except (PlainFileError, OSError, ValueError):  # not there, a link, too long a name
            return False
        return True

    def __getitem__(self, name: str) -> str:
        if name not in self._texts:
            try:
                content = read_file(self._folder / name, self._left)
            except PlainFileError as error:
                raise LatexError(error.reason, error.named) from error
            if len(self._texts) >= MAXIMUM_MEMBERS:
                raise LatexError(Reason.TOO_LARGE, "the included files are too many")
            self._left -= len(content)
            self._texts[name] = decode(content)
        return self._texts[name]
