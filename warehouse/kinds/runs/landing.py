"""Declaration of runs of ideas, landing of evaluations and look-up by key.

landing/run=<run>/idea=<key>/<table>.parquet, receipt.json
landing/run=<run>/run.json
landing/run=<run>/failures.parquet         rejected entries of the idea file
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from schemas.base import replace
from schemas.failure import LEFT_OUT, Failure, commonest_cause
from schemas.idea import RejectedIdea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.evaluation import IdeaEvaluation, Receipt
from schemas.people.ledger import Artefact
from schemas.reasons import Reason, reason_named
from schemas.run import Module, Run, RunState
from schemas.standing import IdeaStanding, ModuleStanding, standing_of_idea
from schemas.tables import IDEA_TABLES, TABLE
from warehouse.kinds.rankings.landing import drop_stale_rankings
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, row_of
from warehouse.units import bucket, landing
from warehouse.units.kind import Kind
from warehouse.units.unit_rows import land_unit

READ_IDEAS = "read_ideas"
"""Recorder of rejected entries."""


def _totals(rows: Rows) -> dict[str, Any]:
    calls, standing = rows.get("llm_calls", []), standing_of_rows(rows)
    return {
        "cost_usd": _cost_usd(calls),
        "llm_calls": len(calls),
        "api_calls": len(rows.get("api_calls", ())),
        "failures": sum(row["stage"] != LEFT_OUT for row in rows.get("failures", ())),
        "unscored": sum(
            row.get("unscored_reason") is not None
            for name, table_rows in rows.items()
            if name != VOTE_TABLE
            for row in table_rows
        ),
        **standing.model_dump(),
        **unanswered_in_rows(rows, standing.state_reason),
    }


def _cost_usd(calls: Sequence[Row]) -> float | None:
    paid_calls = [call for call in calls if not call["cache_hit"]]
    if any(call["cost_usd"] is None for call in paid_calls):
        return None
    return float(sum(call["cost_usd"] or 0.0 for call in calls))


def refused_run(run: Run, expectations: Sequence[str]) -> Run:
    """Return the run as unpublished, with the critical expectations that it broke."""
    reasons = (*(f"not published: {each}" for each in expectations), *run.order_reasons)
    return replace(run, state=RunState.NOT_PUBLISHED, in_order=False, order_reasons=reasons)


RUNS = Kind(
    folders={"run": "run_id"},
    unit=("idea", "evaluation_key"),
    noun=IdeaEvaluation,
    head=Run,
    receipt=Receipt,
    tables=tuple(table.name for table in IDEA_TABLES),
    artefact=Artefact.REVIEW,
    input_columns=("title", "text", "problem", "method", "experiment", "cutoff_date", "metadata"),
    extra_tables={"failures": f"recorded_by = '{READ_IDEAS}'"},
    unit_column="idea_id",
    totals=_totals,
    settle=lambda connection, run: drop_stale_rankings(connection, run.run_id),
)


def land(
    layout: Layout, evaluation: IdeaEvaluation, *, incomplete_reason: Reason | None = None
) -> Receipt:
    """Write an evaluation atomically.

    Args:
        incomplete_reason: such as budget_exhausted or worker_lost; None if complete.

    Raises:
        PublicationError: a row does not fit its table.
    """
    if incomplete_reason is not None:
        evaluation = replace(evaluation, incomplete_reason=incomplete_reason)
    # Before its receipt exists: no receipt is ever without its entry, which a look-up checks.
    folder = layout.receipt_index(evaluation.evaluation_key)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / evaluation.run_id).touch()
    bucket.add_run(layout, folder, evaluation.run_id)
    times = evaluation.started_at, evaluation.finished_at
    return land_unit(layout, RUNS, evaluation.run_id, evaluation, *times)


def land_rejections(layout: Layout, run_id: RunId, rejections: Sequence[RejectedIdea]) -> None:
    """Write the rejected entries of an idea file, replacing those of an earlier attempt."""
    rows = []
    for position, entry in enumerate(rejections):
        failure = Failure(
            stage=READ_IDEAS, subject=entry.location, reason=entry.reason, detail=entry.detail
        )
        keys = {"run_id": run_id, "idea_id": entry.idea_id, "position": position}
        rows.append(row_of(TABLE["failures"], failure, keys | {"recorded_by": READ_IDEAS}))
    landing.write_extra_rows(layout, RUNS, "failures", {"failures": rows}, run_id)


def find_receipt(layout: Layout, key: EvaluationKey) -> Receipt | None:
    """Return a complete evaluation of `key` in any run, preferring the run that paid for it.

    Incomplete evaluations are not returned: they have to be repeated.
    """
    index = layout.receipt_index(key)
    local_runs = frozenset(path.name for path in index.glob("*"))
    return _complete_receipt(layout, key, local_runs) or _complete_receipt(
        layout, key, bucket.runs_of(layout, index) - local_runs
    )


def _complete_receipt(layout: Layout, key: EvaluationKey, runs: Iterable[str]) -> Receipt | None:
    receipts = (landing.read_receipt(layout, RUNS, run, key) for run in sorted(runs))
    complete = [receipt for receipt in receipts if receipt is not None and receipt.complete]
    return min(complete, key=lambda receipt: receipt.reused_from_run_id is not None, default=None)


@dataclass(frozen=True, slots=True)
class _Judgements:
    """A table of judgements that contributes to a module's score.

    Attributes:
        score: the column of the score; None: it has none of its own.
        about: the table with one judgement per row; None: judged items are not listed.
    """

    table: str
    score: str | None = None
    about: str | None = None


_JUDGEMENTS: dict[Module, tuple[_Judgements, ...]] = {
    Module.SOUNDNESS: (_Judgements("soundness_reviews", "score_0_to_10", about="methods"),),
    Module.CONTRIBUTION: (
        _Judgements("comparisons", "score"),
        _Judgements("contribution_reviews", about="dimensions"),
    ),
    Module.COMMITTEE: (_Judgements("persona_reviews", "score_0_to_10"),),
    Module.NOVELTY: (_Judgements("novelty", "score_1_to_5"),),
    Module.ASSESSMENT: (_Judgements("assessments", "probability_0_to_1"),),
}
VOTE_TABLE = "judge_votes"
"""A missing vote leaves the judgement to the other judges: only the judgement's own row is
unscored.
"""
_SUMMARIES = {Module.SOUNDNESS: "soundness_summaries", Module.COMMITTEE: "meta_reviews"}
"""Tables with the reason why a module could judge nothing."""


def standing_of_rows(rows: Rows) -> IdeaStanding:
    (idea,) = rows["ideas"]
    has_assessment = idea[f"{Module.ASSESSMENT}_requested"]
    modules = [
        _module_standing(module, rows, has_assessment)
        for module in Module
        if idea[f"{module}_requested"]
    ]
    incomplete_reason = reason_named(idea["incomplete_reason"])
    return standing_of_idea(
        modules, [*_failures("evaluate", rows), *([incomplete_reason] if incomplete_reason else [])]
    )


def unanswered_in_rows(rows: Rows, why: Reason | None) -> dict[str, Any]:
    """Return `cause` and `unanswered` of the receipt of the one idea in `rows`.

    Args:
        why: its `state_reason`.
    """
    unanswered_tables: dict[str, tuple[Reason, str]] = {}
    for table, table_rows in rows.items():
        engine_failures = [
            (reason, str(row.get("unscored_detail") or ""))
            for row in table_rows
            if (reason := reason_named(row.get("unscored_reason"))) and reason.engine_failed
        ]
        if table != VOTE_TABLE and 2 * len(engine_failures) > len(table_rows):
            ((reason, _),) = Counter(reason for reason, _ in engine_failures).most_common(1)
            details = (detail for each, detail in engine_failures if each is reason)
            unanswered_tables[table] = (reason, commonest_cause(details))
    causes = (str(row["detail"]) for row in rows.get("failures", ()) if row["reason"] == why)
    return {"cause": commonest_cause(causes), "unanswered": unanswered_tables}


def _module_standing(module: Module, rows: Rows, has_assessment: bool) -> ModuleStanding:
    """Return a module's standing.

    Args:
        has_assessment: whether the idea has an assessment; then missing evidence is no gap.
    """
    parts = _JUDGEMENTS[module]
    has_score = any(
        row[part.score] is not None
        for part in parts
        if part.score is not None
        for row in rows.get(part.table, ())
    )
    has_gap = any(
        part.about is not None and len(rows.get(part.about, ())) > len(rows.get(part.table, ()))
        for part in parts
    )
    tables = [part.table for part in parts]
    if not has_score and module in _SUMMARIES:
        tables.append(_SUMMARIES[module])
    reasons = [
        reason
        for table in tables
        for row in rows.get(table, ())
        if (reason := reason_named(row["unscored_reason"])) is not None
    ]
    is_whole = has_score and not has_gap and not reasons
    if not (is_whole or reasons):
        reasons = list(_failures(module, rows))
    if not (is_whole or reasons) and rows["ideas"][0]["field_covered"] is False:
        reasons = [Reason.FIELD_NOT_COVERED]  # nothing was judged
    engine_failures = [reason for reason in reasons if not reason.is_lack_of_evidence]
    if has_assessment and len(engine_failures) < len(reasons) and not has_gap:
        reasons, is_whole = engine_failures, not engine_failures
    return ModuleStanding(scored=has_score, whole=is_whole, reasons=tuple(reasons))


def _failures(stage: str, rows: Rows) -> Iterator[Reason]:
    """Yield the reasons for judgements whose rows are missing."""
    for row in rows.get("failures", ()):
        reason = reason_named(row["reason"])
        if row["stage"] == stage and reason is not None:
            yield reason
