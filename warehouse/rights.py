"""Who may read what Assay writes: texts nobody has published, answers that were paid for, and
settings beside them.
"""

import os
import stat
from pathlib import Path

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
