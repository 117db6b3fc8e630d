"""Runs of ideas: their declaration, and how an evaluation is landed and found.

landing/run=<run>/idea=<key>/<table>.parquet, receipt.json
landing/run=<run>/run.json
landing/run=<run>/failures.parquet         entries that could not enter
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from schemas.base import replace
from schemas.failure import LEFT_OUT, Failure
from schemas.idea import RejectedIdea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.evaluation import IdeaEvaluation, Receipt
from schemas.people.ledger import Artefact
from schemas.reasons import Reason
from schemas.run import Run, RunState
from schemas.tables import IDEA_TABLES, TABLE
from warehouse.kinds.rankings.landing import drop_stale_rankings
from warehouse.kinds.runs.standing import VOTE_TABLE, standing_of_rows, unanswered_in_rows
from warehouse.layout import Layout
from warehouse.rows import Row, Rows, row_of
from warehouse.units import landing, shared
from warehouse.units.kind import Kind
from warehouse.units.record import land_unit

if TYPE_CHECKING:  # workers land without the database
    from warehouse.catalogue.connection import Connection


READ_IDEAS = "read_ideas"
"""Who recorded entries that could not enter."""


def _totals(rows: Rows) -> dict[str, Any]:
    calls, standing = rows.get("llm_calls", []), standing_of_rows(rows)
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
        **standing.model_dump(),
        **unanswered_in_rows(rows, standing.state_reason),
    }


def _cost_usd(calls: Sequence[Row]) -> float | None:
    paid = [call for call in calls if not call["cache_hit"]]
    if any(call["cost_usd"] is None for call in paid):
        return None
    return float(sum(call["cost_usd"] or 0.0 for call in calls))


def refused(run: Run, broken: Sequence[str]) -> Run:
    """A run that was not published since critical checks were broken."""
    reasons = (*(f"not published: {each}" for each in broken), *run.order_reasons)
    return replace(run, state=RunState.NOT_PUBLISHED, in_order=False, order_reasons=reasons)


def _settle(connection: "Connection", run: Run) -> None:
    drop_stale_rankings(connection, run.run_id)


RUNS = Kind(
    folders={"run": "run_id"},
    unit=("idea", "evaluation_key"),
    noun=IdeaEvaluation,
    head=Run,
    receipt=Receipt,
    tables=tuple(table.name for table in IDEA_TABLES),
    artefact=Artefact.REVIEW,
    given=("title", "text", "problem", "method", "experiment", "cutoff_date", "metadata"),
    beside={"failures": f"recorded_by = '{READ_IDEAS}'"},
    unit_column="idea_id",
    totals=_totals,
    settle=_settle,
)


def land(
    layout: Layout, evaluation: IdeaEvaluation, *, incomplete_reason: Reason | None = None
) -> Receipt:
    """Write everything an evaluation produced; afterwards it exists, or nothing has changed.

    Args:
        incomplete_reason: budget_exhausted, worker_lost, …; None when the evaluation ran to its
            end.

    Raises:
        PublicationError: a row does not fit its table.
    """
    if incomplete_reason is not None:
        evaluation = replace(evaluation, incomplete_reason=incomplete_reason)
    _announce(layout, evaluation)
    times = evaluation.started_at, evaluation.finished_at
    return land_unit(layout, RUNS, evaluation.run_id, evaluation, *times)


def _announce(layout: Layout, evaluation: IdeaEvaluation) -> None:
    """So that no receipt is ever without its entry in the index; a look-up checks the receipt
    itself.
    """
    folder = layout.receipt_index(evaluation.evaluation_key)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / evaluation.run_id).touch()
    shared.note_run(layout, folder, evaluation.run_id)


def land_rejections(layout: Layout, run_id: RunId, rejected: Sequence[RejectedIdea]) -> None:
    """Keep the entries of an idea file that could not enter,
    replacing those of an earlier attempt.
    """
    rows = []
    for position, entry in enumerate(rejected):
        failure = Failure(
            stage=READ_IDEAS, subject=entry.location, reason=entry.reason, detail=entry.detail
        )
        known = {"run_id": run_id, "idea_id": entry.idea_id, "position": position}
        rows.append(row_of(TABLE["failures"], failure, known | {"recorded_by": READ_IDEAS}))
    landing.write_beside(layout, RUNS, "failures", {"failures": rows}, run_id)


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
