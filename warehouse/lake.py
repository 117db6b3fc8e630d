"""The lake: DuckLake tables over Parquet, a catalogue in SQLite or PostgreSQL, one writer and any
number of readers.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from schemas.columns import Table
from schemas.errors import (
    ConfigurationError,
    PublicationError,
    UnknownNameError,
    UpstreamError,
)
from warehouse.definitions import show_as_defined
from warehouse.layout import Layout
from warehouse.publisher_lock import publisher_lock
from warehouse.statements import quoted, table_statement

if TYPE_CHECKING:  # questions in SQL do without it
    import pyarrow as pa

_CONFIGURED: dict[str, str | bool | int | float | list[str]] = {
    # The two extensions come from installed wheels, as DuckDB itself does. Holding their 70 MB
    # against a signature took 0.3 CPU-seconds each time a lake was opened.
    "allow_unsigned_extensions": "true",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "python_enable_replacements": "false",
}
_BUSY_MILLISECONDS = 30_000


@contextmanager
def open_writer(
    layout: Layout, *, catalogue_url: str | None = None, wait_seconds: float = 60.0
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that may change the lake, which it creates when there is none; the lake is the
    default schema.

    Args:
        catalogue_url: a PostgreSQL connection string; None: an SQLite file in the warehouse.
        wait_seconds: how long to wait for another publisher to finish.

    Raises:
        TransientError: another publisher is still at work.
        ConfigurationError: the catalogue cannot be opened.
    """
    layout.data.mkdir(parents=True, exist_ok=True)
    with (
        publisher_lock(layout.publisher_lock, wait_seconds),
        _attached(layout, catalogue_url, read_only=False) as connection,
    ):
        yield connection


@contextmanager
def open_reader(
    layout: Layout, *, catalogue_url: str | None = None, as_defined: bool = True
) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that reads whole snapshots, also while the publisher writes; the lake is the
    default schema.

    Args:
        as_defined: whether tables, columns and marts that an earlier version did not have are
            shown, empty.

    Raises:
        UnknownNameError: there is no lake.
        ConfigurationError: its catalogue cannot be opened.
    """
    if catalogue_url is None and not layout.catalogue.exists():
        raise UnknownNameError(
            f"no lake in {layout.root}: publish a run first (`assay evaluate … --warehouse"
            f" {layout.root}`)"
        )
    with _attached(layout, catalogue_url, read_only=True) as connection:
        if as_defined:
            show_as_defined(connection)
        yield connection


def lake_tables(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """Names of the tables that the lake itself holds; of an earlier version fewer than are defined
    now.
    """
    return frozenset(
        name
        for (name,) in connection.execute(
            "select table_name from duckdb_tables() where database_name = 'lake'"
        ).fetchall()
    )


@contextmanager
def in_memory(memory_limit: str = "1GB") -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection without a lake, for reading landed files."""
    connection = duckdb.connect(config=_CONFIGURED | {"memory_limit": memory_limit})
    try:
        connection.execute("set timezone = 'UTC'")
        yield connection
    finally:
        connection.close()


@contextmanager
def _attached(
    layout: Layout, catalogue_url: str | None, *, read_only: bool
) -> Iterator[duckdb.DuckDBPyConnection]:
    with in_memory() as connection:
        scanner = "sqlite_scanner" if catalogue_url is None else "postgres_scanner"
        for extension in (scanner, "ducklake"):
            connection.execute(f"load {quoted(str(extension_path(extension)))}")
        options = [
            f"data_path {quoted(str(layout.data.resolve()) + '/')}",
            "override_data_path true",
        ]
        options += [f"meta_busy_timeout {_BUSY_MILLISECONDS}"] if catalogue_url is None else []
        options += ["read_only"] if read_only else []
        try:
            connection.execute(
                f"attach {quoted(_source(layout, catalogue_url))} as lake ({', '.join(options)})"
            )
        except duckdb.Error as error:
            raise _opening_error(layout, catalogue_url, error) from None
        connection.execute("use lake")
        connection.execute(f"set python_enable_replacements = {not read_only}")
        yield connection


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


def _source(layout: Layout, catalogue_url: str | None) -> str:
    if catalogue_url is None:
        return f"ducklake:sqlite:{layout.catalogue.resolve()}"
    if catalogue_url.startswith(("postgres://", "postgresql://")):
        return f"ducklake:postgres:{catalogue_url}"
    if catalogue_url.startswith("postgres:"):
        return f"ducklake:{catalogue_url}"
    raise ConfigurationError(
        "the catalogue's connection string must start with postgres: or postgresql://"
    )


def _opening_error(
    layout: Layout, catalogue_url: str | None, error: duckdb.Error
) -> ConfigurationError | UpstreamError:
    """One line without the connection string, which may hold a password."""
    if catalogue_url is not None:
        return UpstreamError(
            "the lake's PostgreSQL catalogue cannot be opened: check host, database, user and"
            " password of ASSAY_CATALOGUE_URL"
        )
    return ConfigurationError(
        f"the lake's catalogue {layout.catalogue} cannot be opened: {one_line(error)}"
    )


_CANDIDATES = ("Did you mean", "Candidate bindings")


def one_line(error: duckdb.Error) -> str:
    """What DuckDB says went wrong, in one line."""
    return in_one_line(str(error))


def in_one_line(message: str, limit: int = 300) -> str:
    """The first line of DuckDB's message, and the names it offers in place of one
    it has not found.
    """
    first, *more = message.strip().splitlines()
    offered = next((line for line in more if line.startswith(_CANDIDATES)), "")
    return f"{first} {offered}".strip()[:limit]


def rows_in(
    connection: duckdb.DuckDBPyConnection,
    sql: str,
    parameters: Mapping[str, object] | None = None,
) -> list[dict[str, Any]]:
    """What a statement gives, a dict a row."""
    result = connection.execute(sql, dict(parameters or {}))
    columns = [column[0] for column in result.description or []]
    return [dict(zip(columns, values, strict=True)) for values in result.fetchall()]


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection, title: str) -> Iterator[None]:
    """Commits the block or leaves the lake as it was."""
    committed = False
    connection.execute("begin")
    try:
        yield
        connection.execute("commit")
        committed = True
    except duckdb.Error as error:
        raise PublicationError(f"{title} was not published: {one_line(error)}") from error
    finally:
        if not committed:
            with suppress(duckdb.Error):
                connection.execute("rollback")


def insert(connection: duckdb.DuckDBPyConnection, table: Table, incoming: "pa.Table") -> None:
    """Insert `incoming`, which the statement finds by its name here.

    A registered view would keep every batch alive until the commit.
    """
    if len(incoming):
        connection.execute(table_statement("insert", table=table.name, source="incoming"))
