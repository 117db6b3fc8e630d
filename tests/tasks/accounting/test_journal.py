"""Calls are journalled as they are sent, so that a kill loses neither a row nor a cost."""

import ast
import asyncio
import os
import signal
import socket
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import tasks
from schemas.calls import LlmCall
from schemas.errors import BudgetExhaustedError, ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget, Spend
from tests.support.children import start_child
from tests.support.evaluations import make_llm_call
from warehouse.stores.budget_file import BudgetFile, process_is_alive
from warehouse.units.landing import journalled_calls
from warehouse.warehouse import Warehouse

IDEA, RUN, UNIT = IdeaId("i1"), RunId("r1"), "run=r1/idea=a"
ANSWERED = make_llm_call(IDEA, 0, call_id="answered", cost_usd=0.25)
LOST = make_llm_call(IDEA, 1, call_id="lost", cost_usd=None)


async def _send(warehouse: Warehouse, budget: Budget) -> None:
    shared = SharedBudget(warehouse.budgets, RUN, budget)
    first = await shared.reserve(IDEA, cost_usd=0.5, tokens=9)
    shared.send(first, UNIT, LOST)
    shared.settle(first, cost_usd=0.25, tokens=7, call=ANSWERED)
    second = await shared.reserve(IDEA, cost_usd=0.5, tokens=9)
    shared.send(second, UNIT, LOST)


def _send_and_die(root: Path, budget: Budget) -> None:
    asyncio.run(_send(Warehouse(root), budget))
    os.kill(os.getpid(), signal.SIGKILL)


def killed(root: Path, budget: Budget) -> Warehouse:
    start_child(_send_and_die, root, budget).join()
    return Warehouse(root)


@pytest.mark.parametrize(
    "budget", [Budget(), Budget(maximum_cost_usd=5.0)], ids=["free", "bounded"]
)
def test_a_killed_call_stays_with_unknown_cost_and_counts_as_its_estimate(
    budget: Budget, tmp_path: Path
) -> None:
    warehouse = killed(tmp_path, budget)
    calls: list[LlmCall] = journalled_calls(warehouse, UNIT)
    assert [(call.call_id, call.cost_usd) for call in calls] == [
        ("answered", 0.25),
        ("lost", None),
    ]
    shared = SharedBudget(warehouse.budgets, RUN, budget)
    for scope in (None, IDEA):
        assert shared.spent(scope) == Spend(cost_usd=0.75, tokens=16), "counted once"
        assert shared.spent(scope) == Spend(cost_usd=0.75, tokens=16), "and not again"


@pytest.mark.parametrize("storage", ["file"], indirect=True)
async def test_keys_are_masked_in_the_journal(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-0123456789")  # type: ignore[attr-defined]
    warehouse = Warehouse(tmp_path)
    shared = SharedBudget(warehouse.budgets, RUN, Budget())
    reservation = await shared.reserve(IDEA)
    call = make_llm_call(IDEA, 0, error="refused canary-0123456789")
    shared.send(reservation, UNIT, call)
    shared.settle(reservation, call=call)
    assert [call.error for call in journalled_calls(warehouse, UNIT)] == ["refused ***"]
    assert b"canary" not in warehouse.budgets.read_bytes()


def test_every_shard_names_the_unit_its_calls_land_with() -> None:
    shards = sorted(Path(tasks.__file__).parent.glob("*/*shard.py"))
    ledgers = [
        (path.name, len(node.args) + len(node.keywords))
        for path in shards
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Ledger"
    ]
    assert [name for name, _ in ledgers] == ["evaluate_shard.py", "rank_shard.py", "shard.py"]
    assert {count for _, count in ledgers} == {2}, ledgers


async def test_an_answer_to_a_call_that_was_given_up_replaces_the_estimate(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    bounds = Budget(maximum_cost_usd=5.0)
    living, others = (
        SharedBudget(warehouse.budgets, RUN, bounds),
        BudgetFile(warehouse.budgets, RUN, bounds, is_alive=lambda _: False),
    )
    first = await living.reserve(IDEA, cost_usd=0.5, tokens=9)
    living.send(first, UNIT, LOST)
    assert others.admit("another", IDEA, 0.0, 0), "which gives up calls of the dead"
    assert living.spent() == Spend(cost_usd=0.5, tokens=9)
    living.settle(first, cost_usd=0.25, tokens=7, call=ANSWERED)
    for scope in (None, IDEA):
        assert living.spent(scope) == Spend(cost_usd=0.25, tokens=7)


async def test_looking_at_what_was_spent_gives_up_no_call(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    bounds = Budget(maximum_cost_usd=1.0)
    living = SharedBudget(warehouse.budgets, RUN, bounds)
    reservation = await living.reserve(IDEA, cost_usd=2.0, tokens=9)
    living.send(reservation, UNIT, LOST)
    elsewhere = BudgetFile(warehouse.budgets, RUN, bounds, is_alive=lambda _: False)
    assert elsewhere.spent("") == (2.0, 9, 0), "an unanswered call counts as its estimate"
    assert not living._file.admit("second", IDEA, 0.5, 1), "the first is still in flight"


async def test_calls_of_other_runs_are_not_given_up(tmp_path: Path) -> None:
    warehouse, other = Warehouse(tmp_path), RunId("r2")
    bounds = Budget(maximum_cost_usd=1.0)
    living = SharedBudget(warehouse.budgets, RUN, bounds)
    await living.reserve(IDEA, cost_usd=2.0, tokens=9)
    elsewhere = BudgetFile(warehouse.budgets, other, bounds, is_alive=lambda _: False)
    assert elsewhere.admit("first", IDEA, 0.1, 1)
    assert not living._file.admit("second", IDEA, 0.5, 1), "the first is still in flight"


async def test_processes_of_other_machines_are_taken_to_be_alive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse = killed(tmp_path, Budget(maximum_cost_usd=0.6))
    monkeypatch.setattr(socket, "gethostname", lambda: "another-container")
    file = BudgetFile(warehouse.budgets, RUN, Budget(maximum_cost_usd=0.6))
    assert not file.admit("third", IDEA, 0.1, 1), "the call is in flight over there"
    monkeypatch.undo()
    with pytest.raises(BudgetExhaustedError):
        file.admit("third", IDEA, 0.1, 1)


@pytest.mark.parametrize("storage", ["file"], indirect=True)
async def test_a_file_that_cannot_be_used_is_not_to_be_deleted(tmp_path: Path) -> None:
    path = tmp_path / "budgets.sqlite"
    path.write_bytes(b"no database at all " * 100)
    with pytest.raises(ConfigurationError, match=r"restore it; deleting it loses the spending"):
        SharedBudget(path, RUN, Budget()).spent()


@pytest.mark.parametrize("storage", ["file"], indirect=True)
async def test_a_journalled_call_that_is_none_is_told_in_one_line(tmp_path: Path) -> None:
    warehouse = killed(tmp_path, Budget())
    file = BudgetFile(warehouse.budgets, RUN, Budget())
    for call in ("no JSON", "[1]", "{}", None):
        with closing(sqlite3.connect(warehouse.budgets, isolation_level=None)) as database:
            database.execute("update journal set call = ?", [call])
        for read in (lambda: journalled_calls(warehouse, UNIT), file.estimated_spend):
            with pytest.raises(ConfigurationError, match="something else than a call") as told:
                read()
            assert "\n" not in str(told.value)


@pytest.mark.parametrize("storage", ["file"], indirect=True)
async def test_spending_that_no_run_can_have_is_told_in_one_line(tmp_path: Path) -> None:
    warehouse = killed(tmp_path, Budget(maximum_cost_usd=5.0))
    with closing(sqlite3.connect(warehouse.budgets, isolation_level=None)) as database:
        database.execute("update spent set tokens = 'many', cost_usd = -3.0")
    with pytest.raises(ConfigurationError, match="bring them back from a copy"):
        SharedBudget(warehouse.budgets, RUN, Budget()).spent()


def test_a_holder_whose_number_is_none_does_not_work_any_more() -> None:
    for number in ("x", "9" * 40):
        assert not process_is_alive(f"process {number} on {socket.gethostname()}")
