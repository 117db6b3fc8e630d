"""Deletion of a run of ideas with its rankings."""

import shutil

from schemas.identifiers import RunId
from schemas.judgement.ranking import ranking_budget_scope
from schemas.run import Run
from warehouse.compact import remove_batches
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.landing import RUNS
from warehouse.units import bucket
from warehouse.units.deletion import Deleted, delete_work, forget_spending
from warehouse.units.kind import published_names
from warehouse.units.landing import fetch_work, iterate_receipts, landed_names
from warehouse.warehouse import Warehouse


def delete_run(warehouse: Warehouse, run_id: RunId) -> Deleted[Run]:
    """Delete a published run with its rankings; see `delete_work`.

    Evaluations that other runs have reused stay with them.
    """
    with warehouse.queries() as queries:
        published_rankings = published_names(queries.connection, RANKINGS)
    rankings = {ranking for of_run, ranking in published_rankings if of_run == run_id}
    rankings |= {ranking for _, ranking in landed_names(warehouse, RANKINGS, run_id)}

    def before() -> None:
        # From here on no other run reuses evaluations of this run.
        fetch_work(warehouse, RUNS, run_id)  # also units that landed on other machines
        for receipt in iterate_receipts(warehouse, RUNS, run_id):
            index = warehouse.receipt_index(receipt.evaluation_key)
            bucket.remove_run(warehouse, index, run_id)
            (index / run_id).unlink(missing_ok=True)
        for ranking_id in rankings:
            bucket.remove_work(warehouse, RANKINGS.folder(warehouse, run_id, ranking_id))
        forget_spending(warehouse, ranking_budget_scope(run_id), RUNS.folder(warehouse, run_id))
        remove_batches(warehouse, run_id)
        shutil.rmtree(warehouse.state / "rankings" / run_id, ignore_errors=True)

    return delete_work(warehouse, RUNS, run_id, with_it=(RANKINGS,), before=before)
