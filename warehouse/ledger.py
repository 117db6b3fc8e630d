"""The chain of the ledger: rows are appended in the publisher's transaction, each with the hash of
the one before it, and never changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from schemas.identifiers import RunId, content_hash
from schemas.people.ledger import LedgerEntry, LedgerHead, LedgerRow
from schemas.tables import TABLE
from schemas.text.plain_files import PlainFileError, read_file
from warehouse.catalogue.connection import Connection, every_row_read
from warehouse.lake import insert, rows_in
from warehouse.layout import Layout
from warehouse.parquet import arrow_table, replace_bytes
from warehouse.rows import Row, noun_of, row_of
from warehouse.statements import statement

_ROWS_AT_ONCE = 10_000
_MOST_BYTES = 10_000
_NONE = LedgerHead(sequence=0, entry_sha256="")


def entry_sha256(row: Mapping[str, Any]) -> str:
    """The hash of a row over every column that holds something, the hash before it included."""
    held = {name: _plain(value) for name, value in row.items() if value is not None}
    held.pop("entry_sha256", None)
    return content_hash(orjson.dumps(held, option=orjson.OPT_SORT_KEYS).decode())


def _plain(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    try:
        return value.astimezone(UTC)
    except (OverflowError, ValueError):  # '-infinity', which Assay never writes
        return value.isoformat()


def chained(
    entries: Sequence[LedgerEntry], head: LedgerHead, recorded_at: datetime
) -> Iterator[Row]:
    """The rows of `entries` behind `head`, in order."""
    before = head.entry_sha256
    for sequence, entry in enumerate(entries, head.sequence + 1):
        chain_columns: Row = {
            "sequence": sequence,
            "recorded_at": recorded_at,
            "previous_sha256": before,
            "entry_sha256": "",
        }
        row = row_of(TABLE["ledger"], entry, chain_columns)
        before = entry_sha256(row)
        yield row | {"entry_sha256": before}


def breaks(rows: Iterable[Row]) -> Iterator[str]:
    """Yield what is wrong with a chain, a line each; `rows` in the order of their numbers.

    Rows that are missing at the end are told only by a head that was written down.
    """
    expected, before = 1, ""
    for row in rows:
        sequence = row["sequence"]
        if sequence is None:
            yield "a row has lost its number"
            continue
        if sequence < 1:
            yield f"a row has the number {sequence}"
            continue
        if sequence > expected:
            last = sequence - 1
            yield (
                f"row {expected} is missing"
                if last == expected
                else f"rows {expected} to {last} are missing"
            )
        elif sequence < expected:
            yield f"row {sequence} is there twice"
        elif row["previous_sha256"] != before:
            yield f"row {sequence} does not follow the row before it: one of them was exchanged"
        if entry_sha256(row) != row["entry_sha256"]:
            yield f"row {sequence} was changed"
        before, expected = row["entry_sha256"], max(expected, sequence) + 1


def rows_of_chain(connection: Connection) -> Iterator[Row]:
    """Every row of the lake's chain in the order of their numbers, some thousands at a time."""
    with every_row_read(connection):
        result = connection.execute(statement("ledger", "chain"))
        columns = [column[0] for column in result.description or ()]
        while batch := result.fetchmany(_ROWS_AT_ONCE):
            yield from (dict(zip(columns, values, strict=True)) for values in batch)


def ledger_of_run(connection: Connection, run_id: RunId) -> tuple[LedgerRow, ...]:
    """The rows about a run and its rankings, in order."""
    rows = rows_in(connection, statement("ledger", "of_run"), {"run_id": run_id})
    return tuple(noun_of(LedgerRow, row) for row in rows)


def parts_by_unit(
    connection: Connection, run_id: RunId, unit_id: str = ""
) -> dict[str, tuple[str, ...]]:
    """Each part of the evaluations of a run as the ledger has it now, with its hash, by idea; of
    one idea alone where `unit_id` names it.
    """
    condition = "run_id = $run_id and ranking_id is null and $unit_id in ('', unit_id)"
    sql = statement("ledger", "standing").format(condition=condition)
    parts_of_unit: dict[str, list[str]] = {}
    for row in rows_in(connection, sql, {"run_id": run_id, "unit_id": unit_id}):
        name = " ".join(filter(None, (row["part"] or row["artefact"], row["step"])))
        parts_of_unit.setdefault(row["unit_id"], []).append(f"{name}={row['version_sha256']}")
    return {unit: tuple(sorted(parts)) for unit, parts in sorted(parts_of_unit.items())}


def parts_of(connection: Connection, run_id: RunId, unit_id: str) -> tuple[str, ...]:
    """The parts of one idea; of all of a run, each with its idea, where `unit_id` is empty."""
    units = parts_by_unit(connection, run_id, unit_id)
    if unit_id:
        return units.get(unit_id, ())
    return tuple(f"{unit} {part}" for unit, parts in units.items() for part in parts)


def parts_of_report(connection: Connection, run_id: RunId) -> tuple[str, ...]:
    """All that a report on a run tells of: its evaluations and its rankings, part by part."""
    sql = statement("ledger", "standing").format(condition="run_id = $run_id")
    return tuple(
        sorted(
            f"{row['unit_id']} {row['part'] or row['artefact']} {row['step'] or ''}"
            f"={row['version_sha256']}"
            for row in rows_in(connection, sql, {"run_id": run_id})
        )
    )


def head_of(connection: Connection) -> LedgerHead:
    """The last row of the lake's chain."""
    with every_row_read(connection):
        row = connection.execute(statement("ledger", "head")).fetchone()
    return LedgerHead(sequence=row[0], entry_sha256=row[1]) if row else _NONE


def append(connection: Connection, entries: Sequence[LedgerEntry]) -> None:
    """Append to the chain, within the transaction of the lake's one writer."""
    table = TABLE["ledger"]
    rows = list(chained(entries, head_of(connection), datetime.now(UTC)))
    insert(connection, table, arrow_table(table, rows))


def noted_head(layout: Layout) -> LedgerHead:
    """The head as it was noted beside the lake; that of an empty chain when none was.

    Raises:
        pydantic.ValidationError: the note was damaged.
        PlainFileError: it is no file, or a long one.
        OSError: it cannot be read.
    """
    path = note_file(layout)
    if not path.exists():
        return _NONE
    return LedgerHead.model_validate_json(read_file(path.resolve().parent / path.name, _MOST_BYTES))


def note_head(connection: Connection, layout: Layout) -> None:
    """Note the head beside the lake, once it is committed. A kill before leaves an earlier one,
    which the chain has too.

    A note of a row that the chain has lost stays, so that verification goes on to report the loss.
    """
    path, head = note_file(layout), head_of(connection)
    try:
        if lacks(connection, noted_head(layout)):
            return
    except (OSError, PlainFileError, ValidationError):
        return  # a damaged note is reported too
    replace_bytes(path, orjson.dumps(head.model_dump(mode="json")))


def has_row(connection: Connection, sha256: str, sequence: int | None = None) -> bool:
    """Return whether the chain has a row of this hash, and number."""
    given = {"entry_sha256": sha256, "sequence": sequence}
    with every_row_read(connection):
        return bool(connection.execute(statement("ledger", "has"), given).fetchall())


def lacks(connection: Connection, head: LedgerHead) -> bool:
    """Return whether the chain has lost the row that was its head."""
    return head.sequence > 0 and not has_row(connection, head.entry_sha256, head.sequence)


def note_file(layout: Layout) -> Path:
    """Return where the head is noted."""
    return layout.state / "ledger_head.json"
