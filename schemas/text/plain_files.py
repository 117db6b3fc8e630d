"""Files of folders that others made: regular files inside the folder, no links.

A link may lead to any file of the machine, and a pipe is waited for without end. No part of a path
is followed that is a link, and what is read is the file that was looked at, whatever is put in its
place meanwhile. A folder that the user names may itself be a link: its path is resolved first.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from schemas.errors import ConfigurationError
from schemas.reasons import Reason

MOST_FILES = 250_000
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


class PlainFileError(ConfigurationError):
    """A file of a folder that is not read, such as a link.

    Attributes:
        reason: wrong_type or too_large.
        named: the message with the name of the file in place of its path, for rows.
    """

    def __init__(self, message: str, named: str = "", reason: Reason = Reason.WRONG_TYPE) -> None:
        super().__init__(message, named, reason)
        self.named, self.reason = named or message, reason

    def __str__(self) -> str:
        return str(self.args[0])


def open_file(path: Path) -> BinaryIO:
    """Open a regular file without following a link.

    Args:
        path: absolute, and resolved as far as the user named it.

    Raises:
        PlainFileError: a part of the path is a link, or its end is no regular file.
        OSError: it cannot be opened.
    """
    folder = _open_folder(path, path.parts[1:-1])
    try:
        # Looked at before it is opened: opening a device can act on it.
        owner = os.fstat(folder).st_uid
        check_kind(path, os.stat(path.name, dir_fd=folder, follow_symlinks=False), owner)
        descriptor = os.open(path.name, _FILE, dir_fd=folder)
        try:
            check_kind(path, os.fstat(descriptor), owner)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    finally:
        os.close(folder)


def remove_files(folder: Path, names: Iterable[str]) -> None:
    """Remove files of a folder without following a link to it; those that are gone stay so.

    Args:
        folder: as the path of `open_file`.

    Raises:
        PlainFileError: a part of the path is a link.
        OSError: one cannot be removed.
    """
    descriptor = _open_folder(folder, folder.parts[1:])
    try:
        for name in names:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def read_file(path: Path, most_bytes: int) -> bytes:
    """Return the bytes of a file, opened as by `open_file`.

    Raises:
        PlainFileError: as `open_file`, or it has more than `most_bytes`.
        OSError: it cannot be read.
    """
    with open_file(path) as file:
        content = file.read(most_bytes + 1)  # its size may not say how much comes
    if len(content) > most_bytes:
        raise _refused(path, f"has more than {most_bytes:,} bytes", Reason.TOO_LARGE)
    return content


def files_below(
    folder: Path, most_files: int = MOST_FILES, *, with_hidden: bool = True
) -> Iterator[Path]:
    """Yield what lies below `folder` and is no folder; links are listed, not followed.

    Raises:
        PlainFileError: more than `most_files`.
    """
    waiting, count = [folder], 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name.startswith(".") and not with_hidden:
                    continue
                count += 1
                if count > most_files:
                    raise _refused(
                        folder, f"holds more than {most_files:,} files", Reason.TOO_LARGE
                    )
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(Path(entry.path))
                else:
                    yield Path(entry.path)


def check_kind(path: Path, file: os.stat_result, owner: int) -> None:
    """Refuse what is no regular file, or may be another user's.

    Args:
        owner: of the folder that the file is in.

    Raises:
        PlainFileError: it is a link, a folder, a pipe, a socket or a device, or another name of a
            file of another owner.
    """
    if stat.S_ISLNK(file.st_mode):
        raise _refused(path, "is a link: put the file itself there")
    if not stat.S_ISREG(file.st_mode):
        kind = "folder" if stat.S_ISDIR(file.st_mode) else "pipe, socket or device"
        raise _refused(path, f"is a {kind}: put a file there")
    # Who owns a folder can put a name of another user's file into it.
    if file.st_nlink > 1 and file.st_uid != owner:
        raise _refused(path, "is another name of a file of another owner: put a copy there")


def _open_folder(path: Path, parts: Sequence[str]) -> int:
    """A descriptor of the folder that the first `parts` of a path lead to."""
    if not path.is_absolute():
        raise ValueError(f"{path} is not absolute")
    folder = os.open(path.anchor, _FOLDER)
    try:
        for part in parts:
            if part == "..":
                raise _refused(path, "leads out of its folder: name it without ..")
            if _is_link(part, folder):
                raise _refused(path, f"is behind the link {part}: put a copy of its folder there")
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
    except BaseException:
        os.close(folder)
        raise
    return folder


def _is_link(name: str, folder: int) -> bool:
    return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)


def _refused(path: Path, what: str, reason: Reason = Reason.WRONG_TYPE) -> PlainFileError:
    return PlainFileError(f"{path} {what}", f"{path.name} {what}", reason)
