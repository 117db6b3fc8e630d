"""Who may read what Assay writes: texts nobody has published, answers that were paid for, and
settings beside them.
"""

import errno
import fcntl
import os
import stat
from pathlib import Path

from schemas.errors import ConfigurationError

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_private(folder: Path) -> None:
    """Let all that this process and its children write from now on be their user's alone: folders
    0700, files 0600.

    It goes by the process's mask and not by that of the shell, since DuckDB, SQLite and Prefect
    make files of their own.
    A folder that is there and open to its group is shared with it on purpose: its group keeps the
        rights it has there on
    what is new as well, except that databases of DuckDB and SQLite let it read only. What is there
    already is not changed.
    """
    shared = stat.S_IMODE(folder.stat().st_mode) & stat.S_IRWXG if folder.is_dir() else 0
    os.umask(_OTHERS & ~shared)


def check_locks(folder: Path) -> None:
    """Fail where the file system of a folder has no locks, which SQLite, DuckDB and every run need.

    Raises:
        ConfigurationError: it refuses `flock` or POSIX locks.
        OSError: nothing can be written to the folder.
    """
    probe = folder / f".lock-{os.getpid()}"
    with probe.open("w") as file:
        probe.unlink()
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                raise ConfigurationError(
                    f"the file system of {folder} has no locks ({error.strerror}): name a local"
                    " folder in ASSAY_HOME and --warehouse"
                ) from error
