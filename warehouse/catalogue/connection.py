"""DuckDB as every part opens it, with extensions that come from installed wheels."""

import importlib.util
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import duckdb

from schemas.errors import ConfigurationError
from warehouse.statements import quoted

Connection: TypeAlias = duckdb.DuckDBPyConnection
_CONFIGURED: dict[str, str | bool | int | float | list[str]] = {
    # The extensions come from installed wheels, as DuckDB itself does. Holding their 70 MB
    # against a signature took 0.3 CPU-seconds each time a lake was opened.
    "allow_unsigned_extensions": "true",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # Over few rows a second thread has nothing to do and spins: publishing a few ideas took twice
    # the processor time with two, and no less time. `share_out` lets more of them work.
    "threads": "1",
}
_MANY_ROWS = 100_000
_BY_STATISTICS = (
    "compressed_materialization",
    "filter_pushdown",
    "join_filter_pushdown",
    "late_materialization",
    "row_group_pruner",
    "statistics_propagation",
    "top_n",
)
"""The optimizers of DuckDB that leave rows out, or shorten values, by what statistics say."""


@contextmanager
def in_memory(*extensions: str, memory_limit: str = "1GB") -> Iterator[Connection]:
    """A connection without a lake, for reading landed files or with `extensions` loaded."""
    connection = duckdb.connect(config=_CONFIGURED | {"memory_limit": memory_limit})
    try:
        connection.execute("set timezone = 'UTC'")
        # A query of two seconds would draw its progress on stdout, where `--json` answers.
        connection.execute("set enable_progress_bar = false")
        for extension in extensions:
            load_extension(connection, extension)
        yield connection
    finally:
        connection.close()


def share_out(connection: Connection, rows: int) -> None:
    """Let all processors work where there are rows enough for more than one."""
    if rows > _MANY_ROWS:
        connection.execute("reset threads")


@contextmanager
def every_row_read(connection: Connection) -> Iterator[None]:
    """Statements that begin meanwhile read every row of their tables, whatever the statistics of
    the catalogue or of a file say that it holds.
    """
    ((before,),) = connection.execute("select current_setting('disabled_optimizers')").fetchall()
    connection.execute(f"set disabled_optimizers = {quoted(','.join(_BY_STATISTICS))}")
    try:
        yield
    finally:
        # A transaction that an error ended refuses it; more rows than needed are read from then on.
        with suppress(duckdb.Error):
            connection.execute(f"set disabled_optimizers = {quoted(before)}")


def restrict_files(
    connection: Connection, folder: str | None, files: Collection[Path] = ()
) -> None:
    """Bound a connection for good to the files below a folder or address, and to `files`.

    Extensions must be loaded, databases attached and the first secret created before. DuckDB still
    spills to its temporary folder. Functions of the extensions for SQLite and PostgreSQL, such as
    `sqlite_scan`, open other databases in spite of this bound.
    """
    if folder is not None:
        connection.execute(f"set allowed_directories = [{quoted(folder)}]")
    if files:
        connection.execute(
            f"set allowed_paths = [{', '.join(quoted(str(path)) for path in files)}]"
        )
    # DuckDB refuses to take this back, or to change the two lists after it.
    connection.execute("set enable_external_access = false")


def load_extension(connection: Connection, name: str) -> None:
    """Raises ConfigurationError when it is not installed."""
    connection.execute(f"load {quoted(str(extension_path(name)))}")


def extension_path(name: str) -> Path:
    """The extension's file inside its wheel: loaded from there, so nothing is installed, downloaded
    or written to a home folder.

    Raises:
        ConfigurationError: the wheel is missing or belongs to another version of DuckDB.
    """
    spec = importlib.util.find_spec(f"duckdb_extension_{name}")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "extensions" / f"v{duckdb.__version__}" / f"{name}.duckdb_extension"
        if path.exists():
            return path
    wheel = f"duckdb-extension-{name.replace('_', '-')}=={duckdb.__version__}"
    raise ConfigurationError(f"DuckDB's extension {name} is not installed: `pip install {wheel}`")
