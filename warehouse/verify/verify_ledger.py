"""Read-only verification of the ledger and of the records behind it."""

from collections.abc import Collection, Iterator
from typing import Any

import duckdb
from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError, PublicationError
from schemas.people.ledger import LedgerHead
from schemas.tables import TABLE
from warehouse.catalogue.connection import Connection, read_every_row
from warehouse.kinds.registry import KINDS
from warehouse.lake import one_line, rows_in
from warehouse.ledger import breaks, has_row, head_of, rows_of_chain
from warehouse.statements import statement
from warehouse.units.kind import Kind
from warehouse.units.ledger_entries import changed_parts
from warehouse.verify.verify_records import MOST_LINES, recorded_problems
from warehouse.warehouse import Warehouse


class LedgerReport(Noun):
    """Result of a verification of the ledger. Sound: no problems."""

    head: LedgerHead
    problems: tuple[str, ...] = Field(description="One line each: what is wrong.")
    notices: tuple[str, ...] = Field(description="What is not wrong but worth knowing.")

    @property
    def sound(self) -> bool:
        return not self.problems


def verify_ledger(warehouse: Warehouse, *, heads: Collection[str] = ()) -> LedgerReport:
    """Verify the hash chain, and that published works and records match it.

    Args:
        heads: hashes recorded elsewhere, such as in a nightly report.

    Raises:
        UnknownNameError: there is no lake.
        ConfigurationError: its catalogue cannot be opened or read, or another version wrote it.
    """
    notices: list[str] = []
    with warehouse.reader() as connection:
        try:
            head = head_of(connection)
            problems = [*breaks(rows_of_chain(connection)), *_missing_heads(connection, heads)]
            # For an empty ledger, only the records show whether it was lost.
            if head.sequence:
                problems += _published_problems(connection)
            records = recorded_problems(connection, warehouse, TABLE.keys())
            problems += records.problems
            notices += records.notices
            if not head.sequence and not problems:
                notices.append("the ledger is empty: it begins with the next publication")
        except duckdb.Error as error:
            raise ConfigurationError(f"the ledger cannot be read: {one_line(error)}") from error
    if len(problems) > MOST_LINES:
        problems[MOST_LINES:] = [f"and {len(problems) - MOST_LINES:,} more like these"]
    return LedgerReport(head=head, problems=tuple(problems), notices=tuple(notices))


def _missing_heads(connection: Connection, heads: Collection[str]) -> Iterator[str]:
    """Yield a line for each recorded head that the chain lacks."""
    for head in heads:
        if not has_row(connection, head):
            yield f"no row has the hash {head[:80]}: rows were cut off or rewritten"


def _published_problems(connection: Connection) -> Iterator[str]:
    """Yield a line for each published work that differs from the ledger."""
    for kind in KINDS:
        for row in _works(connection, kind):
            names = tuple(row[name] for name in kind.ids)
            title = kind.title(*names)
            if row["recorded_sha256"] != row["landing_sha256"]:
                yield f"{title}: the ledger does not say that it was published as it is"
                continue
            try:
                parts = changed_parts(connection, kind, names)
            except PublicationError as error:
                yield str(error)
                continue
            yield from (f"{title}: {part} is not what the ledger says" for part in parts)


def _works(connection: Connection, kind: Kind) -> list[dict[str, Any]]:
    """Return every published work of a kind, with its digest in the ledger."""
    condition = kind.condition(TABLE["ledger"])
    for name in kind.ids:
        condition = condition.replace(f"${name}", f'work."{name}"')
    sql = statement("ledger", "published_works").format(table=kind.head_table, condition=condition)
    with read_every_row(connection):
        return rows_in(connection, sql)
