"""Safe access to regular files in untrusted folders, without following links.

A link may lead to any file of the machine, and reading a pipe blocks. No component of a path may be
a link, and the file that is read is the one that was checked, even if it is replaced meanwhile.
A folder named by the user may be a link: callers resolve its path first.
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
    """A file that may not be read, such as a link.

    Attributes:
        reason: wrong_type or too_large.
        named: the message with the file's name instead of its path, for rows.
    """

    def __init__(self, message: str, named: str = "", reason: Reason = Reason.WRONG_TYPE) -> None:
        super().__init__(message, named, reason)
        self.named, self.reason = named or message, reason

    def __str__(self) -> str:
        return str(self.args[0])


def open_file(path: Path) -> BinaryIO:
    """Open a regular file without following a link.

    Args:
        path: absolute, with the user's part resolved.

    Raises:
        PlainFileError: a component is a link, or the file is not a regular one.
        OSError: the file cannot be opened.
    """
    folder = _open_folder(path, path.parts[1:-1])
    try:
        # Check before opening: opening a device can have side effects.
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
    """Remove files of a folder without following links; missing files are ignored.

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
        content = file.read(most_bytes + 1)  # the size of a special file may be wrong
    if len(content) > most_bytes:
        raise _refused(path, f"has more than {most_bytes:,} bytes", Reason.TOO_LARGE)
    return content


def files_below(
    folder: Path, most_files: int = MOST_FILES, *, with_hidden: bool = True
) -> Iterator[Path]:
    """Yield all files below `folder`, including links, which are not followed.

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
    """Check that a file is a regular one, and not a hard link to another user's file.

    Args:
        owner: of the file's folder.

    Raises:
        PlainFileError: the check fails.
    """
    if stat.S_ISLNK(file.st_mode):
        raise _refused(path, "is a link: put the file itself there")
    if not stat.S_ISREG(file.st_mode):
        kind = "folder" if stat.S_ISDIR(file.st_mode) else "pipe, socket or device"
        raise _refused(path, f"is a {kind}: put a file there")
    # The owner of a folder can create a hard link to another user's file in it.
    if file.st_nlink > 1 and file.st_uid != owner:
        raise _refused(path, "is another name of a file of another owner: put a copy there")


def _open_folder(path: Path, parts: Sequence[str]) -> int:
    """Open the folder at the first `parts` of a path."""
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
