"""Faults of a machine in every Python process below: Python imports this file by its name.

MACHINE_FAULTS names them, separated by commas. Imports nothing of this project.
"""

import errno
import os
import time
from typing import Any, NoReturn

FAULTS = os.environ.get("MACHINE_FAULTS", "").split(",")


def refuse(code: int) -> Any:
    """A system call that always fails."""

    def call(*_: Any, **__: Any) -> NoReturn:
        raise OSError(code, os.strerror(code))

    return call


if "no_flock" in FAULTS or "no_posix_locks" in FAULTS:
    import fcntl

    if "no_flock" in FAULTS:
        fcntl.flock = refuse(errno.ENOSYS)
    else:
        fcntl.lockf = refuse(errno.ENOLCK)
if "slow_fsync" in FAULTS:
    real_fsync = os.fsync

    def slow_fsync(file: int) -> None:
        time.sleep(0.2)
        real_fsync(file)

    os.fsync = slow_fsync
if "full_disk" in FAULTS:
    os.fsync = refuse(errno.ENOSPC)
if "read_only_home" in FAULTS:
    home, real_mkdir = os.environ["ASSAY_HOME"], os.mkdir

    def mkdir(path: Any, *arguments: Any, **options: Any) -> None:
        if os.fspath(path).startswith(home):
            refuse(errno.EROFS)()
        real_mkdir(path, *arguments, **options)

    os.mkdir = mkdir
if "no_affinity" in FAULTS:
    del os.sched_getaffinity
if "no_limits" in FAULTS:
    import resource

    def refuse_limit(*_: Any) -> NoReturn:
        raise ValueError("current limit exceeds maximum limit")  # as macOS has it

    resource.setrlimit = refuse_limit
