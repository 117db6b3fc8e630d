"""Deleting a run: its rows, landed files, reports and log; what stays is a line of the ledger."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import orjson
from pydantic import Field

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.ledger import Artefact, LedgerAction, LedgerEntry
from schemas.run import Run
from warehouse.compact import remove_batches
from warehouse.lake import open_writer, transaction
from warehouse.layout import Layout
from warehouse.ledger import append
from warehouse.queries import open_queries
from warehouse.rankings.landing import RANKINGS
from warehouse.runs.landing import RUNS
from warehouse.shared_reports import forget_reports
from warehouse.statements import table_statement
from warehouse.units import shared
from warehouse.units.landing import bring, iterate_receipts, landed_names


class DeletedRun(Noun):
    """One line of the ledger: what was deleted, and what it had cost."""

    run: Run
    cost_usd: float | None = Field(description="Of its calls with a known price.")
    llm_calls: int
    bytes_freed: int = Field(ge=0, description="Of landed files, reports and the log.")
    deleted_at: datetime


def ledger_path(layout: Layout) -> Path:
    """JSON Lines, one `DeletedRun` a line, appended to."""
    return layout.state / "deleted_runs.jsonl"


def delete_run(layout: Layout, run_id: RunId, *, catalogue_url: str | None = None) -> DeletedRun:
    """Delete a published run with its rankings. Evaluations that other runs took over stay theirs.

    Its files in the lake go with the next `compact` whose snapshots no longer read them. The caller
    holds the run's lock. Interrupted, it is done whole by the same call again.

    Raises:
        ConfigurationError: the run is not published.
        TransientError: a publisher is at work.
        PublicationError: the lake could not be changed.
    """
    with open_queries(layout, catalogue_url=catalogue_url) as queries:
        run, cost = queries.run(run_id), queries.run_cost(run_id)
        sql = table_statement("published_names", table="rankings", columns="run_id, ranking_id")
        known = queries.connection.execute(sql).fetchall()
    rankings = {ranking for of_run, ranking in known if of_run == run_id}
    rankings |= {ranking for _, ranking in landed_names(layout, RANKINGS, run_id)}
    folders, log = (RUNS.folder(layout, run_id), layout.reports / run_id), layout.log(run_id)
    files = (*(path for folder in folders for path in _files(folder)), *log.parent.glob(log.name))
    deleted = DeletedRun(
        run=run,
        cost_usd=cost.cost_usd,
        llm_calls=cost.llm_calls,
        bytes_freed=sum(path.lstat().st_size for path in files),
        deleted_at=datetime.now(UTC),
    )
    _note(layout, deleted)
    # From here on no other run takes over what is about to go.
    _forget_evaluations(layout, run_id)
    for ranking_id in rankings:
        shared.forget_work(layout, RANKINGS.folder(layout, run_id, ranking_id))
    shared.forget_work(layout, folders[0])
    forget_reports(layout, layout.reports / run_id)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    log.unlink(missing_ok=True)
    for path in (layout.state / "runs" / run_id).glob("*.json"):
        path.unlink(missing_ok=True)
    remove_batches(layout, run_id)
    shutil.rmtree(layout.state / "rankings" / run_id, ignore_errors=True)
    with (
        open_writer(layout, catalogue_url=catalogue_url) as connection,
        transaction(connection, RUNS.titled(run_id)),
    ):
        tables = {*RUNS.published_tables, *RANKINGS.published_tables}
        for name in sorted(table.name for table in tables):
            sql = table_statement("delete_rows", table=name, condition="run_id = $run_id")
            connection.execute(sql, {"run_id": run_id})
        append(connection, [_entry(deleted)])
    return deleted


def _forget_evaluations(layout: Layout, run_id: RunId) -> None:
    bring(layout, RUNS, run_id)  # else those that landed on other machines would be found again
    for receipt in iterate_receipts(layout, RUNS, run_id):
        index = layout.receipt_index(receipt.evaluation_key)
        shared.forget_run(layout, index, run_id)
        (index / run_id).unlink(missing_ok=True)


def _entry(deleted: DeletedRun) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.PUBLICATION,
        run_id=deleted.run.run_id,
        action=LedgerAction.DELETED,
        participant_id=None,
        role=None,
        step=None,
        happened_at=deleted.deleted_at,
    )


def _note(layout: Layout, deleted: DeletedRun) -> None:
    path = ledger_path(layout)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.write(orjson.dumps(deleted.model_dump(mode="json")) + b"\n")


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
