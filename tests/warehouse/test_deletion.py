"""A deleted run is gone from lake, landing and reports; the ledger says that it was there."""

import asyncio
import shutil
from datetime import timedelta
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest

from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.ranking import ranking_budget_scope
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget, Spend
from tests.support.evaluations import make_evaluation, make_run
from tests.support.rankings import land_group, make_head, make_ranked_group
from warehouse.compact import compact
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.kinds.runs.deletion import delete_run
from warehouse.kinds.runs.landing import RUNS, find_receipt, land
from warehouse.kinds.runs.reuse import reuse
from warehouse.units.deletion import deletions_path
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.verify.verify import verify
from warehouse.warehouse import Warehouse

FIRST, SECOND = RunId("run-a"), RunId("run-b")


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """The second took the first idea over from the first. Not to be changed."""
    warehouse = Warehouse(tmp_path_factory.mktemp("two-runs") / "w")
    for number in range(2):
        land(warehouse, make_evaluation(number))
    assert publish(warehouse, RUNS, make_run(ideas=2)).published
    first = make_evaluation(0)
    reuse(warehouse, first.evaluation_key, FIRST, SECOND, replace(first.idea, group="new"))
    assert publish(warehouse, RUNS, make_run("run-b", ideas=1)).published
    (warehouse.reports / FIRST).mkdir(parents=True)
    (warehouse.reports / FIRST / "index.md").write_text("x" * 1000)
    warehouse.log(FIRST).parent.mkdir()
    warehouse.log(FIRST).write_text("y" * 1_000_000)
    return warehouse


@pytest.fixture
def warehouse(two_runs: Warehouse, tmp_path: Path) -> Warehouse:
    return Warehouse(shutil.copytree(two_runs.root, tmp_path / "w"))


def test_a_deleted_run_is_gone_and_the_ledger_and_other_runs_stay(warehouse: Warehouse) -> None:
    with warehouse.queries() as queries:
        other, cost = queries.ranking(SECOND), queries.run_cost(FIRST)
    deleted = delete_run(warehouse, FIRST)
    assert deleted.bytes_freed > 1_001_000
    assert not warehouse.log(FIRST).exists()
    assert not (warehouse.reports / FIRST).exists()
    assert not RUNS.folder(warehouse, FIRST).exists()
    with warehouse.queries() as queries:
        assert [run.run_id for run in queries.list_runs()] == [SECOND]
        assert queries.ranking(SECOND) == other
        left = queries.connection.execute("select count(*) from ideas").fetchall()
    assert left == [(1,)]
    (line,) = deletions_path(warehouse).read_bytes().splitlines()
    told = orjson.loads(line)
    assert (told["run"]["run_id"], told["cost_usd"]) == (FIRST, cost.cost_usd)
    assert verify(warehouse).sound


def test_no_file_keeps_rows_of_a_run_that_was_deleted_past_the_next_compaction(
    warehouse: Warehouse,
) -> None:
    """Else every question reads which of its rows are gone."""
    compact(warehouse)
    delete_run(warehouse, FIRST)
    compact(warehouse, keep=timedelta(0))
    with warehouse.reader() as connection:
        (gone,) = connection.execute(
            "select sum(delete_file_count) from ducklake_table_info('lake')"
        ).fetchall()
        (left,) = connection.execute(
            "select count(distinct run_id), count(*) > 0 from comparisons"
        ).fetchall()
    assert (gone, left) == ((0,), (1, True))
    files = (warehouse.data / "main" / "comparisons").rglob("*.parquet")
    held = {run for file in files for run in pq.read_table(file)["run_id"].to_pylist()}
    assert held == {SECOND}


def test_an_evaluation_that_only_a_deleted_run_held_is_made_anew(warehouse: Warehouse) -> None:
    both, alone = (make_evaluation(number).evaluation_key for number in range(2))
    delete_run(warehouse, FIRST)
    found = find_receipt(warehouse, both)
    assert found is not None
    assert found.run_id == SECOND
    assert find_receipt(warehouse, alone) is None


def test_the_rankings_of_a_deleted_run_go_with_it(warehouse: Warehouse) -> None:
    ideas = [IdeaId(make_evaluation(number).idea.idea_id) for number in range(2)]
    group = make_ranked_group(ideas)
    land_group(warehouse, group)
    head = make_head(warehouse, [group])
    write_head(warehouse, RANKINGS, head)
    assert publish(warehouse, RANKINGS, head).published
    spent = SharedBudget(warehouse.budgets, ranking_budget_scope(FIRST), Budget())
    spent.settle(asyncio.run(spent.reserve(ideas[0])), cost_usd=0.25, tokens=7)
    delete_run(warehouse, FIRST)
    assert spent.spent() == Spend()
    with warehouse.queries() as queries:
        for table in ("rankings", "ratings", "matches", "llm_calls"):
            sql = f"select count(*) from {table} where run_id = 'run-a'"
            assert queries.connection.execute(sql).fetchall() == [(0,)]


def test_two_runs_are_compared_idea_by_idea(two_runs: Warehouse) -> None:
    with two_runs.queries() as queries:
        rows = queries.rows("compare_runs", before=FIRST, after=SECOND)
    assert {row["idea_id"]: row["change"] for row in rows} == {
        "idea-00000": "regrouped",
        "idea-00001": "gone",
    }
