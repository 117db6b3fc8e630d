"""Durable budgets of a run and its ideas, shared by all workers."""

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from schemas.base import replace
from schemas.calls import LlmCall
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from warehouse.stores.budget_file import WHOLE_RUN, BudgetFile, Spend, is_reached

if TYPE_CHECKING:  # workers open no warehouse
    from warehouse.warehouse import Warehouse

__all__ = ["SharedBudget", "Spend", "remaining"]

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Reservation:
    """A reservation for one call that is not settled yet."""

    reservation_id: str
    idea_id: IdeaId
    estimate: Spend


class SharedBudget:
    """The budget of one run.

    Call `reserve` before a call and `settle` after it. A call is admitted while budget is left; if
    only calls in flight could exhaust it, it waits until they are settled. The overshoot is at most
    the cost of calls in flight above their estimates. Reservations of dead processes are dropped.
    Literature requests are counted only if limited.

    With a catalogue in PostgreSQL, its database holds the budget for all machines.

    Raises:
        ConfigurationError: the file, or the database, cannot be used.
    """

    def __init__(self, path: Path, run_id: RunId, budget: Budget) -> None:
        self.path = path
        self.run_id = run_id
        self.budget = budget
        self.bounded = any(bound is not None for bound in budget.model_dump().values())
        self._file = BudgetFile(path, run_id, budget)

    async def reserve(
        self, idea_id: IdeaId, *, cost_usd: float = 0.0, tokens: int = 0
    ) -> Reservation:
        """Reserve budget for one model call with this estimate.

        Raises:
            BudgetExhaustedError: the run's or the idea's budget is spent.
        """
        estimate = Spend(cost_usd=cost_usd, tokens=tokens)
        reservation = Reservation(uuid.uuid4().hex, idea_id, estimate)
        if self.bounded:
            request = (reservation.reservation_id, idea_id, cost_usd, tokens)
            # Polled, because another process may settle the calls in flight.
            while not self._file.admit(*request):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
        return reservation

    def send(self, reservation: Reservation, unit: str, call: LlmCall) -> None:
        """Journal a call and its unit before the call is sent.

        `call` is the row that is recorded if no answer comes. Calls without a unit are not
        journaled.
        """
        if not unit:
            return
        self._file.send(
            reservation.reservation_id,
            reservation.idea_id,
            unit,
            call.model_dump_json(),
            reservation.estimate.cost_usd,
            reservation.estimate.tokens,
        )

    def settle(
        self,
        reservation: Reservation,
        *,
        cost_usd: float | None = 0.0,
        tokens: int = 0,
        call: LlmCall | None = None,
    ) -> None:
        """Replace the estimate and the journaled row by actual use and `call`.

        A cost of None (unknown) counts as the estimate.
        """
        known_usd = reservation.estimate.cost_usd if cost_usd is None else cost_usd
        row = call.model_dump_json() if call is not None else ""
        self._file.settle(reservation.reservation_id, reservation.idea_id, known_usd, tokens, row)

    def count_request(self, idea_id: IdeaId) -> None:
        """Count one literature request.

        Raises:
            BudgetExhaustedError: the run's literature requests are spent.
        """
        if self.budget.maximum_requests is not None:
            self._file.count_request(idea_id)

    def charge(self, batch: str, by_idea: Mapping[IdeaId, Spend]) -> None:
        """Charge a batch to its ideas, replacing its earlier charge.

        The earlier charge is an estimate until the batch ends.
        """
        self._file.charge(batch, by_idea)

    def spent(self, idea_id: IdeaId | None = None) -> Spend:
        """Return the spending of the run or one idea over all processes."""
        cost_usd, tokens, requests = self._file.spent(idea_id or WHOLE_RUN)
        return Spend(cost_usd=cost_usd, tokens=tokens, requests=requests)

    def reached(self) -> tuple[str, ...]:
        """Return the budget fields that the run has exhausted."""
        spending = self.spent()
        amounts = {
            "maximum_cost_usd": spending.cost_usd,
            "maximum_tokens": spending.tokens,
            "maximum_requests": spending.requests,
        }
        return tuple(
            field
            for field, amount in amounts.items()
            if is_reached(amount, getattr(self.budget, field))
        )

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        self._file.close()


def remaining(budget: Budget, warehouse: "Warehouse", others: Sequence[RunId]) -> Budget:
    """Return the budget minus the spending of `others`.

    These are published runs of the same command.
    """
    if budget == Budget() or not others:
        return budget
    with warehouse.queries() as queries:
        (spent_row,) = queries.rows("spent_by_runs", run_ids=list(others))
    rest = {
        name: max(bound - spent_row[name], 0)
        for name in ("maximum_cost_usd", "maximum_tokens", "maximum_requests")
        if (bound := getattr(budget, name)) is not None
    }
    return replace(budget, **rest)
