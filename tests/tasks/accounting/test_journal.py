"""Calls are journalled as they are sent, so that a kill loses neither a row nor a cost."""

import ast
import asyncio
import multiprocessing
import os
import signal
from pathlib import Path

import tasks
from schemas.calls import LlmCall
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget, Spend
from tests.support.evaluations import make_llm_call
from warehouse.layout import Layout
from warehouse.units.landing import journalled_calls

SPAWN = multiprocessing.get_context("spawn")
IDEA, RUN, UNIT = IdeaId("i1"), RunId("r1"), "run=r1/idea=a"
ANSWERED = make_llm_call(IDEA, 0, call_id="answered", cost_usd=0.25)
LOST = make_llm_call(IDEA, 1, call_id="lost", cost_usd=None)


async def _send(layout: Layout, budget: Budget) -> None:
    shared = SharedBudget(layout.budgets, RUN, budget)
    first = await shared.reserve(IDEA, cost_usd=0.5, tokens=9)
    shared.send(first, UNIT, LOST)
    shared.settle(first, cost_usd=0.25, tokens=7, call=ANSWERED)
    second = await shared.reserve(IDEA, cost_usd=0.5, tokens=9)
    shared.send(second, UNIT, LOST)


def _send_and_die(root: Path, budget: Budget) -> None:
    asyncio.run(_send(Layout(root), budget))
    os.kill(os.getpid(), signal.SIGKILL)


def killed(root: Path, budget: Budget) -> Layout:
    worker = SPAWN.Process(target=_send_and_die, args=(root, budget))
    worker.start()
    worker.join()
    return Layout(root)


def test_a_killed_call_stays_with_unknown_cost_and_counts_as_its_estimate(tmp_path: Path) -> None:
    for name, budget in (("free", Budget()), ("bounded", Budget(maximum_cost_usd=5.0))):
        layout = killed(tmp_path / name, budget)
        calls: list[LlmCall] = journalled_calls(layout, UNIT)
        assert [(call.call_id, call.cost_usd) for call in calls] == [
            ("answered", 0.25),
            ("lost", None),
        ]
        shared = SharedBudget(layout.budgets, RUN, budget)
        for scope in (None, IDEA):
            assert shared.spent(scope) == Spend(cost_usd=0.75, tokens=16), "counted once"
            assert shared.spent(scope) == Spend(cost_usd=0.75, tokens=16), "and not again"


async def test_keys_are_masked_in_the_journal(tmp_path: Path, monkeypatch: object) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-0123456789")  # type: ignore[attr-defined]
    layout = Layout(tmp_path)
    shared = SharedBudget(layout.budgets, RUN, Budget())
    reservation = await shared.reserve(IDEA)
    call = make_llm_call(IDEA, 0, error="refused canary-0123456789")
    shared.send(reservation, UNIT, call)
    shared.settle(reservation, call=call)
    assert [call.error for call in journalled_calls(layout, UNIT)] == ["refused ***"]
    assert b"canary" not in layout.budgets.read_bytes()


def test_every_shard_names_the_unit_its_calls_land_with() -> None:
    shards = [*Path(tasks.__file__).parent.glob("*/*_shard.py")]
    ledgers = [
        (path.name, len(node.args) + len(node.keywords))
        for path in shards
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Ledger"
    ]
    assert len(ledgers) >= 8
    assert {count for _, count in ledgers} == {2}, ledgers
