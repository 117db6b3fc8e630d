"""DuckDB connections with extensions from installed wheels."""

import importlib.util
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

import duckdb

from schemas.errors import ConfigurationError
from warehouse.statements import quoted

Connection: TypeAlias = duckdb.DuckDBPyConnection
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    # The extensions come from installed wheels, as DuckDB itself does. Checking the
    # signature of their 70 MB took 0.3 CPU-seconds per opened lake.
    "allow_unsigned_extensions": "true",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
    # On few rows a second thread spins: publishing a few ideas took twice the CPU time with two
    # threads, and as long. `share_out` enables more.
    "threads": "1",
    "memory_limit": "1GB",
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
"""DuckDB optimizers that skip rows or shorten values by statistics."""


@contextmanager
def in_memory(*extensions: str) -> Iterator[Connection]:
    """Yield a connection without a lake, with `extensions` loaded."""
    connection = duckdb.connect(config=_CONFIGURATION)
    try:
        connection.execute("set timezone = 'UTC'")
        # Longer queries would draw progress on stdout, where `--json` writes.
        connection.execute("set enable_progress_bar = false")
        for extension in extensions:
            load_extension(connection, extension)
        yield connection
    finally:
        connection.close()


def share_out(connection: Connection, rows: int) -> None:
    """Use all processors if there are enough rows for more than one."""
    if rows > _MANY_ROWS:
        connection.execute("reset threads")


@contextmanager
def read_every_row(connection: Connection) -> Iterator[None]:
    """Make statements in the block read every row, regardless of statistics."""
    ((previous,),) = connection.execute("select current_setting('disabled_optimizers')").fetchall()
    connection.execute(f"set disabled_optimizers = {quoted(','.join(_BY_STATISTICS))}")
    try:
        yield
    finally:
        # A failed transaction refuses this; later queries then read more rows than needed.
        with suppress(duckdb.Error):
            connection.execute(f"set disabled_optimizers = {quoted(previous)}")


def restrict_files(
    connection: Connection, folder: str | None, files: Collection[Path] = ()
) -> None:
    """Limit a connection permanently to the files below a folder or address, and `files`.

    Load extensions, attach databases and create the first secret before. DuckDB still spills to its
    temporary folder. Functions of the SQLite and PostgreSQL extensions, such as `sqlite_scan`,
    bypass this limit.
    """
    if folder is not None:
        connection.execute(f"set allowed_directories = [{quoted(folder)}]")
    if files:
        connection.execute(
            f"set allowed_paths = [{', '.join(quoted(str(path)) for path in files)}]"
        )
    # DuckDB allows no change of this or of the two lists afterwards.
    connection.execute("set enable_external_access = false")


def load_extension(connection: Connection, name: str) -> None:
    """Load an extension. Raises ConfigurationError if it is not installed."""
    connection.execute(f"load {quoted(str(extension_path(name)))}")


def extension_path(name: str) -> Path:
    """Return the extension's file inside its wheel.

    Loading it from there needs no installation, download or home folder.

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
