"""Deletion of published work: rows, landed files, reports and log.

A ledger entry and a line in `state/deleted_runs.jsonl` record it.
"""

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic

import orjson
from pydantic import Field, SerializeAsAny

from schemas.base import Noun
from schemas.identifiers import RunId
from schemas.people.ledger import Artefact, LedgerAction, LedgerEntry
from schemas.run import Budget
from schemas.text.plain_files import remove_files
from warehouse.lake import transaction
from warehouse.ledger import append
from warehouse.reports import forget_reports
from warehouse.statements import table_statement
from warehouse.stores.budget_file import BudgetFile
from warehouse.units import bucket
from warehouse.units.kind import HeadT, Kind
from warehouse.units.published_work import published_head
from warehouse.warehouse import Warehouse


class Deleted(Noun, Generic[HeadT]):
    """A deleted work, and its cost."""

    kind: str = Field(description="What it was: run, draft, survey and so on.")
    run: SerializeAsAny[HeadT] = Field(description="Its head, as it was published.")
    cost_usd: float = Field(description="Of its calls with a known price.")
    llm_calls: int = Field(ge=0)
    bytes_freed: int = Field(ge=0, description="Of landed files, reports and the log.")
    deleted_at: datetime


def deletions_path(warehouse: Warehouse) -> Path:
    """Return the file of deletions: JSON Lines of `Deleted`."""
    return warehouse.state / "deleted_runs.jsonl"


def delete_work(
    warehouse: Warehouse,
    kind: Kind[Any, Any, HeadT],
    run_id: RunId,
    *,
    with_it: tuple[Kind, ...] = (),
    before: Callable[[], None] = lambda: None,
) -> Deleted[HeadT]:
    """Delete a published work that is named by its run_id. The caller holds its lock.

    Its files in the lake are deleted by a later `compact`, once no snapshot reads them. An
    interrupted deletion is finished by the same call.

    Args:
        with_it: kinds of dependent work, whose rows are deleted too.
        before: further deletions, called after the deletion is recorded.

    Raises:
        UnknownNameError: it is not published.
        ConfigurationError: this user may only read the lake.
        TransientError: a publisher holds the lock.
        PublicationError: the lake could not be changed.
    """
    warehouse.check_may_publish()  # before any deletion
    with warehouse.queries() as queries:
        head = published_head(queries.connection, kind, run_id)
        (costs,) = queries.rows("spent_by_runs", run_ids=[run_id])
    log = warehouse.log(run_id)
    folders = (kind.folder(warehouse, run_id), warehouse.reports / run_id)
    files = (*(path for folder in folders for path in _files(folder)), *log.parent.glob(log.name))
    deletion = Deleted[HeadT](
        kind=kind.word,
        run=head,
        cost_usd=costs["maximum_cost_usd"],
        llm_calls=costs["llm_calls"],
        bytes_freed=sum(path.lstat().st_size for path in files),
        deleted_at=datetime.now(UTC),
    )
    deletions = deletions_path(warehouse)
    deletions.parent.mkdir(parents=True, exist_ok=True)
    with deletions.open("ab") as lines:
        lines.write(orjson.dumps(deletion.model_dump(mode="json")) + b"\n")
    before()
    forget_spending(warehouse, run_id, folders[0])
    bucket.remove_work(warehouse, folders[0])
    forget_reports(warehouse, warehouse.reports / run_id)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    log.unlink(missing_ok=True)
    for folder in {warehouse.state / f"{kind.word}s" / run_id, warehouse.work(run_id)}:
        # Its lock stays, which is held.
        names = [path.name for path in (*folder.glob("*.json"), *folder.glob("*.md"))]
        if names:
            remove_files(warehouse.state.resolve() / folder.relative_to(warehouse.state), names)
    with (
        warehouse.publisher() as connection,
        transaction(connection, kind.title(run_id)),
    ):
        tables = {table for each in (kind, *with_it) for table in each.published_tables}
        for name in sorted(table.name for table in tables):
            sql = table_statement("delete_rows", table=name, condition="run_id = $run_id")
            connection.execute(sql, {"run_id": run_id})
        append(connection, [_entry(run_id, deletion.deleted_at)])
    return deletion


def forget_spending(warehouse: Warehouse, scope: RunId, folder: Path) -> None:
    """Delete spending and journal of a deleted work.

    Args:
        scope: name under which the budget was recorded.
        folder: its landing folder.
    """
    with closing(BudgetFile(warehouse.budgets, scope, Budget())) as file:
        file.forget(folder.relative_to(warehouse.landing).as_posix())


def _entry(run_id: RunId, deleted_at: datetime) -> LedgerEntry:
    return LedgerEntry(
        artefact=Artefact.PUBLICATION,
        run_id=run_id,
        action=LedgerAction.DELETED,
        participant_id=None,
        role=None,
        step=None,
        happened_at=deleted_at,
    )


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
