"""Write, audit, publish for anything that lands: validated first, then put into the lake in one transaction, or not at all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import duckdb
import pyarrow as pa

from schemas.base import Noun
from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.identifiers import RunId
from schemas.tables import TABLE
from warehouse.answers import Publication, ValidationReport
from warehouse.definitions import apply_definitions
from warehouse.lake import one_line, open_writer
from warehouse.layout import Layout
from warehouse.parquet import arrow_table
from warehouse.rows import Row, row_of
from warehouse.statements import table_statement


class Counted(Protocol):
    """A receipt, as far as it says how many rows its files hold, by table."""

    @property
    def rows(self) -> dict[str, int]: ...


@dataclass(frozen=True, slots=True)
class Unit:
    """What is published whole.

    Attributes:
        digest: over everything published except when it happened to end.
        published_digest: that of what the lake holds; None when it holds none. May refuse to go on by raising PublicationError.
        validate: holds the expectations against what landed.
        replace: puts the rows in, in place of the unit's earlier ones; gives the rows by table.
        held: the rows by table of what the lake holds already.
    """

    run_id: RunId
    digest: str
    published_digest: Callable[[duckdb.DuckDBPyConnection], str | None]
    validate: Callable[[], ValidationReport]
    replace: Callable[[duckdb.DuckDBPyConnection, ValidationReport], dict[str, int]]
    held: Callable[[duckdb.DuckDBPyConnection], dict[str, int]] = lambda _: {}


def publish_unit(
    layout: Layout, unit: Unit, *, catalogue_url: str | None, wait_seconds: float
) -> Publication:
    """Put the unit into the lake, whole or not at all; publishing what is there changes nothing.

    Raises:
        PublicationError: files do not hold what receipts say, or `published_digest` refused.
        TransientError: another publisher is still at work.
    """
    with open_writer(layout, catalogue_url=catalogue_url, wait_seconds=wait_seconds) as connection:
        with transaction(connection, unit.run_id):
            apply_definitions(connection)
        if unit.published_digest(connection) == unit.digest:
            return Publication(
                run_id=unit.run_id,
                published=True,
                unchanged=True,
                rows=unit.held(connection),
                validation=None,
            )
        validation = unit.validate()
        if not validation.passed:
            return Publication(
                run_id=unit.run_id, published=False, unchanged=False, rows={}, validation=validation
            )
        with transaction(connection, unit.run_id):
            rows = unit.replace(connection, validation)
    return Publication(
        run_id=unit.run_id, published=True, unchanged=False, rows=rows, validation=validation
    )


def counted_rows(
    connection: duckdb.DuckDBPyConnection,
    named: str,
    tables: Sequence[str],
    count: str,
    ids: Mapping[str, str],
    receipts: Sequence[Counted],
) -> dict[str, int]:
    """Rows of a unit by table, counted by the statement `count`.

    Raises:
        PublicationError: the receipts say another number.
    """
    rows = {}
    for name in tables:
        rows[name] = int(
            connection.execute(table_statement(count, table=name), dict(ids)).fetchall()[0][0]
        )
        expected = sum(receipt.rows.get(name, 0) for receipt in receipts)
        if rows[name] != expected:
            raise PublicationError(
                f"{named} was not published: its files hold {rows[name]} rows of {name}, its receipts say {expected}"
            )
    return rows


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> Iterator[None]:
    """Commits the block or leaves the lake as it was."""
    committed = False
    connection.execute("begin")
    try:
        yield
        connection.execute("commit")
        committed = True
    except duckdb.Error as error:
        raise PublicationError(f"run {run_id} was not published: {one_line(error)}") from error
    finally:
        if not committed:
            with suppress(duckdb.Error):
                connection.execute("rollback")


def insert(connection: duckdb.DuckDBPyConnection, table: Table, incoming: pa.Table) -> None:
    """The statement finds `incoming` by its name here: a registered view would keep every batch alive until the commit."""
    if len(incoming):
        connection.execute(table_statement("insert", table=table.name, source="incoming"))


def head_rows(table: Table, head: Noun, digest: str, known: Row | None = None) -> pa.Table:
    """The row of what is published whole, with `known` beside its fields."""
    published = {"landing_sha256": digest, "published_at": datetime.now(UTC)}
    return arrow_table(table, [row_of(table, head, {**(known or {}), **published})])


def validation_rows(validation: ValidationReport) -> pa.Table:
    """Rows of `validations`."""
    table = TABLE["validations"]
    return arrow_table(table, [row_of(table, row, {}) for row in validation.rows])
