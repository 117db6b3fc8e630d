"""A lake that outgrows one machine: its catalogue goes from an SQLite file to PostgreSQL, with
every snapshot; its files stay where they are.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb

from schemas.errors import ConfigurationError, PublicationError
from warehouse.catalogue.catalogue_file import has_catalogue
from warehouse.catalogue.connection import Connection, in_memory, restrict_files
from warehouse.catalogue.postgres import PostgresCatalogue, attach_postgres
from warehouse.catalogue.sqlite_file import refuse_foreign_journal
from warehouse.lake import one_line, open_writer
from warehouse.layout import Layout
from warehouse.statements import filled, quoted, statement

_INLINED = "ducklake_inlined_data_"


def move_catalogue(layout: Layout, catalogue_url: str) -> dict[str, int]:
    """Copy the catalogue into the database at `catalogue_url`, in one transaction, and set the file
    aside. A move that was cut short is made again, or finished.

    Returns:
        Rows by table of the catalogue.

    Raises:
        ConfigurationError: there is no SQLite catalogue, or the database holds another lake.
        PublicationError: the copy failed; nothing has changed.
        TransientError: a publisher is at work.
        UpstreamError: PostgreSQL cannot be reached.
    """
    catalogue = PostgresCatalogue.of(catalogue_url)
    if not has_catalogue(layout):
        moved = layout.moved_catalogue.exists()
        raise ConfigurationError(
            f"{layout.root} has no SQLite catalogue to move"
            + (f": it was moved before, to {layout.moved_catalogue.name}" if moved else "")
        )
    with open_writer(layout, None) as source:
        source.execute("call ducklake_flush_inlined_data('lake')")
        # Attaching it makes the tables of an empty lake, as this version of DuckLake wants them.
        with (
            open_writer(layout, catalogue, moves=True),
            _both(layout, catalogue) as connection,
        ):
            rows = _copy(connection, catalogue)
    layout.catalogue.rename(layout.moved_catalogue)
    return rows


@contextmanager
def _both(layout: Layout, catalogue: PostgresCatalogue) -> Iterator[Connection]:
    with in_memory("sqlite_scanner", "postgres_scanner") as connection:
        refuse_foreign_journal(layout.catalogue)
        connection.execute(
            f"attach {quoted(str(layout.catalogue.resolve()))} as source (type sqlite, read_only)"
        )
        attach_postgres(connection, catalogue, read_only=False)
        restrict_files(connection, None)
        yield connection


def _copy(connection: Connection, catalogue: PostgresCatalogue) -> dict[str, int]:
    names = [
        name
        for (name,) in connection.execute(statement("catalogue", "tables")).fetchall()
        if not name.startswith(_INLINED)
    ]
    if _snapshots(connection, "catalogue") == _snapshots(connection, "source"):
        return _counts(connection, "catalogue", names)
    if connection.execute("select 1 from catalogue.ducklake_table limit 1").fetchone():
        raise ConfigurationError(
            f"the database at {catalogue.title} holds a lake: name an empty one"
        )
    try:
        connection.execute("begin")
        for name in names:
            connection.execute(filled("catalogue", "delete_rows", table=name))
            connection.execute(filled("catalogue", "copy_rows", table=name))
        counts = _counts(connection, "catalogue", names)
        if counts != _counts(connection, "source", names):
            raise PublicationError(
                "the catalogue was not moved: its copy has other numbers of rows"
            )
        connection.execute("commit")
    except duckdb.Error as error:
        raise PublicationError(f"the catalogue was not moved: {one_line(error)}") from error
    return counts


def _snapshots(connection: Connection, database: str) -> list[tuple[object, ...]]:
    """Which tables there are and which snapshots: equal for copies of one lake alone."""
    return connection.execute(filled("catalogue", "identity", database=database)).fetchall()


def _counts(connection: Connection, database: str, names: list[str]) -> dict[str, int]:
    counted = (filled("catalogue", "count_rows", table=name, database=database) for name in names)
    return dict(connection.execute(" union all ".join(counted)).fetchall())
