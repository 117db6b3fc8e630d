import asyncio
import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from schemas.errors import BudgetExhaustedError
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from tasks.accounting.budgets import SharedBudget, Spend
from tests.support.children import CHILDREN, start_child

IDEA, OTHER, RUN = IdeaId("i1"), IdeaId("i2"), RunId("r1")


def _spend_until_exhausted(path: Path, calls: "multiprocessing.Queue[int]") -> None:
    async def spend() -> int:
        budget = SharedBudget(path, RUN, Budget(maximum_cost_usd=1.0))
        count = 0
        while True:
            try:
                reservation = await budget.reserve(IDEA, cost_usd=0.01, tokens=10)
            except BudgetExhaustedError:
                return count
            budget.settle(reservation, cost_usd=0.01, tokens=10)
            count += 1

    calls.put(asyncio.run(spend()))


def _reserve_and_die(path: Path) -> None:
    asyncio.run(
        SharedBudget(path, RUN, Budget(maximum_cost_usd=1.0)).reserve(IDEA, cost_usd=5.0, tokens=1)
    )
    os.kill(os.getpid(), signal.SIGKILL)


def test_workers_share_one_budget(tmp_path: Path) -> None:
    calls: multiprocessing.Queue[int] = CHILDREN.Queue()
    workers = [
        start_child(_spend_until_exhausted, tmp_path / "budget.sqlite", calls) for _ in range(3)
    ]
    total = sum(calls.get(timeout=240) for _ in workers)
    for worker in workers:
        worker.join()
    assert 100 <= total <= 101


async def test_a_spent_budget_stays_spent_after_a_restart(tmp_path: Path) -> None:
    for _ in range(2):
        budget = SharedBudget(tmp_path / "b.sqlite", RUN, Budget(maximum_tokens=100))
        try:
            budget.settle(await budget.reserve(IDEA, tokens=50), tokens=120)
        except BudgetExhaustedError as error:
            assert "100 tokens" in str(error)
        budget.close()
    assert budget.spent() == Spend(tokens=120)


async def test_calls_in_flight_are_waited_for_not_mistaken_for_spent(tmp_path: Path) -> None:
    budget = SharedBudget(tmp_path / "b.sqlite", RUN, Budget(maximum_cost_usd=1.0))
    first = await budget.reserve(IDEA, cost_usd=2.0, tokens=1)
    second = asyncio.create_task(budget.reserve(IDEA, cost_usd=0.5, tokens=1))
    await asyncio.sleep(0.1)
    assert not second.done()
    budget.settle(first, cost_usd=0.2, tokens=1)
    budget.settle(await second, cost_usd=0.9, tokens=1)
    with pytest.raises(BudgetExhaustedError, match=r"\$1\.00 is spent"):
        await budget.reserve(IDEA, cost_usd=0.1, tokens=1)


async def test_one_idea_may_be_out_of_money_while_others_go_on(tmp_path: Path) -> None:
    budget = SharedBudget(tmp_path / "b.sqlite", RUN, Budget(maximum_cost_usd_per_idea=0.1))
    budget.settle(await budget.reserve(IDEA, cost_usd=0.1, tokens=1), cost_usd=0.2, tokens=1)
    with pytest.raises(BudgetExhaustedError, match="idea i1"):
        await budget.reserve(IDEA, cost_usd=0.1, tokens=1)
    budget.settle(await budget.reserve(OTHER, cost_usd=0.1, tokens=1), cost_usd=0.05, tokens=1)
    assert budget.spent(OTHER) == Spend(cost_usd=0.05, tokens=1)
    assert budget.spent().tokens == 2


def test_literature_requests_have_their_own_bound(tmp_path: Path) -> None:
    budget = SharedBudget(
        tmp_path / "b.sqlite", RUN, Budget(maximum_requests=2, maximum_cost_usd=0.0)
    )
    for _ in range(2):
        budget.count_request(IDEA)
    with pytest.raises(BudgetExhaustedError, match="2 literature requests"):
        budget.count_request(IDEA)


async def test_an_unknown_price_counts_as_the_estimate(tmp_path: Path) -> None:
    budget = SharedBudget(tmp_path / "b.sqlite", RUN, Budget(maximum_cost_usd=1.0))
    budget.settle(await budget.reserve(IDEA, cost_usd=0.25, tokens=1), cost_usd=None, tokens=7)
    assert budget.spent() == Spend(cost_usd=0.25, tokens=7)


async def test_reservations_of_the_dead_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "b.sqlite"
    start_child(_reserve_and_die, path).join()
    budget = SharedBudget(path, RUN, Budget(maximum_cost_usd=1.0))
    async with asyncio.timeout(60):
        await budget.reserve(IDEA, cost_usd=0.1, tokens=1)


async def test_spending_without_bounds_is_known_to_every_process(tmp_path: Path) -> None:
    budget = SharedBudget(tmp_path / "b.sqlite", RUN, Budget())
    budget.count_request(IDEA)
    assert not budget.path.exists(), "literature requests are counted where they are bounded"
    budget.settle(await budget.reserve(IDEA, cost_usd=1.0, tokens=5), cost_usd=0.5, tokens=6)
    again = SharedBudget(tmp_path / "b.sqlite", RUN, Budget())
    assert again.spent() == Spend(cost_usd=0.5, tokens=6)
