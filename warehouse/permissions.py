"""File permissions of a process: its files may hold unpublished texts, paid replies and settings."""

import errno
import fcntl
import os
import stat
from pathlib import Path

from schemas.errors import ConfigurationError

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_GROUP_AND_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private(folder: Path) -> None:
    """Restrict new files of this process and its children to their user.

    Folders get mode 0700 and files 0600. The process's umask is set, not that of the shell, because
    DuckDB, SQLite and Prefect create files too. A folder that is open to its group is shared on
    purpose: the group keeps its permissions on new files, except that databases of DuckDB and
    SQLite are read-only for it. Existing files are not changed.
    """
    group_rights = stat.S_IMODE(folder.stat().st_mode) & stat.S_IRWXG if folder.is_dir() else 0
    os.umask(_GROUP_AND_OTHERS & ~group_rights)


def check_locks(folder: Path) -> None:
    """Fail where the file system of a folder has no locks, which SQLite, DuckDB and every run need.

    A folder that is missing or not writable passes: whatever writes there reports it.

    Raises:
        ConfigurationError: the file system refuses `flock` or POSIX locks.
    """
    probe = folder / f".lock-{os.getpid()}"
    try:
        with probe.open("w") as file:
            probe.unlink()
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS:
            raise ConfigurationError(
                f"the file system of {folder} has no locks ({error.strerror}): name a local"
                " folder in ASSAY_HOME and --warehouse"
            ) from error
