"""`assay runs show` says of an unpublished run what it has spent, and of nothing else."""

import asyncio
import json
from pathlib import Path

import pytest

from flows.cli.answer import EXIT_DONE, EXIT_USAGE
from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget
from tests.flows.conftest import Assay
from tests.support.evaluations import make_llm_call
from tests.support.tiers import some
from tests.support.work_of_every_kind import WORKS
from warehouse.units.landing import write_head
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    return Warehouse(tmp_path / "warehouse")


def spend(warehouse: Warehouse, run: str) -> None:
    async def call() -> None:
        budget = SharedBudget(warehouse.budgets, RunId(run), Budget())
        budget.settle(await budget.reserve(IdeaId("i1")), cost_usd=0.25, tokens=7)

    asyncio.run(call())


def send(warehouse: Warehouse, run: str, *, is_answered: bool) -> None:
    """Send a call of an estimated 0.03 USD, which costs 0.01 USD if it is answered."""

    async def sent() -> None:
        budget = SharedBudget(warehouse.budgets, RunId(run), Budget())
        reservation = await budget.reserve(IdeaId("i1"), cost_usd=0.03, tokens=5)
        call = make_llm_call(IdeaId("i1"), 0, call_id=reservation.reservation_id, cost_usd=None)
        budget.send(reservation, f"runs/run_id={run}/shard=0", call)
        if is_answered:
            known = replace(call, cost_usd=0.01)
            budget.settle(reservation, cost_usd=0.01, tokens=5, call=known)

    asyncio.run(sent())


@pytest.fixture
def runs(assay: Assay, warehouse: Warehouse) -> Assay:
    return lambda *words: assay("runs", *words, "--warehouse", warehouse.root)


def test_the_spending_of_a_stopped_run_is_shown_with_and_without_a_lake(
    warehouse: Warehouse, runs: Assay
) -> None:
    spend(warehouse, "stopped")
    for _ in range(2):
        shown = runs("show", "stopped")
        assert (shown.returncode, "0.25" in shown.stdout) == (EXIT_DONE, True)
        assert "is not published: run the same command again to resume it" in shown.stderr
        work = WORKS[0]
        work.land(warehouse, 0, "call-0")
        publish(warehouse, work.kind, work.head(warehouse))


def test_the_cost_of_a_stopped_run_says_how_much_of_it_is_estimated_for_how_many_calls(
    warehouse: Warehouse, runs: Assay
) -> None:
    spend(warehouse, "stopped")
    for is_answered in (False, True):
        send(warehouse, "stopped", is_answered=is_answered)
    line = "0.0300 USD of its cost are estimates for 1 call"
    assert line in runs("show", "stopped").stderr
    (row,) = json.loads(runs("show", "stopped", "--json").stdout)["rows"]
    assert (row["estimated_usd"], row["estimated_calls"]) == (0.03, 1)
    assert row["cost_usd"] == pytest.approx(0.25 + 0.03 + 0.01)


def test_without_a_lake_the_list_names_the_runs_that_have_spent(
    warehouse: Warehouse, runs: Assay
) -> None:
    warehouse.root.mkdir()
    listed = runs("list")
    assert (listed.returncode, "no lake in" in listed.stderr) == (EXIT_USAGE, True)
    spend(warehouse, "stopped")
    listed = runs("list")
    assert "stopped │ not published" in " ".join(listed.stdout.split())
    assert "`assay runs show RUN`" in listed.stderr
    answer = json.loads(runs("list", "--json").stdout)
    assert answer["rows"] == []
    assert "stopped" in answer["warnings"][0]


@pytest.mark.parametrize("word", some(("survey", "curation", "check"), "survey".__eq__))
def test_published_work_of_another_kind_is_not_called_unpublished(
    word: str, warehouse: Warehouse, runs: Assay
) -> None:
    (work,) = [work for work in WORKS if work.kind.word == word]
    work.prepare(warehouse)
    for number in range(2):
        work.land(warehouse, number, f"call-{number}")
    write_head(warehouse, work.kind, work.head(warehouse))
    assert publish(warehouse, work.kind, work.head(warehouse)).published
    (name,) = work.names
    for has_spent in (False, True):
        if has_spent:
            spend(warehouse, name)
        shown = runs("show", name)
        assert (shown.returncode, shown.stdout) == (EXIT_USAGE, "")
        assert "is no run of ideas" in shown.stderr
    (row,) = json.loads(runs("list", "--json").stdout)["rows"]
    assert (row["kind"], row["run_id"]) == (word, name)
    assert word in runs("list").stdout


def test_a_catalogue_that_was_moved_is_an_error(warehouse: Warehouse, runs: Assay) -> None:
    spend(warehouse, "stopped")
    warehouse.moved_catalogue.parent.mkdir(parents=True, exist_ok=True)
    warehouse.moved_catalogue.touch()
    shown = runs("show", "stopped")
    assert shown.returncode == EXIT_USAGE
    assert "was moved to PostgreSQL" in shown.stderr
