"""Nouns to rows and back.

A field and its column bear the same name; what differs is written here.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar, get_args, get_origin

import orjson

from schemas.base import Noun
from schemas.columns import Table
from schemas.errors import PublicationError
from schemas.failure import Failure
from schemas.idea import Idea, RejectedIdea
from schemas.identifiers import RunId
from schemas.judgement.evaluation import IdeaEvaluation, ModuleEvaluation
from schemas.literature.coverage import FieldCoverage
from schemas.reasons import Passes
from schemas.tables import TABLE
from warehouse.module_rows import MODULE_ROWS, Held

Row = dict[str, Any]
Rows = dict[str, list[Row]]
NounT = TypeVar("NounT", bound=Noun)
_PLAIN = frozenset({str, int, float, bool, date})

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
        row_of(TABLE[held.table], noun, ids | {"position": position} | known)
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
        found[name] = _module(name, unread) if idea[f"{name}_requested"] else None
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
        nouns = tuple(noun_of(TABLE[held.table].noun, row) for row in ordered)
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


def noun_of(kind: type[NounT], row: Row) -> NounT:
    """The noun that `row_of` made a row of, from the columns that bear its fields' names.

    Reading is lax: lists become tuples, words become enums.
    """
    values = {name: _read(as_json, row[name]) for name, as_json in _fields(kind) if name in row}
    for name, inner in nouns_in(kind).items():
        columns = {field: _column_of(kind, field, row) for field in inner.model_fields}
        first = next(iter(columns.values()))
        if name not in row and first in row:
            part = {field: row[column] for field, column in columns.items() if column in row}
            values[name] = noun_of(inner, part) if row[first] is not None else None
    return kind.model_validate(values, strict=False)


@cache
def _fields(kind: type[Noun]) -> tuple[tuple[str, bool], ...]:
    """The fields, each with whether its column holds JSON."""
    return tuple(
        (name, get_origin(field.annotation) is dict) for name, field in kind.model_fields.items()
    )


def _read(as_json: bool, value: Any) -> Any:
    return orjson.loads(value) if as_json else value


def _column_of(kind: type[Noun], field: str, row: Row) -> str:
    """Of a field of a noun within `kind`, which may have one of that name itself."""
    other = f"model_{field}"
    return other if field in kind.model_fields and other in row else field


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
    """The inverse of `_coverage_columns`."""
    if idea["field_covered"] is None:
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


def row_of(table: Table, noun: Noun, known: Row) -> Row:
    """One row: the noun's field or property of that name, else that of a noun it holds, such as its
    provenance, else what is `known`.
    """
    return {
        name: _plain(table, name, known.get(name) if holder is None else told(noun, holder, name))
        for name, holder in _holders(table.name, type(noun))
    }


def told(noun: Noun, holder: str, name: str) -> Any:
    """What a noun, or the one in its field `holder`, tells by the name of a column."""
    by = getattr(noun, holder) if holder else noun
    return None if by is None else getattr(by, name)


def holder_of(kind: type[Noun], name: str) -> str | None:
    """The field whose noun tells a column; empty: `kind` does itself; None: nothing does."""
    nouns = {"": kind, **nouns_in(kind)}
    return next((field for field, inner in nouns.items() if _tells(inner, name)), None)


@cache
def nouns_in(kind: type[Noun]) -> dict[str, type[Noun]]:
    """The type of every field that is one noun, or None."""
    held = {
        name: get_args(field.annotation) or (field.annotation,)
        for name, field in kind.model_fields.items()
        if get_origin(field.annotation) is not tuple
    }
    return {
        name: each
        for name, kinds in held.items()
        for each in kinds
        if isinstance(each, type) and issubclass(each, Noun)
    }


@cache
def _holders(table: str, kind: type[Noun]) -> tuple[tuple[str, str | None], ...]:
    return tuple((name, holder_of(kind, name)) for name in TABLE[table].column_names)


def _tells(kind: type[Noun], name: str) -> bool:
    return name in kind.model_fields or isinstance(getattr(kind, name, None), property)


def _plain(table: Table, name: str, value: Any) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
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
