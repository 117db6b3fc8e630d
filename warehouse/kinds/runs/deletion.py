"""Deleting a run of ideas: with its rankings, and so that no other run takes over what went."""

import shutil

from schemas.identifiers import RunId
from schemas.judgement.ranking import ranking_budget_scope
from schemas.run import Run
from warehouse.compact import remove_batches
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS
from warehouse.layout import Layout
from warehouse.queries import open_queries
from warehouse.statements import table_statement
from warehouse.units import shared
from warehouse.units.deletion import Deleted, delete_work, forget_spending
from warehouse.units.landing import bring, iterate_receipts, landed_names


def delete_run(layout: Layout, run_id: RunId, *, catalogue_url: str | None = None) -> Deleted[Run]:
    """Delete a published run with its rankings; see `delete_work`. Evaluations that other runs took
    over stay theirs.
    """
    with open_queries(layout, catalogue_url=catalogue_url) as queries:
        sql = table_statement("published_names", table="rankings", columns="run_id, ranking_id")
        known = queries.connection.execute(sql).fetchall()
    rankings = {ranking for of_run, ranking in known if of_run == run_id}
    rankings |= {ranking for _, ranking in landed_names(layout, RANKINGS, run_id)}

    def before() -> None:
        # From here on no other run takes over what is about to go.
        _forget_evaluations(layout, run_id)
        for ranking_id in rankings:
            shared.forget_work(layout, RANKINGS.folder(layout, run_id, ranking_id))
        forget_spending(layout, ranking_budget_scope(run_id), RUNS.folder(layout, run_id))
        remove_batches(layout, run_id)
        shutil.rmtree(layout.state / "rankings" / run_id, ignore_errors=True)

    return delete_work(
        layout, RUNS, run_id, with_it=(RANKINGS,), before=before, catalogue_url=catalogue_url
    )


def _forget_evaluations(layout: Layout, run_id: RunId) -> None:
    bring(layout, RUNS, run_id)  # else those that landed on other machines would be found again
    for receipt in iterate_receipts(layout, RUNS, run_id):
        index = layout.receipt_index(receipt.evaluation_key)
        shared.forget_run(layout, index, run_id)
        (index / run_id).unlink(missing_ok=True)
