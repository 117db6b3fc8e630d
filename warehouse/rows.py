"""Nouns to rows and back.

A field and its column bear the same name; what differs is written here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar, get_origin

import orjson

from schemas.base import Noun
from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.failure import Failure
from schemas.idea import Idea, RejectedIdea
from schemas.identifiers import RunId
from schemas.judgement.evaluation import IdeaEvaluation, ModuleEvaluation
from schemas.literature.coverage import FieldCoverage
from schemas.outcome import Provenance
from schemas.reasons import Passes
from schemas.tables import TABLE
from warehouse.module_rows import MODULE_ROWS, Held

Row = dict[str, Any]
Rows = dict[str, list[Row]]
NounT = TypeVar("NounT", bound=Noun)

_OF_ALL_MODULES = (
    "papers",
    "citation_edges",
    "resources",
    "experimental_results",
    "citations",
    "suggestions",
    "llm_calls",
    "judge_votes",
    "api_calls",
)


def rows_of(
    evaluation: IdeaEvaluation,
    *,
    incomplete_reason: str | None = None,
    reused_from: RunId | None = None,
) -> Rows:
    """Every row of one evaluation by table name; tables without rows are left out."""
    ids = {"run_id": evaluation.run_id, "idea_id": evaluation.idea.idea_id}
    rows: Rows = {"ideas": [_idea_row(evaluation, incomplete_reason, reused_from)]}
    for table in _OF_ALL_MODULES:
        rows[table] = _held_rows(evaluation, table, Held(table), ids)
    for name, module in evaluation.modules.items():
        for field, held in MODULE_ROWS[name].fields.items():
            # Concerns are the assessment's where soundness was not asked for.
            rows.setdefault(held.table, []).extend(_held_rows(module, field, held, ids))
    rows["failures"] = _failure_rows(evaluation, ids)
    return {name: found for name, found in rows.items() if found}


def _held_rows(owner: Noun, field: str, held: Held, ids: Row) -> list[Row]:
    value = getattr(owner, field)
    nouns = value if not held.single else (value,) if value is not None else ()
    beside: list[Row] = [{} for _ in nouns]
    if held.beside is not None:
        companion, column = held.beside
        beside = [{column: each} for each in getattr(owner, companion)]
    return [
        row_of(TABLE[held.table], noun, ids | {"position": position} | known, held.renamed)
        for position, (noun, known) in enumerate(zip(nouns, beside, strict=True))
    ]


def rejection_rows(run_id: RunId, rejected: Sequence[RejectedIdea]) -> list[Row]:
    """Rows of `failures` for entries that could not enter."""
    return [
        {
            "run_id": run_id,
            "idea_id": entry.idea_id,
            "position": position,
            "recorded_by": "read_ideas",
            "stage": "read_ideas",
            "subject": entry.location,
            "reason": entry.reason,
            "detail": entry.detail,
            "retryable": entry.reason.passes is Passes.BY_ITSELF,
        }
        for position, entry in enumerate(rejected)
    ]


def evaluation_of(rows: Mapping[str, Sequence[Row]]) -> IdeaEvaluation:
    """The evaluation that `rows_of` took apart. Rows may come in any order.

    A failure that a module and the evaluation both recorded comes back once.
    """
    (idea,) = rows["ideas"]
    found: dict[str, Any] = {}
    unread = dict(rows)
    for name, module in MODULE_ROWS.items():
        found[name] = _module(name, unread) if idea.get(f"{name}_requested") else None
        if found[name] is not None:
            for held in module.fields.values():  # of a table that two modules share, the first one
                unread.pop(held.table, None)
    for table in _OF_ALL_MODULES:
        found[table] = tuple(
            noun_of(TABLE[table].noun, row) for row in _ordered(rows.get(table, ()))
        )
    return IdeaEvaluation(
        run_id=idea["run_id"],
        evaluation_key=idea["evaluation_key"],
        idea=noun_of(Idea, idea),
        profile=idea["profile"],
        engine=idea["engine"],
        literature=idea["literature"],
        **found,
        failures=_failures(rows, "evaluation"),
        coverage=_coverage(idea),
        started_at=idea["started_at"],
        finished_at=idea["finished_at"],
    )


def _module(name: str, rows: Mapping[str, Sequence[Row]]) -> ModuleEvaluation:
    fields: dict[str, Any] = {"failures": _failures(rows, name)}
    for field, held in MODULE_ROWS[name].fields.items():
        found = rows.get(held.table, ())
        ordered = list(found) if held.single else _ordered(found)
        nouns = tuple(noun_of(TABLE[held.table].noun, row, held.renamed) for row in ordered)
        fields[field] = (nouns[0] if nouns else None) if held.single else nouns
        if held.beside is not None:
            companion, column = held.beside
            fields[companion] = tuple(row[column] for row in ordered)
    return MODULE_ROWS[name].kind(**fields)


def _failures(rows: Mapping[str, Sequence[Row]], recorded_by: str) -> tuple[Failure, ...]:
    return tuple(
        noun_of(Failure, row)
        for row in _ordered(rows.get("failures", ()))
        if row["recorded_by"] == recorded_by
    )


def _ordered(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["position"])


def noun_of(kind: type[NounT], row: Row, renamed: Mapping[str, str] | None = None) -> NounT:
    """The noun that `row_of` made a row of, from the columns that bear its fields' names.

    Reading is lax: lists become tuples, words become enums. A column that its row was written
        before
    is NULL, and the field's default stands for it.
    """
    values = {
        name: _read(field.annotation, row[name])
        for name, field in kind.model_fields.items()
        if name in row and (row[name] is not None or field.is_required())
    }
    if "provenance" in kind.model_fields:
        values["provenance"] = _provenance(row, renamed or {}) if row["step"] is not None else None
    return kind.model_validate(values, strict=False)


def _read(annotation: Any, value: Any) -> Any:
    return orjson.loads(value) if get_origin(annotation) is dict else value


def _provenance(row: Row, renamed: Mapping[str, str]) -> Provenance:
    columns = {field: column for column, field in renamed.items()}
    return Provenance.model_validate(
        {name: row[columns.get(name, name)] for name in Provenance.model_fields}, strict=False
    )


def _idea_row(
    evaluation: IdeaEvaluation, incomplete_reason: str | None, reused_from: RunId | None
) -> Row:
    return row_of(
        TABLE["ideas"],
        evaluation.idea,
        {
            "run_id": evaluation.run_id,
            "evaluation_key": evaluation.evaluation_key,
            "profile": evaluation.profile,
            "engine": evaluation.engine,
            "literature": evaluation.literature,
            **{f"{name}_requested": name in evaluation.modules for name in MODULE_ROWS},
            "incomplete_reason": incomplete_reason,
            "reused_from_run_id": reused_from,
            "state": None,
            "state_reason": None,
            "started_at": evaluation.started_at,
            "finished_at": evaluation.finished_at,
            **_coverage_columns(evaluation.coverage),
        },
    )


def _coverage_columns(coverage: FieldCoverage | None) -> Row:
    return {
        "field_covered": coverage.covered if coverage else None,
        "field_coverage_0_to_1": coverage.probability_0_to_1 if coverage else None,
        "field_coverage_detail": coverage.detail if coverage else None,
    }


def _coverage(idea: Row) -> FieldCoverage | None:
    """The inverse of `_coverage_columns`; a row of before the columns were there has none."""
    if idea.get("field_covered") is None:
        return None
    return FieldCoverage(
        covered=idea["field_covered"],
        probability_0_to_1=idea["field_coverage_0_to_1"],
        detail=idea["field_coverage_detail"],
    )


def _failure_rows(evaluation: IdeaEvaluation, ids: Row) -> list[Row]:
    sources = {name: module.failures for name, module in evaluation.modules.items()} | {
        "evaluation": evaluation.failures
    }
    noticed: dict[Failure, str] = {}
    for recorded_by, failures in sources.items():
        for failure in failures:
            noticed.setdefault(failure, recorded_by)
    return [
        row_of(TABLE["failures"], failure, ids | {"position": n, "recorded_by": recorded_by})
        for n, (failure, recorded_by) in enumerate(noticed.items())
    ]


def row_of(table: Table, noun: Noun, known: Row, renamed: Mapping[str, str] | None = None) -> Row:
    """One row: the noun's field or property of that name, else what is `known`, else its
    provenance's.
    """
    provenance = getattr(noun, "provenance", None)
    fields = type(noun).model_fields
    row: Row = {}
    for name in table.column_names:
        if name in fields or isinstance(getattr(type(noun), name, None), property):
            row[name] = _plain(table, name, getattr(noun, name))
        elif name in known:
            row[name] = _plain(table, name, known[name])
        else:
            row[name] = _plain(
                table, name, getattr(provenance, (renamed or {}).get(name, name), None)
            )
    return row


def _plain(table: Table, name: str, value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, dict):
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    if isinstance(value, datetime) and value.tzinfo is None:
        raise PublicationError(
            f"{table.name}.{name} holds a time without a time zone: {value.isoformat()}; use UTC"
        )
    return value
