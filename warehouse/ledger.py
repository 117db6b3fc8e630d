"""Hash chain of the ledger.

Rows are appended in the publisher's transaction, each with the hash of the previous row, and never
changed.
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
from warehouse.catalogue.connection import Connection, read_every_row
from warehouse.lake import insert, rows_in
from warehouse.layout import Layout
from warehouse.parquet import arrow_table, replace_bytes
from warehouse.rows import Row, noun_of, row_of
from warehouse.statements import statement

_ROWS_AT_ONCE = 10_000
_MOST_BYTES = 10_000
_NONE = LedgerHead(sequence=0, entry_sha256="")


def entry_sha256(row: Mapping[str, Any]) -> str:
    """Return the hash of a row's values, including the hash of the previous row."""
    values = {
        name: _as_utc(value) if isinstance(value, datetime) else value
        for name, value in row.items()
        if value is not None
    }
    values.pop("entry_sha256", None)
    return content_hash(orjson.dumps(values, option=orjson.OPT_SORT_KEYS).decode())


def _as_utc(value: datetime) -> datetime | str:
    try:
        return value.astimezone(UTC)
    except (OverflowError, ValueError):  # '-infinity', which Assay never writes
        return value.isoformat()


def chain_rows(
    entries: Sequence[LedgerEntry], head: LedgerHead, recorded_at: datetime
) -> Iterator[Row]:
    """Yield the rows of `entries` that follow `head`, in order."""
    previous_sha256 = head.entry_sha256
    for sequence, entry in enumerate(entries, head.sequence + 1):
        chain_columns: Row = {
            "sequence": sequence,
            "recorded_at": recorded_at,
            "previous_sha256": previous_sha256,
            "entry_sha256": "",
        }
        row = row_of(TABLE["ledger"], entry, chain_columns)
        previous_sha256 = entry_sha256(row)
        yield row | {"entry_sha256": previous_sha256}


def breaks(rows: Iterable[Row]) -> Iterator[str]:
    """Yield a line for each fault of a chain, whose rows come in order.

    Missing rows at the end are found only by a recorded head.
    """
    expected_sequence, previous_sha256 = 1, ""
    for row in rows:
        sequence = row["sequence"]
        if sequence is None:
            yield "a row has lost its number"
            continue
        if sequence < 1:
            yield f"a row has the number {sequence}"
            continue
        if sequence > expected_sequence:
            last = sequence - 1
            yield (
                f"row {expected_sequence} is missing"
                if last == expected_sequence
                else f"rows {expected_sequence} to {last} are missing"
            )
        elif sequence < expected_sequence:
            yield f"row {sequence} is there twice"
        elif row["previous_sha256"] != previous_sha256:
            yield f"row {sequence} does not follow the row before it: one of them was exchanged"
        if entry_sha256(row) != row["entry_sha256"]:
            yield f"row {sequence} was changed"
        previous_sha256, expected_sequence = (
            row["entry_sha256"],
            max(expected_sequence, sequence) + 1,
        )


def rows_of_chain(connection: Connection) -> Iterator[Row]:
    with read_every_row(connection):
        result = connection.execute(statement("ledger", "chain"))
        columns = [column[0] for column in result.description or ()]
        while batch := result.fetchmany(_ROWS_AT_ONCE):
            yield from (dict(zip(columns, values, strict=True)) for values in batch)


def ledger_of_run(connection: Connection, run_id: RunId) -> tuple[LedgerRow, ...]:
    """Return the rows about a run and its rankings, in order."""
    rows = rows_in(connection, statement("ledger", "of_run"), {"run_id": run_id})
    return tuple(noun_of(LedgerRow, row) for row in rows)


def parts_by_unit(
    connection: Connection, run_id: RunId, unit_id: str = ""
) -> dict[str, tuple[str, ...]]:
    """Return the current parts of a run's evaluations with their hashes, by idea.

    Args:
        unit_id: of one idea; empty: of all.
    """
    condition = "run_id = $run_id and ranking_id is null and $unit_id in ('', unit_id)"
    sql = statement("ledger", "standing").format(condition=condition)
    parts_of_unit: dict[str, list[str]] = {}
    for row in rows_in(connection, sql, {"run_id": run_id, "unit_id": unit_id}):
        name = " ".join(filter(None, (row["part"] or row["artefact"], row["step"])))
        parts_of_unit.setdefault(row["unit_id"], []).append(f"{name}={row['version_sha256']}")
    return {unit: tuple(sorted(parts)) for unit, parts in sorted(parts_of_unit.items())}


def parts_of(connection: Connection, run_id: RunId, unit_id: str) -> tuple[str, ...]:
    """Return the parts of one idea; of all ideas, each with its id, if `unit_id` is empty."""
    units = parts_by_unit(connection, run_id, unit_id)
    if unit_id:
        return units.get(unit_id, ())
    return tuple(f"{unit} {part}" for unit, parts in units.items() for part in parts)


def parts_of_report(connection: Connection, run_id: RunId) -> tuple[str, ...]:
    """Return the parts of a report on a run: its evaluations and rankings."""
    sql = statement("ledger", "standing").format(condition="run_id = $run_id")
    return tuple(
        sorted(
            f"{row['unit_id']} {row['part'] or row['artefact']} {row['step'] or ''}"
            f"={row['version_sha256']}"
            for row in rows_in(connection, sql, {"run_id": run_id})
        )
    )


def head_of(connection: Connection) -> LedgerHead:
    """Return the last row of the chain."""
    with read_every_row(connection):
        row = connection.execute(statement("ledger", "head")).fetchone()
    return LedgerHead(sequence=row[0], entry_sha256=row[1]) if row else _NONE


def append(connection: Connection, entries: Sequence[LedgerEntry]) -> None:
    table = TABLE["ledger"]
    rows = list(chain_rows(entries, head_of(connection), datetime.now(UTC)))
    insert(connection, table, arrow_table(table, rows))


def recorded_head(layout: Layout) -> LedgerHead:
    """Return the head recorded in the state folder; that of an empty chain if none.

    Raises:
        pydantic.ValidationError: the record is damaged.
        PlainFileError: it is no file, or too long.
        OSError: it cannot be read.
    """
    path = head_file(layout)
    if not path.exists():
        return _NONE
    return LedgerHead.model_validate_json(read_file(path.resolve().parent / path.name, _MOST_BYTES))


def record_head(connection: Connection, layout: Layout) -> None:
    """Record the head in the state folder, after its commit.

    A kill in between leaves an earlier head, which is in the chain too. The record of a lost row
    stays, so that verification continues to report the loss.
    """
    path, head = head_file(layout), head_of(connection)
    try:
        if lacks(connection, recorded_head(layout)):
            return
    except (OSError, PlainFileError, ValidationError):
        return  # verification reports it
    replace_bytes(path, orjson.dumps(head.model_dump(mode="json")))


def has_row(connection: Connection, sha256: str, sequence: int | None = None) -> bool:
    """Return whether the chain has a row with this hash, and number if given."""
    parameters = {"entry_sha256": sha256, "sequence": sequence}
    with read_every_row(connection):
        return bool(connection.execute(statement("ledger", "has"), parameters).fetchall())


def lacks(connection: Connection, head: LedgerHead) -> bool:
    """Return whether the chain has lost this head."""
    return head.sequence > 0 and not has_row(connection, head.entry_sha256, head.sequence)


def head_file(layout: Layout) -> Path:
    return layout.state / "ledger_head.json"
