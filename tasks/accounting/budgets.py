"""Budgets of a run and of each idea, shared by all of its workers and kept through kills."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from schemas.calls import LlmCall
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from warehouse.stores.budget_file import WHOLE_RUN, BudgetFile, Spend, reached

__all__ = ["SharedBudget", "Spend"]

_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Reservation:
    """Leave for one call that has not been settled yet."""

    reservation_id: str
    idea_id: IdeaId
    estimate: Spend


class SharedBudget:
    """The budget of one run.

    `await reserve(...)` before a call and `settle(...)` after it. While something is left, a call
    is let in; where only calls in flight stand between what is spent and the bound, it waits until
    they are settled. So the overshoot is at most what the calls in flight cost above their
    estimates. Reservations of processes that died are forgotten. Literature requests are counted
    where they are bounded.

    Where the catalogue is in PostgreSQL, its database keeps the budget for all machines.

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
        """Leave for one model call with this estimate.

        Raises:
            BudgetExhaustedError: the run's or the idea's budget is spent.
        """
        estimate = Spend(cost_usd=cost_usd, tokens=tokens)
        reservation = Reservation(uuid.uuid4().hex, idea_id, estimate)
        if self.bounded:
            request = (reservation.reservation_id, idea_id, cost_usd, tokens)
            # What is waited for may happen in another process, which sets no event here.
            while not self._file.admit(*request):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
        return reservation

    def send(self, reservation: Reservation, unit: str, call: LlmCall) -> None:
        """Journal a call that is about to be sent, for the unit it is made for.

        `call` is the row that stands if no answer comes. Without a unit nothing would ever land it.
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
        """Replace the estimate by what the call used, and its row in the journal by `call`.

        A cost of None (unknown) counts as the estimate.
        """
        known_usd = reservation.estimate.cost_usd if cost_usd is None else cost_usd
        row = call.model_dump_json() if call is not None else ""
        self._file.settle(reservation.reservation_id, reservation.idea_id, known_usd, tokens, row)

    def count_request(self, idea_id: IdeaId) -> None:
        """Leave for one literature request, counted at once: a request costs the same whatever
        comes back.

        Raises:
            BudgetExhaustedError: the run's literature requests are spent.
        """
        if self.budget.maximum_requests is not None:
            self._file.count_request(idea_id)

    def charge(self, batch: str, by_idea: Mapping[IdeaId, Spend]) -> None:
        """Charge a batch to its ideas, in place of what was charged before: estimated when it is
        submitted, known when it has ended.
        """
        self._file.charge(batch, by_idea)

    def spent(self, idea_id: IdeaId | None = None) -> Spend:
        """Return what the run, or one idea of it, has spent so far over all processes."""
        cost_usd, tokens, requests = self._file.spent(idea_id or WHOLE_RUN)
        return Spend(cost_usd=cost_usd, tokens=tokens, requests=requests)

    def reached(self) -> tuple[str, ...]:
        """The fields of the budget that the whole run has spent."""
        spent = self.spent()
        amounts = {
            "maximum_cost_usd": spent.cost_usd,
            "maximum_tokens": spent.tokens,
            "maximum_requests": spent.requests,
        }
        return tuple(
            field
            for field, amount in amounts.items()
            if reached(amount, getattr(self.budget, field))
        )

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._file.close()
