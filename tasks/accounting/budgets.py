"""Budgets of a run and of each idea, shared by all of its workers and kept through kills."""

import asyncio
import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.errors import BudgetExhaustedError, ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from warehouse.owner import kept

# Longer than any call may take: whoever reserved this will not settle it any more.
_FORGET_AFTER_SECONDS = 900.0
_POLL_SECONDS = 0.05
_SCHEMA = """
create table if not exists spent (
    run_id text, idea_id text, cost_usd real, tokens integer, requests integer,
    primary key (run_id, idea_id));
create table if not exists reserved (
    reservation_id text primary key, run_id text, idea_id text, cost_usd real, tokens integer,
    owner text, at real);
create table if not exists charged (
    run_id text, batch text, idea_id text, cost_usd real, tokens integer,
    primary key (run_id, batch, idea_id));
"""
# Its columns by name: the file of a run begun by an earlier version has one column more.
_RESERVE = """
insert into reserved (reservation_id, run_id, idea_id, cost_usd, tokens, owner, at)
values (?, ?, ?, ?, ?, ?, ?)
"""
_WHOLE_RUN = ""


class Spend(Noun):
    """What was spent: settled calls only."""

    cost_usd: float = Field(default=0.0, ge=0)
    tokens: int = Field(default=0, ge=0)
    requests: int = Field(default=0, ge=0, description="Literature requests.")

    def plus(self, other: "Spend") -> "Spend":
        return Spend(
            cost_usd=self.cost_usd + other.cost_usd,
            tokens=self.tokens + other.tokens,
            requests=self.requests + other.requests,
        )


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
    estimates. Reservations of processes that died are forgotten. Without any bound nothing is
    written and only this process's spend is known.

    The file is that of the command: workers on other machines ask it (`warehouse/owner.py`).

    Raises:
        ConfigurationError: the file cannot be used.
        CommandGoneError: a worker elsewhere cannot reach the command that keeps it.
    """

    def __init__(self, path: Path, run_id: RunId, budget: Budget) -> None:
        self.path = path
        self.run_id = run_id
        self.budget = budget
        self.bounded = any(bound is not None for bound in budget.model_dump().values())
        self._local = Spend()
        names = {"run_id": run_id, **budget.model_dump()}
        self._file = kept("budget", names, BudgetFile(path, run_id, budget))

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
            asked = (reservation.reservation_id, idea_id, cost_usd, tokens)
            # What is waited for may happen in another process, which sets no event here.
            while not self._file.admit(*asked):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
        return reservation

    def settle(
        self, reservation: Reservation, *, cost_usd: float | None = 0.0, tokens: int = 0
    ) -> None:
        """Replace the estimate by what the call really used; a cost of None (no price known) counts
        as the estimate.
        """
        known_usd = reservation.estimate.cost_usd if cost_usd is None else cost_usd
        if not self.bounded:
            self._local = self._local.plus(Spend(cost_usd=known_usd, tokens=tokens))
            return
        self._file.settle(reservation.reservation_id, reservation.idea_id, known_usd, tokens)

    def count_request(self, idea_id: IdeaId) -> None:
        """Leave for one literature request, counted at once: a request costs the same whatever
        comes back.

        Raises:
            BudgetExhaustedError: the run's literature requests are spent.
        """
        if self.budget.maximum_requests is None:
            self._local = self._local.plus(Spend(requests=1))
            return
        self._file.count_request(idea_id)

    def charge(self, batch: str, by_idea: Mapping[IdeaId, Spend]) -> None:
        """What a batch costs each idea, in place of what was said of it before: estimated when it
        is submitted, known when it has ended.
        """
        if self.bounded:
            self._file.charge(batch, by_idea)

    def spent(self, idea_id: IdeaId | None = None) -> Spend:
        """What the run, or one idea of it, has spent so far over all processes."""
        if not self.bounded:
            return self._local
        cost_usd, tokens, requests = self._file.spent(idea_id or _WHOLE_RUN)
        return Spend(cost_usd=cost_usd, tokens=tokens, requests=requests)

    def reached(self) -> tuple[str, ...]:
        """The fields of the budget that the whole run has spent."""
        spent = self.spent()
        used = {
            "maximum_cost_usd": spent.cost_usd,
            "maximum_tokens": spent.tokens,
            "maximum_requests": spent.requests,
        }
        return tuple(
            field for field, amount in used.items() if _reached(amount, getattr(self.budget, field))
        )

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if isinstance(self._file, BudgetFile):
            self._file.close()


class BudgetFile:
    """The file behind `SharedBudget`, in numbers and words alone. Raises as it does.

    Args:
        is_alive: whether who holds a reservation still works: a process of this machine by its
            number, or a worker on another one by its name.
    """

    def __init__(
        self,
        path: Path,
        run_id: RunId,
        budget: Budget,
        is_alive: Callable[[str], bool] | None = None,
    ) -> None:
        self.path = path
        self.run_id = run_id
        self.budget = budget
        self._is_alive = is_alive or process_is_alive
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    def admit(
        self, reservation_id: str, idea_id: IdeaId, cost_usd: float, tokens: int, holder: str = ""
    ) -> bool:
        """Whether the call may start now; False: wait for calls in flight. `holder`: who makes it;
        this process.
        """
        asked = Spend(cost_usd=cost_usd, tokens=tokens)
        with self._transaction() as connection:
            run = self._settled(connection, _WHOLE_RUN)
            idea = self._settled(connection, idea_id)
            self._refuse_what_is_spent(run, idea, idea_id)
            # Else reservations of a killed worker would hold back everybody until they are old.
            self._forget_the_dead(connection)
            if self._full(
                run.plus(self._in_flight(connection, None)),
                idea.plus(self._in_flight(connection, idea_id)),
                asked,
            ):
                return False
            row = (
                reservation_id,
                self.run_id,
                idea_id,
                asked.cost_usd,
                asked.tokens,
                holder or str(os.getpid()),
                time.time(),
            )
            connection.execute(_RESERVE, row)
        return True

    def settle(self, reservation_id: str, idea_id: IdeaId, cost_usd: float, tokens: int) -> None:
        """Replace the estimate by what the call used."""
        with self._transaction() as connection:
            connection.execute("delete from reserved where reservation_id = ?", (reservation_id,))
            self._add(connection, idea_id, Spend(cost_usd=cost_usd, tokens=tokens))

    def count_request(self, idea_id: IdeaId) -> None:
        """Count a literature request."""
        bound = self.budget.maximum_requests
        with self._transaction() as connection:
            spent = self._settled(connection, _WHOLE_RUN).requests
            if _reached(spent, bound):
                raise BudgetExhaustedError(
                    f"the run's budget of {bound} literature requests is spent: raise"
                    " --max-requests"
                )
            self._add(connection, idea_id, Spend(requests=1))

    def charge(self, batch: str, by_idea: Mapping[IdeaId, Spend]) -> None:
        """What a batch costs each idea."""
        rows = [
            (self.run_id, batch, idea_id, spend.cost_usd, spend.tokens)
            for idea_id, spend in by_idea.items()
        ]
        with self._transaction() as connection:
            connection.execute(
                "delete from charged where run_id = ? and batch = ?", (self.run_id, batch)
            )
            connection.executemany("insert into charged values (?, ?, ?, ?, ?)", rows)

    def spent(self, idea_id: str) -> tuple[float, int, int]:
        """Dollars, tokens and requests of the idea; of the whole run where it is empty."""
        with self._transaction() as connection:
            spent = self._settled(connection, idea_id)
        return spent.cost_usd, spent.tokens, spent.requests

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _refuse_what_is_spent(self, run: Spend, idea: Spend, idea_id: IdeaId) -> None:
        bounds = self.budget
        cost_usd, per_idea = bounds.maximum_cost_usd, bounds.maximum_cost_usd_per_idea
        if _reached(run.cost_usd, cost_usd):
            raise BudgetExhaustedError(
                f"the run's budget of ${cost_usd:.2f} is spent: raise --max-cost-usd"
            )
        if _reached(run.tokens, bounds.maximum_tokens):
            raise BudgetExhaustedError(
                f"the run's budget of {bounds.maximum_tokens} tokens is spent: raise --max-tokens"
            )
        if _reached(idea.cost_usd, per_idea):
            raise BudgetExhaustedError(
                f"the budget of ${per_idea:.2f} for idea {idea_id} is spent: raise"
                " --max-cost-usd-per-idea"
            )

    def _full(self, run: Spend, idea: Spend, asked: Spend) -> bool:
        bounds = self.budget
        return (
            (asked.cost_usd > 0 and _reached(run.cost_usd, bounds.maximum_cost_usd))
            or (asked.tokens > 0 and _reached(run.tokens, bounds.maximum_tokens))
            or (asked.cost_usd > 0 and _reached(idea.cost_usd, bounds.maximum_cost_usd_per_idea))
        )

    def _add(self, connection: sqlite3.Connection, idea_id: IdeaId, actual: Spend) -> None:
        for scope in (_WHOLE_RUN, idea_id):
            connection.execute(
                "insert into spent values (?, ?, ?, ?, ?) on conflict (run_id, idea_id) do update"
                " set cost_usd = cost_usd + excluded.cost_usd, tokens = tokens + excluded.tokens,"
                " requests = requests + excluded.requests",
                (self.run_id, scope, actual.cost_usd, actual.tokens, actual.requests),
            )

    def _settled(self, connection: sqlite3.Connection, scope: str) -> Spend:
        query = "select cost_usd, tokens, requests from spent where run_id = ? and idea_id = ?"
        row = connection.execute(query, (self.run_id, scope)).fetchone()
        settled = Spend(cost_usd=row[0], tokens=row[1], requests=row[2]) if row else Spend()
        return settled.plus(self._charged(connection, scope))

    def _charged(self, connection: sqlite3.Connection, scope: str) -> Spend:
        """What batches cost."""
        query = (
            "select total(cost_usd), cast(total(tokens) as integer) from charged"
            " where run_id = ? and ? in (idea_id, '')"
        )
        cost_usd, tokens = connection.execute(query, (self.run_id, scope)).fetchone()
        return Spend(cost_usd=cost_usd, tokens=tokens)

    def _in_flight(self, connection: sqlite3.Connection, idea_id: IdeaId | None) -> Spend:
        query = (
            "select total(cost_usd), cast(total(tokens) as integer) from reserved where run_id = ?"
        )
        row = connection.execute(
            query + (" and idea_id = ?" if idea_id else ""),
            (self.run_id, *([idea_id] if idea_id else [])),
        ).fetchone()
        return Spend(cost_usd=row[0], tokens=row[1])

    def _forget_the_dead(self, connection: sqlite3.Connection) -> None:
        connection.execute(
            "delete from reserved where at < ?", (time.time() - _FORGET_AFTER_SECONDS,)
        )
        for (owner,) in connection.execute("select distinct owner from reserved").fetchall():
            if not self._is_alive(str(owner)):
                connection.execute("delete from reserved where owner = ?", (owner,))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                connection = self._connection = self._connection or _connect(self.path)
                connection.execute("begin immediate")
                with connection:
                    yield connection
            except sqlite3.Error as error:
                raise ConfigurationError(
                    f"budget file {self.path} cannot be used ({error}): delete it or make its"
                    " folder writable"
                ) from error


def _reached(used: float, bound: float | None) -> bool:
    return bound is not None and used >= bound


def process_is_alive(holder: str) -> bool:
    """Of a worker on another machine only the command that it asks knows."""
    if not holder.isdecimal():
        return True
    try:
        os.kill(int(holder), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
    # Kills of processes lose nothing; what a crash of the machine may lose is the latest spend.
    connection.execute("pragma synchronous = off")
    connection.executescript(_SCHEMA)
    return connection
