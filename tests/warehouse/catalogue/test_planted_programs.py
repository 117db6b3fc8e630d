"""Files of SQLite hold no program of somebody else's: it would run whenever they are opened."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from schemas.errors import AssayError
from schemas.identifiers import RunId
from schemas.run import Budget
from tasks.judging.batches.questions import Questions
from tasks.literature.gateway.live_requests import RequestRecord
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import open_snapshot
from tests.support.paper_files import paper_rows, write_parquet
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.stores.budget_file import BudgetFile
from warehouse.stores.keyed_store import KeyedStore
from warehouse.warehouse import Warehouse


def budgets(folder: Path) -> Path:
    with closing(BudgetFile(folder / "budgets.sqlite", RunId("run-a"), Budget())) as file:
        file.spent("")
    return file.path


def cache(folder: Path) -> Path:
    with KeyedStore(folder / "cache.sqlite") as store:
        store.put_many({"key": b"value"})
    return store.path


def services(folder: Path) -> Path:
    with ServiceDatabase(Warehouse(folder)) as database:
        database.rows("tokens", "token")
    return services_file(Warehouse(folder))


def batches(folder: Path) -> Path:
    with closing(Questions(folder / "batches.sqlite")) as questions:
        questions.find("none")
    return folder / "batches.sqlite"


def requests(folder: Path) -> Path:
    RequestRecord(folder / "requests.sqlite", "example.org", 1.0).close()
    return folder / "requests.sqlite"


def snapshot(folder: Path) -> Path:
    source, index = folder / "p.parquet", folder / "index"
    if not index.exists():
        build_snapshot(write_parquet(source, paper_rows(3)), index)
    open_snapshot(index)
    return index / "papers.sqlite"


FILES = [budgets, cache, services, batches, requests, snapshot]
PROGRAMS = {
    "trigger": "create trigger planted after insert on {table} begin delete from {table}; end",
    "view": "create view planted as with recursive n(x) as (select 1 union all select x from n)"
    " select x from n",
    "virtual table": "create virtual table planted using fts5(x)",
}


@pytest.mark.parametrize("made", FILES, ids=lambda made: made.__name__)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_file_with_a_program_of_somebody_else_is_refused_in_one_line(
    program: str, made: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = made(tmp_path)
    made(tmp_path)  # as it is, it opens again
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        ((table,),) = file.execute(
            "select name from sqlite_master where type = 'table' order by name limit 1"
        ).fetchall()
        file.executescript(program.format(table=table))
    with pytest.raises(AssayError, match=r"'planted\w*', which Assay never makes") as refused:
        made(tmp_path)
    assert "\n" not in str(refused.value)
