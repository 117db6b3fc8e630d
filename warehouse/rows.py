"""Nouns to rows and back. A field and its column bear the same name; what differs is written here."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from typing import Any, TypeVar

import orjson

from schemas.base import Noun
from schemas.calls import ApiCall, LlmCall
from schemas.citation import Citation
from schemas.columns import Table
from schemas.contribution import Candidate, Comparison, ContributionEvaluation, ContributionReview, Dimension
from schemas.errors import PublicationError
from schemas.evaluation import IdeaEvaluation
from schemas.failure import Failure
from schemas.idea import Idea, RejectedIdea
from schemas.identifiers import RunId
from schemas.outcome import Provenance
from schemas.paper import Paper, PaperSection, Passage
from schemas.soundness import Method, MethodEvidence, SoundnessEvaluation, SoundnessReview, SoundnessSummary
from schemas.tables import TABLE

Row = dict[str, Any]
Rows = dict[str, list[Row]]
NounT = TypeVar("NounT", bound=Noun)

_RENAMED = {("candidates", "model_seed"): "seed"}


def rows_of(evaluation: IdeaEvaluation, *, incomplete_reason: str | None = None, reused_from: RunId | None = None) -> Rows:
    """Every row of one evaluation by table name; tables without rows are left out."""
    soundness, contribution = evaluation.soundness, evaluation.contribution
    nouns: dict[str, Sequence[Noun]] = {
        "papers": evaluation.papers,
        "citations": evaluation.citations,
        "llm_calls": evaluation.llm_calls,
        "api_calls": evaluation.api_calls,
    }
    if soundness is not None:
        nouns |= {
            "methods": soundness.methods,
            "paper_sections": soundness.sections,
            "method_evidence": soundness.evidence,
            "soundness_reviews": soundness.reviews,
            "soundness_summaries": (soundness.summary,) if soundness.summary is not None else (),
        }
    if contribution is not None:
        nouns |= {
            "dimensions": contribution.dimensions,
            "candidates": contribution.candidates,
            "comparisons": contribution.comparisons,
            "contribution_reviews": contribution.reviews,
        }
    ids = {"run_id": evaluation.run_id, "idea_id": evaluation.idea.idea_id}
    rows: Rows = {"ideas": [_idea_row(evaluation, incomplete_reason, reused_from)]}
    rows |= {name: [_row(TABLE[name], noun, ids | {"position": n}) for n, noun in enumerate(found)] for name, found in nouns.items()}
    rows["passages"] = _passage_rows(soundness, ids) if soundness is not None else []
    rows["failures"] = _failure_rows(evaluation, ids)
    return {name: found for name, found in rows.items() if found}


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
            "retryable": False,
        }
        for position, entry in enumerate(rejected)
    ]


def evaluation_of(rows: Mapping[str, Sequence[Row]]) -> IdeaEvaluation:
    """The evaluation that `rows_of` took apart. Rows may come in any order.

    A failure that soundness or contribution and the evaluation both recorded comes back once.
    """
    (idea,) = rows["ideas"]

    def nouns(name: str, kind: type[NounT]) -> tuple[NounT, ...]:
        return tuple(_noun(kind, row) for row in _ordered(rows.get(name, ())))

    return IdeaEvaluation(
        run_id=idea["run_id"],
        evaluation_key=idea["evaluation_key"],
        idea=_noun(Idea, idea | {"metadata": orjson.loads(idea["metadata"])}),
        profile=idea["profile"],
        engine=idea["engine"],
        literature=idea["literature"],
        soundness=_soundness(rows) if idea["soundness_requested"] else None,
        contribution=_contribution(rows) if idea["contribution_requested"] else None,
        papers=nouns("papers", Paper),
        citations=nouns("citations", Citation),
        llm_calls=nouns("llm_calls", LlmCall),
        api_calls=nouns("api_calls", ApiCall),
        failures=_failures(rows, "evaluation"),
        started_at=idea["started_at"],
        finished_at=idea["finished_at"],
    )


def _soundness(rows: Mapping[str, Sequence[Row]]) -> SoundnessEvaluation:
    passages = _ordered(rows.get("passages", ()))
    summaries = rows.get("soundness_summaries", ())
    return SoundnessEvaluation(
        methods=tuple(_noun(Method, row) for row in _ordered(rows.get("methods", ()))),
        passages=tuple(_noun(Passage, row) for row in passages),
        passage_method_ids=tuple(row["method_id"] for row in passages),
        sections=tuple(_noun(PaperSection, row) for row in _ordered(rows.get("paper_sections", ()))),
        evidence=tuple(_noun(MethodEvidence, row) for row in _ordered(rows.get("method_evidence", ()))),
        reviews=tuple(_noun(SoundnessReview, row) for row in _ordered(rows.get("soundness_reviews", ()))),
        summary=_noun(SoundnessSummary, summaries[0]) if summaries else None,
        failures=_failures(rows, "soundness"),
    )


def _contribution(rows: Mapping[str, Sequence[Row]]) -> ContributionEvaluation:
    return ContributionEvaluation(
        dimensions=tuple(_noun(Dimension, row) for row in _ordered(rows.get("dimensions", ()))),
        candidates=tuple(_noun(Candidate, row, model_seed="seed") for row in _ordered(rows.get("candidates", ()))),
        comparisons=tuple(_noun(Comparison, row) for row in _ordered(rows.get("comparisons", ()))),
        reviews=tuple(_noun(ContributionReview, row) for row in _ordered(rows.get("contribution_reviews", ()))),
        failures=_failures(rows, "contribution"),
    )


def _failures(rows: Mapping[str, Sequence[Row]], recorded_by: str) -> tuple[Failure, ...]:
    return tuple(_noun(Failure, row) for row in _ordered(rows.get("failures", ())) if row["recorded_by"] == recorded_by)


def _ordered(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["position"])


def _noun(kind: type[NounT], row: Row, **provenance_columns: str) -> NounT:
    """Build `kind` from the columns that bear its fields' names. Reading is lax: lists become tuples, words become enums."""
    values = {name: row[name] for name in kind.model_fields if name in row}
    if "provenance" in kind.model_fields:
        values["provenance"] = _provenance(row, provenance_columns) if row["step"] is not None else None
    return kind.model_validate(values, strict=False)


def _provenance(row: Row, columns: dict[str, str]) -> Provenance:
    fields = {field: column for column, field in columns.items()}
    return Provenance.model_validate({name: row[fields.get(name, name)] for name in Provenance.model_fields}, strict=False)


def _idea_row(evaluation: IdeaEvaluation, incomplete_reason: str | None, reused_from: RunId | None) -> Row:
    return _row(
        TABLE["ideas"],
        evaluation.idea,
        {
            "run_id": evaluation.run_id,
            "evaluation_key": evaluation.evaluation_key,
            "metadata": orjson.dumps(evaluation.idea.metadata, option=orjson.OPT_SORT_KEYS).decode(),
            "profile": evaluation.profile,
            "engine": evaluation.engine,
            "literature": evaluation.literature,
            "soundness_requested": evaluation.soundness is not None,
            "contribution_requested": evaluation.contribution is not None,
            "incomplete_reason": incomplete_reason,
            "reused_from_run_id": reused_from,
            "started_at": evaluation.started_at,
            "finished_at": evaluation.finished_at,
        },
    )


def _passage_rows(soundness: SoundnessEvaluation, ids: Row) -> list[Row]:
    pairs = zip(soundness.passages, soundness.passage_method_ids, strict=True)
    return [_row(TABLE["passages"], passage, ids | {"position": n, "method_id": method_id}) for n, (passage, method_id) in enumerate(pairs)]


def _failure_rows(evaluation: IdeaEvaluation, ids: Row) -> list[Row]:
    sources = {
        "soundness": evaluation.soundness.failures if evaluation.soundness else (),
        "contribution": evaluation.contribution.failures if evaluation.contribution else (),
        "evaluation": evaluation.failures,
    }
    noticed: dict[Failure, str] = {}
    for recorded_by, failures in sources.items():
        for failure in failures:
            noticed.setdefault(failure, recorded_by)
    return [
        _row(TABLE["failures"], failure, ids | {"position": n, "recorded_by": recorded_by})
        for n, (failure, recorded_by) in enumerate(noticed.items())
    ]


def _row(table: Table, noun: Noun, known: Row) -> Row:
    """One row: what is `known`, else the noun's field of that name, else its provenance's."""
    provenance = getattr(noun, "provenance", None)
    fields = type(noun).model_fields
    row: Row = {}
    for name in table.column_names:
        if name in fields:
            row[name] = _plain(table, name, getattr(noun, name))
        elif name in known:
            row[name] = _plain(table, name, known[name])
        else:
            row[name] = _plain(table, name, getattr(provenance, _RENAMED.get((table.name, name), name), None))
    if table.name == "ideas":
        row["metadata"] = known["metadata"]
    return row


def _plain(table: Table, name: str, value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, datetime) and value.tzinfo is None:
        raise PublicationError(f"{table.name}.{name} holds a time without a time zone: {value.isoformat()}; use UTC")
    return value
