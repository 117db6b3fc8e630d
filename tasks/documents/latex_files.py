"""The files of a LaTeX source, whatever it came in: arXiv e-print (tar, gzip), zip or a single
file.

Nothing is written to disk, so no name in an archive can lead anywhere, and a link in it leads
nowhere at all.
"""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import PurePosixPath
from typing import IO, cast

from schemas.reasons import Reason

MAXIMUM_MEMBERS = 5_000
MAXIMUM_UNPACKED_BYTES = 300_000_000
"""Over everything in the archive: figures count too, for they are unpacked to be skipped."""

MAXIMUM_TEXT_BYTES = 20_000_000
_LATEX_SUFFIXES = frozenset({".tex", ".ltx", ".latex", ".bbl"})
_TEXT_SUFFIXES = _LATEX_SUFFIXES | {".txt", ""}
_PDF_WITHIN_BYTES = 1024


class LatexError(ValueError):
    """The source cannot be read."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class _Bounded(io.RawIOBase):
    """A stream that refuses to give more than it may: a bomb is never unpacked to its end."""

    def __init__(self, stream: io.BufferedIOBase | gzip.GzipFile) -> None:
        self._stream = stream
        self._left = MAXIMUM_UNPACKED_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview[int]") -> int:  # type: ignore[override]
        content = self._stream.read(len(buffer))
        self._left -= len(content)
        if self._left < 0:
            raise LatexError(
                Reason.TOO_LARGE,
                f"the archive unpacks to more than {MAXIMUM_UNPACKED_BYTES:,} bytes",
            )
        buffer[: len(content)] = content
        return len(content)


def read_files(content: bytes) -> dict[str, str]:
    """Text files by their path in the source; a single file is called `main.tex`.

    Raises:
        LatexError: no LaTeX source, damaged, or larger than the limits allow.
    """
    if b"%PDF-" in content[:_PDF_WITHIN_BYTES]:
        raise LatexError(Reason.NOT_LATEX, "the source is a PDF")
    try:
        files = _zip_files(content) if content[:4] == b"PK\x03\x04" else _stream_files(content)
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        zlib.error,
        gzip.BadGzipFile,
        EOFError,
        NotImplementedError,
        OSError,
    ) as error:
        raise LatexError(
            Reason.DAMAGED, f"the archive cannot be read ({type(error).__name__})"
        ) from error
    except RuntimeError as error:
        raise LatexError(Reason.ENCRYPTED, "the archive needs a password") from error
    if not files:
        raise LatexError(Reason.NOT_LATEX, "the source holds no text files")
    return files


def _stream_files(content: bytes) -> dict[str, str]:
    """A tar or a single file, packed with gzip or not."""
    packed = content[:2] == b"\x1f\x8b"
    bounded = io.BufferedReader(
        _Bounded(gzip.GzipFile(fileobj=io.BytesIO(content)) if packed else io.BytesIO(content)),
        1 << 16,
    )
    head = bounded.peek(512)
    if head[257:262] == b"ustar" or _old_tar(head):
        return _tar_files(cast(IO[bytes], bounded))
    text = bounded.read(MAXIMUM_TEXT_BYTES + 1)
    if len(text) > MAXIMUM_TEXT_BYTES:
        raise LatexError(Reason.TOO_LARGE, f"the file exceeds {MAXIMUM_TEXT_BYTES:,} bytes")
    if b"\x00" in text[:4096] or b"\\" not in text:
        raise LatexError(Reason.NOT_LATEX, "the file is no LaTeX")
    return {"main.tex": decoded(text)}


def _old_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head[:512], "utf-8", "replace")
    except tarfile.HeaderError:
        return False
    return len(head) >= 512


def _tar_files(stream: IO[bytes]) -> dict[str, str]:
    with tarfile.open(fileobj=stream, mode="r|") as archive:
        return _texts(
            (member.name if member.isreg() else "", partial(archive.extractfile, member))
            for member in archive
        )


def _zip_files(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return _texts(
            ("" if member.is_dir() else member.filename, partial(archive.open, member))
            for member in archive.infolist()
        )


def _texts(members: Iterable[tuple[str, Callable[[], IO[bytes] | None]]]) -> dict[str, str]:
    """The text files among the members of an archive, each its name and how to open it."""
    files: dict[str, str] = {}
    left = MAXIMUM_TEXT_BYTES
    for count, (given, opened) in enumerate(members):
        if count >= MAXIMUM_MEMBERS:
            raise LatexError(
                Reason.TOO_LARGE, f"the archive holds more than {MAXIMUM_MEMBERS:,} files"
            )
        name = inner_name(given)
        if name is None or not is_text(name):
            continue
        stream = opened()
        text = stream.read(left + 1) if stream is not None else b""
        left -= len(text)
        if left < 0:
            raise LatexError(
                Reason.TOO_LARGE, f"the texts of the archive exceed {MAXIMUM_TEXT_BYTES:,} bytes"
            )
        files[name] = decoded(text)
    return files


def inner_name(name: str) -> str | None:
    """The path inside the archive in one spelling (`./a//b.tex` → `a/b.tex`); None for a path that
    leads out of it.
    """
    path = PurePosixPath(name.replace("\\", "/"))
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return None if path.is_absolute() or not parts or "\x00" in name else "/".join(parts)


def is_text(name: str) -> bool:
    """Whether a file of that name in an archive is read: LaTeX, its bibliography, or text without
    a suffix.
    """
    return PurePosixPath(name).suffix.lower() in _TEXT_SUFFIXES and not _is_hidden(name)


def is_latex(name: str) -> bool:
    """Whether a file of that name in a folder is read: LaTeX or its bibliography.

    A folder may hold files of any kind, such as notes and keys, which an archive of a paper's
    source does not.
    """
    return PurePosixPath(name).suffix.lower() in _LATEX_SUFFIXES and not _is_hidden(name)


def _is_hidden(name: str) -> bool:
    """Whether the file, or a folder that it is in, is hidden."""
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


def decoded(content: bytes) -> str:
    """The text in UTF-8, or else in Latin-1."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
