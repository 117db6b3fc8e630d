"""Runs of ideas: their declaration, and how an evaluation is landed, found and taken over.

landing/run=<run>/idea=<key>/<table>.parquet, receipt.json
landing/run=<run>/rejected.parquet
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import orjson

from schemas.base import Severity, replace
from schemas.errors import ConfigurationError, PublicationError
from schemas.failure import LEFT_OUT
from schemas.idea import Idea, RejectedIdea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.evaluation import IdeaEvaluation, Receipt
from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import Run, RunState
from schemas.standing import standing_of_run
from schemas.tables import IDEA_TABLES, TABLE
from warehouse.kinds.rankings.landing import drop_stale_rankings
from warehouse.kinds.runs.standing import VOTE_TABLE, standing_of_rows, unanswered_in_rows
from warehouse.landed import read_rows
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, rejection_rows, rows_of
from warehouse.units import landing, shared
from warehouse.units.kind import Given, Kind
from warehouse.validate.violations import ExpectationResult, examples_of

if TYPE_CHECKING:  # workers land without the database
    import duckdb

    from warehouse.warehouse import Warehouse


def _totals(rows: Rows) -> dict[str, Any]:
    calls = rows.get("llm_calls", [])
    return {
        "cost_usd": _cost_usd(calls),
        "llm_calls": len(calls),
        "api_calls": len(rows.get("api_calls", ())),
        "failures": sum(row["stage"] != LEFT_OUT for row in rows.get("failures", ())),
        "unscored": sum(
            row.get("unscored_reason") is not None
            for name, found in rows.items()
            if name != VOTE_TABLE
            for row in found
        ),
        **standing_of_rows(rows).model_dump(),
        **unanswered_in_rows(rows),
    }


def with_standing(rows: Rows) -> Rows:
    """The rows of an evaluation, that of the idea with its state."""
    (idea,) = rows["ideas"]
    return rows | {"ideas": [idea | standing_of_rows(rows).model_dump(mode="json")]}


def _cost_usd(calls: Sequence[Row]) -> float | None:
    paid = [call for call in calls if not call["cache_hit"]]
    if any(call["cost_usd"] is None for call in paid):
        return None
    return float(sum(call["cost_usd"] or 0.0 for call in calls))


def _weights(run: Run) -> Row:
    return {f"{module}_weight": weight for module, weight in run.score_weights}


def _evaluated_twice(receipts: Sequence[Receipt]) -> tuple[ExpectationResult]:
    counted = Counter(receipt.idea_id for receipt in receipts)
    repeated = [
        {"idea_id": idea_id, "evaluations": count}
        for idea_id, count in counted.items()
        if count > 1
    ]
    return (
        ExpectationResult(
            "every_idea_is_evaluated_once",
            Severity.CRITICAL,
            "ideas",
            "idea_id",
            len(receipts),
            len(repeated),
            examples_of(repeated),
        ),
    )


def _concluded(run: Run, receipts: Sequence[Receipt]) -> Run:
    """The run as its receipts tell."""
    complete = sum(receipt.complete for receipt in receipts)
    spent = any(each.incomplete_reason is Reason.BUDGET_EXHAUSTED for each in receipts)
    standing = standing_of_run(
        receipts,
        idea_count=run.idea_count,
        rejected_count=run.rejected_count,
        allowed_unscored_share=run.allowed_unscored_share,
    )
    return replace(
        run,
        evaluated_count=complete,
        failed_count=max(0, run.idea_count - complete),
        state=RunState.BUDGET_EXHAUSTED if spent else RunState.PUBLISHED,
        **dict(standing),
    )


def refused(run: Run, broken: Sequence[str]) -> Run:
    """A run that was not published since critical checks were broken."""
    reasons = (*(f"not published: {each}" for each in broken), *run.order_reasons)
    return replace(run, state=RunState.NOT_PUBLISHED, in_order=False, order_reasons=reasons)


def _settle(connection: "duckdb.DuckDBPyConnection", run: Run) -> None:
    drop_stale_rankings(connection, run.run_id)


def _announce(layout: Layout, receipt: Receipt) -> None:
    """So that no receipt is ever without its entry in the index; a look-up checks the receipt
    itself.
    """
    folder = layout.receipt_index(receipt.evaluation_key)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / receipt.run_id).touch()
    shared.note_run(layout, folder, receipt.run_id)


RUNS = Kind(
    folders={"run": "run_id"},
    unit=("idea", "evaluation_key"),
    receipt=Receipt,
    head=Run,
    head_table="runs",
    tables=tuple(table.name for table in IDEA_TABLES),
    checks=("checks", "ideas"),
    artefact=(Artefact.REVIEW, "idea_id"),
    given=Given(
        "idea",
        "ideas",
        ("title", "text", "problem", "method", "experiment", "cutoff_date", "metadata"),
        Artefact.IDEA,
    ),
    remedy="remove its folder to evaluate the idea again",
    publish_again="run it again to publish it anew",
    loose_files={"failures": "rejected.parquet"},
    loose_rows={"failures": "recorded_by = 'read_ideas'"},
    unit_column="idea_id",
    totals=_totals,
    head_columns=_weights,
    receipt_rules=_evaluated_twice,
    concluded=_concluded,
    settle=_settle,
    announce=_announce,
)


def land(
    layout: Layout,
    evaluation: IdeaEvaluation,
    *,
    incomplete_reason: Reason | None = None,
    reused_from: RunId | None = None,
) -> Receipt:
    """Write everything an evaluation produced; afterwards it exists, or nothing has changed.

    Args:
        incomplete_reason: budget_exhausted, worker_lost, …; None when the evaluation ran to its
            end.
        reused_from: the run that paid for the evaluation, when this one did not.

    Raises:
        PublicationError: a row does not fit its table.
    """
    rows = rows_of(evaluation, incomplete_reason=incomplete_reason, reused_from=reused_from)
    receipt = Receipt(
        evaluation_key=evaluation.evaluation_key,
        run_id=evaluation.run_id,
        idea_id=evaluation.idea.idea_id,
        incomplete_reason=incomplete_reason,
        reused_from_run_id=reused_from,
        started_at=evaluation.started_at,
        finished_at=evaluation.finished_at,
        **dict(standing_of_rows(rows)),
    )
    return landing.land(layout, RUNS, with_standing(rows), receipt)


def reuse(
    warehouse: "Warehouse", key: EvaluationKey, from_run: RunId, to_run: RunId, idea: Idea
) -> Receipt:
    """Land an evaluation that another run paid for under `to_run`, for `idea`.

    The idea has the same content, maybe another name or group. The rows say the same; the calls
    stay with the run that paid for them.

    Raises:
        ConfigurationError: `from_run` has not landed `key`, or the lake cannot be opened.
        PublicationError: the rows are neither in landing nor in the lake.
    """
    receipt = landing.read_receipt(warehouse, RUNS, from_run, key)
    if receipt is None:
        raise ConfigurationError(f"run {from_run} has no evaluation {key} to reuse")
    paid_by = receipt.reused_from_run_id or from_run
    rows: Rows = {
        name: [row | {"run_id": to_run, "idea_id": idea.idea_id} for row in landed]
        for name, landed in _rows_landed(warehouse, receipt).items()
        if name not in landing.CALL_TABLES
    }
    fresh = {
        name: getattr(idea, name)
        for name in ("idea_id", "title", "problem", "method", "experiment", "group", "duplicate_of")
    }
    fresh |= {
        "duplicate_similarity_0_to_1": idea.duplicate_similarity_0_to_1,
        "metadata": orjson.dumps(idea.metadata, option=orjson.OPT_SORT_KEYS).decode(),
        "reused_from_run_id": paid_by,
    }
    rows["ideas"] = [row | fresh for row in rows["ideas"]]
    taken_over = replace(receipt, run_id=to_run, idea_id=idea.idea_id, reused_from_run_id=paid_by)
    return landing.land(warehouse, RUNS, with_standing(rows), taken_over)


def _rows_landed(warehouse: "Warehouse", receipt: Receipt) -> Rows:
    """The rows of an idea, from landing or, where its files were let go, from the lake."""
    folder = RUNS.folder_of(warehouse, receipt)
    mark = folder / shared.LET_GO
    try:
        if not mark.exists():
            return {
                name: read_rows(TABLE[name], folder / f"{name}.parquet")
                for name, count in receipt.rows.items()
                if count
            }
    except PublicationError:
        if not mark.exists():  # else they went while they were read
            raise
    from warehouse.units.letting_go import rows_in_lake  # workers land without the database

    with warehouse.reader() as connection:
        return rows_in_lake(connection, warehouse, RUNS, receipt)


def land_rejections(layout: Layout, run_id: RunId, rejected: Sequence[RejectedIdea]) -> None:
    """Keep the entries of an idea file that could not enter,
    replacing those of an earlier attempt.
    """
    rows = {"failures": rejection_rows(run_id, rejected)}
    landing.write_loose_file(layout, RUNS, "failures", rows, run_id)


def find_receipt(layout: Layout, key: EvaluationKey) -> Receipt | None:
    """A complete evaluation of `key` in any run, preferring the run that paid for it; None: none.

    Evaluations that ended early are not found: they are to be made again.
    """
    index = layout.receipt_index(key)
    here = frozenset(path.name for path in index.glob("*"))
    return _complete_of(layout, key, here) or _complete_of(
        layout, key, shared.runs_of(layout, index) - here
    )


def _complete_of(layout: Layout, key: EvaluationKey, runs: Iterable[str]) -> Receipt | None:
    receipts = (landing.read_receipt(layout, RUNS, run, key) for run in sorted(runs))
    complete = [receipt for receipt in receipts if receipt is not None and receipt.complete]
    return min(complete, key=lambda receipt: receipt.reused_from_run_id is not None, default=None)
