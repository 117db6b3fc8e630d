"""Queries on published work of any kind."""

from typing import Any, NamedTuple

from schemas.errors import UnknownNameError
from schemas.identifiers import RunId
from schemas.tables import TABLE
from warehouse.catalogue.connection import Connection
from warehouse.kinds.registry import KINDS
from warehouse.lake import rows_in
from warehouse.rows import noun_of
from warehouse.statements import table_statement
from warehouse.units.kind import HeadT, Kind, ReceiptT, UnitT
from warehouse.units.landing import CALL_TABLES
from warehouse.units.unit_rows import units_of


def published_heads(connection: Connection, kind: Kind[Any, Any, HeadT]) -> tuple[HeadT, ...]:
    """Return the published heads of a kind, newest first."""
    rows = rows_in(connection, table_statement("newest_first", table=kind.head_table))
    return tuple(noun_of(kind.head, row) for row in rows)


class PublishedWork(NamedTuple):
    """Published work of some kind."""

    kind: Kind
    head: Any

    @property
    def row(self) -> dict[str, Any]:
        """The fields of its head, with its kind."""
        return {"kind": self.kind.word, **self.head.model_dump(mode="json")}


def published_works(connection: Connection) -> list[PublishedWork]:
    """Return the published work of every kind, newest first; rankings belong to their run."""
    kinds = (kind for kind in KINDS if not kind.is_nested)
    works = (
        PublishedWork(kind, head) for kind in kinds for head in published_heads(connection, kind)
    )
    return sorted(works, key=lambda work: work.head.started_at, reverse=True)


def published_head(connection: Connection, kind: Kind[Any, Any, HeadT], *names: str) -> HeadT:
    """Return a published head. Raises UnknownNameError if it is not published."""
    for head in published_heads(connection, kind):
        if kind.names(head) == names:
            return head
    raise UnknownNameError(
        f"{kind.title(*names)} is not published; the table {kind.head_table} lists those that are"
    )


def published_kind(connection: Connection, run_id: RunId) -> Kind:
    """Return the kind of a published work.

    Raises:
        UnknownNameError: nothing has this name; lists the newest of each kind.
    """
    newest = []
    for kind in KINDS:
        heads = published_heads(connection, kind) if not kind.is_nested else ()
        names = [head.run_id for head in heads]
        if run_id in names:
            return kind
        newest += [f"{kind.word} {', '.join(names[:3])}"] if names else []
    raise UnknownNameError(
        f"nothing is published under {run_id}; the newest are: {'; '.join(newest) or 'none'}"
    )


def published_units(
    connection: Connection, kind: Kind[UnitT, ReceiptT, HeadT], *names: str
) -> tuple[UnitT, ...]:
    """Return every unit of a work without calls, in the order of their names."""
    rows = {}
    for table in (TABLE[name] for name in kind.tables if name not in CALL_TABLES):
        sql = table_statement("rows_of", table=table.name, condition=kind.condition(table))
        rows[table.name] = rows_in(connection, sql, kind.parameters(*names))
    return units_of(kind, rows)
