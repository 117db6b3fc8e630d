"""Ledger entries of a publication, derived from the rows that it inserted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from schemas.columns import Column, ColumnType, Table
from schemas.errors import PublicationError
from schemas.people.ledger import Artefact, CreditRole, LedgerAction, LedgerEntry
from schemas.tables import TABLE
from warehouse.catalogue.connection import Connection, read_every_row
from warehouse.lake import rows_in
from warehouse.ledger import append
from warehouse.rows import Row
from warehouse.statements import statement
from warehouse.units.kind import HeadT, Kind

_PROVENANCE = frozenset({"step", "step_version", "prompt_sha256", "engine", "created_at"})
_NOT_CONTENT = frozenset(
    {"run_id", "ranking_id", "created_at", "call_ids", "landing_sha256", "published_at"}
)
"""Columns that differ when a run reuses an evaluation or repeats its calls."""
_ARTEFACTS = frozenset(Artefact)
_ACCOUNTS = ("llm_calls",)
_INPUTS_OF_HEAD = {
    "literature": "literature",
    "profile": "profile",
    "basis_sha256": "evaluations",
    "data_sha256": "data",
}
_NAMES_WORKS = ("_run_id", "_run_ids", "revises")
"""Suffixes of head fields that name published works."""


class _Part(NamedTuple):
    """Identity of a part of an artefact across publications."""

    artefact: Artefact
    unit_id: str
    part: str
    step: str | None
    step_version: int | None
    prompt_sha256: str | None


def record(
    connection: Connection,
    kind: Kind[Any, Any, HeadT],
    head: HeadT,
    digest: str,
    rows: Mapping[str, int],
) -> None:
    """Append the changes by publishing `head`, in the same transaction, after its rows.

    Args:
        rows: rows of the work, by table.

    Raises:
        PublicationError: the ledger holds a row about an unknown artefact.
    """
    publication = _entry(
        kind,
        head,
        artefact=Artefact.PUBLICATION,
        action=LedgerAction.PUBLISHED,
        version_sha256=digest,
        inputs=_inputs(head),
        participant_id=head.engine,
        role=CreditRole.TOOL,
        step=None,
    )
    append(connection, [*_changes(connection, kind, head, rows), publication])


def changed_parts(connection: Connection, kind: Kind, names: tuple[str, ...]) -> list[str]:
    """Return the parts of a published work that differ from the ledger.

    Raises:
        PublicationError: the ledger holds a row about an unknown artefact.
    """
    old_hashes = _recorded_parts(connection, kind, names)
    unit_inputs = _unit_inputs(connection, kind, names)
    parts = _current_parts(connection, kind, names, unit_inputs, kind.published_tables)
    new_hashes = {key: row["version_sha256"] for key, row in parts.items()}
    return sorted(
        f"{key.part or key.artefact} of {key.unit_id or names[-1]}"
        for key in old_hashes.keys() | new_hashes.keys()
        if old_hashes.get(key) != new_hashes.get(key)
    )


def _changes(
    connection: Connection, kind: Kind[Any, Any, HeadT], head: HeadT, rows: Mapping[str, int]
) -> Iterator[LedgerEntry]:
    names, head_inputs = kind.names(head), _inputs(head)
    recorded_hashes, inputs = (
        _recorded_parts(connection, kind, names),
        _unit_inputs(connection, kind, names),
    )
    tables = [table for table in kind.published_tables if rows[table.name]]
    parts = _current_parts(connection, kind, names, inputs, tables)
    times = head.model_dump(include={"started_at"})
    for key, row in parts.items():
        if recorded_hashes.get(key) == row["version_sha256"]:
            continue
        unit_input = (f"{kind.unit_noun}:{inputs[key.unit_id]}",) if key.unit_id in inputs else ()
        engine = row.get("participant_id")
        yield _entry(
            kind,
            head,
            **key._asdict(),
            action=_action(key, is_repeated=key in recorded_hashes),
            version_sha256=row["version_sha256"],
            inputs=(*unit_input, *head_inputs) if key.part else (),
            participant_id=engine,
            role=CreditRole.TOOL if engine else None,
            model=row.get("model"),
            happened_at=row.get("happened_at") or times["started_at"],
        )
    for key in (key for key in recorded_hashes if key not in parts):
        withdrawal: dict[str, Any] = {"action": LedgerAction.WITHDRAWN, "participant_id": None}
        yield _entry(kind, head, **key._asdict(), **withdrawal, role=None)


def _action(key: _Part, *, is_repeated: bool) -> LedgerAction:
    if is_repeated:
        return LedgerAction.MADE_ANEW
    return LedgerAction.MADE if key.part else LedgerAction.GIVEN


def _entry(kind: Kind, head: Any, **fields: Any) -> LedgerEntry:
    defaults = {"happened_at": head.finished_at, **kind.parameters(*kind.names(head))}
    return LedgerEntry(**defaults | fields)


def _recorded_parts(connection: Connection, kind: Kind, names: tuple[str, ...]) -> dict[_Part, str]:
    """Return the hash of every part according to the ledger.

    Raises:
        PublicationError: a row is about an unknown artefact.
    """
    sql = statement("ledger", "standing").format(condition=kind.condition(TABLE["ledger"]))
    with read_every_row(connection):
        rows = rows_in(connection, sql, kind.parameters(*names))
    for row in rows:
        if row["artefact"] not in _ARTEFACTS:
            artefact = str(row["artefact"])[:80]
            raise PublicationError(
                f"{kind.title(*names)}: the ledger holds a row about {artefact!r}, which Assay never"
                " writes: bring the lake back from a copy"
            )
    return {_part(Artefact(row["artefact"]), row): row["version_sha256"] for row in rows}


def _unit_inputs(connection: Connection, kind: Kind, names: tuple[str, ...]) -> dict[str, str]:
    if not kind.input_columns or kind.unit_table is None:
        return {}
    table = TABLE[kind.unit_table]
    sql = statement("ledger", "given").format(
        table=table.name,
        unit=_unit_sql(table, kind.identity_column),
        content=_content_sql([table.column(name) for name in kind.input_columns]),
        condition=kind.condition(table),
    )
    rows = rows_in(connection, sql, kind.parameters(*names))
    return {row["unit_id"]: row["version_sha256"] for row in rows}


def _current_parts(
    connection: Connection,
    kind: Kind,
    names: tuple[str, ...],
    unit_inputs: Mapping[str, str],
    tables: Sequence[Table],
) -> dict[_Part, Row]:
    """Return every part according to the rows in `tables`: inputs, then results of steps."""
    rows_of_parts: dict[_Part, Row] = {}
    for unit_id, version in unit_inputs.items():
        row = {"unit_id": unit_id, "part": "", "version_sha256": version}
        rows_of_parts[_part(Artefact(kind.unit_noun), row)] = row
    if sql := _steps_sql(kind, tables):
        for row in rows_in(connection, sql, kind.parameters(*names)):
            rows_of_parts[_part(kind.artefact, row)] = row
    return rows_of_parts


def _part(artefact: Artefact, row: Row) -> _Part:
    fields: dict[str, Any] = {name: row.get(name) for name in _Part._fields}
    return _Part(**fields | {"artefact": artefact})


def _steps_sql(kind: Kind, tables: Sequence[Table]) -> str:
    """Return SQL with a row per table and unit that has results of steps; else empty."""
    parts = " union all ".join(
        statement("ledger", "parts_of_table").format(
            table=table.name,
            unit=_unit_sql(table, kind.identity_column),
            content=_content_sql(table.columns),
            condition=kind.condition(table),
        )
        for table in tables
        if set(table.column_names) >= _PROVENANCE and table.name not in _ACCOUNTS
    )
    return statement("ledger", "parts").format(parts=parts) if parts else ""


def _unit_sql(table: Table, column: str) -> str:
    return f'"{column}"' if column in table.column_names else "''"


def _content_sql(columns: Sequence[Column]) -> str:
    """Return SQL for a text that is equal only for rows of equal content."""
    texts = []
    for column in sorted(columns, key=lambda each: each.name):
        if column.name not in _NOT_CONTENT:
            name = f'"{column.name}"'
            text = f"to_json({name})" if column.type is ColumnType.STRINGS else name
            text = f"{text}::varchar"
            texts.append(f"coalesce('{column.name}=' || strlen({text}) || ':' || {text}, '')")
    return " || ".join(texts)


def _inputs(head: Any) -> tuple[str, ...]:
    """Return the inputs of the work as a whole, including published works."""
    values = {word: getattr(head, name, None) for name, word in _INPUTS_OF_HEAD.items()}
    inputs = [f"{word}:{value}" for word, value in values.items() if value]
    for name in type(head).model_fields:
        value = getattr(head, name)
        if value and name != "run_id" and name.endswith(_NAMES_WORKS):
            inputs += [f"work:{each}" for each in ([value] if isinstance(value, str) else value)]
    return tuple(inputs)
