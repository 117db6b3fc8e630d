"""What people changed in curated sets: recorded at once, folded into the lake, applied to what is
shown and written. What the engine had stays as it was landed.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import combinations

import duckdb

from schemas.base import replace
from schemas.curation import (
    CuratedStatement,
    Curation,
    StatementAxis,
    StatementSeverity,
    StatementType,
    idea_text,
)
from schemas.curation_edit import (
    NO,
    YES,
    CurationEdit,
    EditAgreement,
    EditedField,
    EditShare,
)
from schemas.errors import TransientError
from schemas.identifiers import RunId
from warehouse.lake import rows_in
from warehouse.layout import Layout
from warehouse.rows import noun_of
from warehouse.services.database import ServiceDatabase
from warehouse.services.records import fold_into_lake, record
from warehouse.statements import statement

TABLE_NAME = "curation_edits"
PUBLISHED_IDEAS, PUBLISHED_STATEMENTS = 0.134, 0.791
"""Shares that the experts of ScholarIdeas edited (ScholarEval, Table 6)."""
_FOLD_WAIT_SECONDS = 2.0

Value = tuple[str, EditedField]
"""A statement's name (empty: the idea's) and what of it."""


def record_edits(
    layout: Layout,
    database: ServiceDatabase,
    edits: Sequence[CurationEdit],
    *,
    catalogue_url: str | None = None,
) -> None:
    """Write down what a person saved, all or nothing, and have the lake hold it too. While a
    publisher is at work it is durable all the same, and enters the lake with what is published.

    Raises:
        ConflictError: one of them is there already.
        ConfigurationError: the database or the catalogue cannot be used.
    """
    with database.transaction() as work:
        for each in edits:
            record(work, TABLE_NAME, each)
    with suppress(TransientError):
        fold_into_lake(layout, catalogue_url=catalogue_url, wait_seconds=_FOLD_WAIT_SECONDS)


def edits_of(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> tuple[CurationEdit, ...]:
    """All edits of a run, oldest first."""
    rows = rows_in(connection, statement("queries", "curation_edits"), {"run_id": run_id})
    return tuple(noun_of(CurationEdit, row) for row in rows)


def values_of(curation: Curation) -> dict[Value, str]:
    """All of a curated paper that can be edited."""
    parts = (EditedField.PROBLEM, EditedField.METHOD, EditedField.EXPERIMENT)
    found: dict[Value, str] = {("", part): getattr(curation, part.value) for part in parts}
    for each in curation.statements:
        found |= {
            (each.statement_id, EditedField.STATEMENT): each.statement,
            (each.statement_id, EditedField.TYPE): each.type.value,
            (each.statement_id, EditedField.AXIS): each.axis.value,
            (each.statement_id, EditedField.SEVERITY): each.severity.value,
            (each.statement_id, EditedField.KEPT): YES,
        }
    return found


def edited(curation: Curation, edits: Iterable[CurationEdit]) -> Curation:
    """The paper as people have it: of several edits of one thing the last counts.

    A paper that is no part of the set stays as it is.
    """
    values = values_of(curation)
    for each in edits:
        if each.paper_id == curation.paper_id and (each.statement_id, each.field) in values:
            values[each.statement_id, each.field] = each.after
    if curation.dropped_reason is not None or values == values_of(curation):
        return curation
    statements = tuple(
        _edited(each, values)
        for each in curation.statements
        if values[each.statement_id, EditedField.KEPT] != NO
    )
    problem, method, experiment = (
        values["", part]
        for part in (EditedField.PROBLEM, EditedField.METHOD, EditedField.EXPERIMENT)
    )
    return replace(
        curation,
        problem=problem,
        method=method,
        experiment=experiment,
        text=idea_text(curation.title, problem, method, experiment),
        statements=statements,
        statement_count=len(statements),
    )


def _edited(given: CuratedStatement, values: dict[Value, str]) -> CuratedStatement:
    name = given.statement_id
    text = values[name, EditedField.STATEMENT]
    return replace(
        given,
        statement=text,
        type=StatementType(values[name, EditedField.TYPE]),
        axis=StatementAxis(values[name, EditedField.AXIS]),
        severity=StatementSeverity(values[name, EditedField.SEVERITY]),
        is_verbatim=given.is_verbatim and text.split() == given.statement.split(),
    )


def edit_shares(edits: Sequence[CurationEdit]) -> tuple[EditShare, ...]:
    """How much people changed: of papers their ideas and their lists of statements, as was
    published, then of each field.
    """
    ideas = [each for each in edits if each.field.is_of_idea]
    statements = [each for each in edits if not each.field.is_of_idea]
    whole = (
        ("ideas", ideas, PUBLISHED_IDEAS),
        ("lists of statements", statements, PUBLISHED_STATEMENTS),
    )
    shares = [
        EditShare(
            name=name,
            looked_at_count=len({each.paper_id for each in own}),
            changed_count=len({each.paper_id for each in own if each.changed}),
            published_0_to_1=published,
        )
        for name, own, published in whole
    ]
    for field in EditedField:
        of_field = [each for each in edits if each.field is field]
        looked_at = {(each.paper_id, each.statement_id) for each in of_field}
        changed = {(each.paper_id, each.statement_id) for each in of_field if each.changed}
        shares.append(
            EditShare(name=field.value, looked_at_count=len(looked_at), changed_count=len(changed))
        )
    return tuple(shares)


def agreements(edits: Sequence[CurationEdit]) -> tuple[EditAgreement, ...]:
    """Of each field that several people looked at: how often two of them made the same of it."""
    last: dict[tuple[str, Value], dict[str, str]] = {}
    for each in edits:
        place = (each.paper_id, (each.statement_id, each.field))
        last.setdefault(place, {})[each.editor] = " ".join(each.after.split())
    found = []
    for field in EditedField:
        pairs = [
            pair
            for (_, value), by_editor in last.items()
            if value[1] is field
            for pair in combinations(by_editor.values(), 2)
        ]
        if pairs:
            equal = sum(one == other for one, other in pairs)
            found.append(EditAgreement(field=field, pair_count=len(pairs), equal_count=equal))
    return tuple(found)
