"""Ledger entries of a publication, derived from the rows that it inserted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from schemas.columns import Column, ColumnType, Table
from schemas.errors import PublicationError
from schemas.people.ledger import Artefact, CreditRole, LedgerAction, LedgerEntry
from schemas.tables import TABLE
from warehouse.catalogue.connection import Connection, every_row_read
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
        rows: of the work, by table.

    Raises:
        PublicationError: the ledger holds a row about an unknown artefact.
    """
    published = _about(
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
    append(connection, [*_changes(connection, kind, head, rows), published])


def changed_parts(connection: Connection, kind: Kind, names: tuple[str, ...]) -> list[str]:
    """Return the parts of a published work that differ from the ledger.

    Raises:
        PublicationError: the ledger holds a row about an unknown artefact.
    """
    before = _standing(connection, kind, names)
    given = _given(connection, kind, names)
    parts = _now(connection, kind, names, given, kind.published_tables)
    now = {key: row["version_sha256"] for key, row in parts.items()}
    return sorted(
        f"{key.part or key.artefact} of {key.unit_id or names[-1]}"
        for key in before.keys() | now.keys()
        if before.get(key) != now.get(key)
    )


def _changes(
    connection: Connection, kind: Kind[Any, Any, HeadT], head: HeadT, rows: Mapping[str, int]
) -> Iterator[LedgerEntry]:
    names, head_inputs = kind.names(head), _inputs(head)
    before, given = _standing(connection, kind, names), _given(connection, kind, names)
    filled = [table for table in kind.published_tables if rows[table.name]]
    now = _now(connection, kind, names, given, filled)
    times = head.model_dump(include={"started_at"})
    for key, row in now.items():
        if before.get(key) == row["version_sha256"]:
            continue
        unit_input = (f"{kind.unit_noun}:{given[key.unit_id]}",) if key.unit_id in given else ()
        engine = row.get("participant_id")
        yield _about(
            kind,
            head,
            **key._asdict(),
            action=_action(key, again=key in before),
            version_sha256=row["version_sha256"],
            inputs=(*unit_input, *head_inputs) if key.part else (),
            participant_id=engine,
            role=CreditRole.TOOL if engine else None,
            model=row.get("model"),
            happened_at=row.get("happened_at") or times["started_at"],
        )
    for key in (key for key in before if key not in now):
        withdrawn: dict[str, Any] = {"action": LedgerAction.WITHDRAWN, "participant_id": None}
        yield _about(kind, head, **key._asdict(), **withdrawn, role=None)


def _action(key: _Part, *, again: bool) -> LedgerAction:
    if again:
        return LedgerAction.MADE_ANEW
    return LedgerAction.MADE if key.part else LedgerAction.GIVEN


def _about(kind: Kind, head: Any, **fields: Any) -> LedgerEntry:
    defaults = {"happened_at": head.finished_at, **kind.parameters(*kind.names(head))}
    return LedgerEntry(**defaults | fields)


def _standing(connection: Connection, kind: Kind, names: tuple[str, ...]) -> dict[_Part, str]:
    """Return the hash of every part according to the ledger.

    Raises:
        PublicationError: a row is about an unknown artefact.
    """
    sql = statement("ledger", "standing").format(condition=kind.condition(TABLE["ledger"]))
    with every_row_read(connection):
        rows = rows_in(connection, sql, kind.parameters(*names))
    for row in rows:
        if row["artefact"] not in _ARTEFACTS:
            artefact = str(row["artefact"])[:80]
            raise PublicationError(
                f"{kind.titled(*names)}: the ledger holds a row about {artefact!r}, which Assay never"
                " writes: bring the lake back from a copy"
            )
    return {_part(Artefact(row["artefact"]), row): row["version_sha256"] for row in rows}


def _given(connection: Connection, kind: Kind, names: tuple[str, ...]) -> dict[str, str]:
    """Return the hash of each unit's input."""
    if not kind.given or kind.own_table is None:
        return {}
    table = TABLE[kind.own_table]
    sql = statement("ledger", "given").format(
        table=table.name,
        unit=_unit(table, kind.known_by),
        content=_content([table.column(name) for name in kind.given]),
        condition=kind.condition(table),
    )
    rows = rows_in(connection, sql, kind.parameters(*names))
    return {row["unit_id"]: row["version_sha256"] for row in rows}


def _now(
    connection: Connection,
    kind: Kind,
    names: tuple[str, ...],
    given: Mapping[str, str],
    tables: Sequence[Table],
) -> dict[_Part, Row]:
    """Return every part according to the rows in `tables`: inputs, then results of steps."""
    rows_of_parts: dict[_Part, Row] = {}
    for unit_id, version in given.items():
        row = {"unit_id": unit_id, "part": "", "version_sha256": version}
        rows_of_parts[_part(Artefact(kind.unit_noun), row)] = row
    if sql := _of_steps(kind, tables):
        for row in rows_in(connection, sql, kind.parameters(*names)):
            rows_of_parts[_part(kind.artefact, row)] = row
    return rows_of_parts


def _part(artefact: Artefact, row: Row) -> _Part:
    fields: dict[str, Any] = {name: row.get(name) for name in _Part._fields}
    return _Part(**fields | {"artefact": artefact})


def _of_steps(kind: Kind, tables: Sequence[Table]) -> str:
    """Return SQL with a row per table and unit that has results of steps; else empty."""
    parts = " union all ".join(
        statement("ledger", "parts_of_table").format(
            table=table.name,
            unit=_unit(table, kind.known_by),
            content=_content(table.columns),
            condition=kind.condition(table),
        )
        for table in tables
        if set(table.column_names) >= _PROVENANCE and table.name not in _ACCOUNTS
    )
    return statement("ledger", "parts").format(parts=parts) if parts else ""


def _unit(table: Table, column: str) -> str:
    return f'"{column}"' if column in table.column_names else "''"


def _content(columns: Sequence[Column]) -> str:
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
    named = [f"{word}:{value}" for word, value in values.items() if value]
    for name in type(head).model_fields:
        value = getattr(head, name)
        if value and name != "run_id" and name.endswith(_NAMES_WORKS):
            named += [f"work:{each}" for each in ([value] if isinstance(value, str) else value)]
    return tuple(named)
