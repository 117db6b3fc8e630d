"""Budgets: spending of runs, and a journal of calls that have not landed.

One machine uses an SQLite file; machines with a catalogue in PostgreSQL use its database. The
statements are the same.
"""

import math
import os
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field, ValidationError

from schemas.base import Noun
from schemas.calls import LlmCall
from schemas.errors import BudgetExhaustedError, ConfigurationError, DiskFullError, full_disk
from schemas.identifiers import IdeaId, RunId
from schemas.run import Budget
from warehouse.catalogue.sqlite_file import connect
from warehouse.scrubbing import mask_secrets
from warehouse.shared_database import Statements, shared_database
from warehouse.statements import filled, statement

# Older calls are given up: their process may be on another machine, or its id may be reused. If the
# reply comes after all, `settle` corrects the estimate.
_FORGET_AFTER_SECONDS = 900.0
WHOLE_RUN = ""
_PROCESS = "process "
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_TOTALS = "coalesce(sum(cost_usd), 0.0), cast(coalesce(sum(tokens), 0) as bigint)"


class Spend(Noun):
    cost_usd: float = Field(default=0.0, ge=0)
    tokens: int = Field(default=0, ge=0)
    requests: int = Field(default=0, ge=0, description="Literature requests.")

    def plus(self, other: "Spend") -> "Spend":
        return Spend(
            cost_usd=self.cost_usd + other.cost_usd,
            tokens=self.tokens + other.tokens,
            requests=self.requests + other.requests,
        )


class BudgetFile:
    """Storage of `SharedBudget`.

    Each call of a unit is in the journal from sending until the unit has landed, so that a kill
    loses no row.

    Args:
        path: the SQLite file; unused with a catalogue in PostgreSQL.
        is_alive: whether the process that holds a reservation still runs.
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
        self._database = shared_database()
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()

    @property
    def exists(self) -> bool:
        return self.path.exists() if self._database is None else self._database.has_tables

    def admit(self, reservation_id: str, idea_id: IdeaId, cost_usd: float, tokens: int) -> bool:
        """Reserve an estimate, and return whether the call may start; False: wait."""
        estimate = Spend(cost_usd=cost_usd, tokens=tokens)
        with self._transaction() as connection:
            # Otherwise reservations of a killed worker would block all others until they expire.
            self._forget_the_dead(connection)
            run = self._settled_spend(connection, WHOLE_RUN)
            idea = self._settled_spend(connection, idea_id)
            self._refuse_what_is_spent(run, idea, idea_id)
            if self._is_full(
                run.plus(self._in_flight(connection, None)),
                idea.plus(self._in_flight(connection, idea_id)),
                estimate,
            ):
                return False
            row = (
                reservation_id,
                self.run_id,
                idea_id,
                estimate.cost_usd,
                estimate.tokens,
                self._holder(),
                self._clock(connection),
            )
            connection.execute("insert into reserved values (?1, ?2, ?3, ?4, ?5, ?6, ?7)", row)
        return True

    def send(
        self,
        call_id: str,
        idea_id: IdeaId,
        unit: str,
        call: str,
        cost_usd: float,
        tokens: int,
    ) -> None:
        """Journal a call before it is sent, with the row it gets without a reply."""
        holder = self._holder()
        row = (call_id, unit, self.run_id, idea_id, mask_secrets(call), cost_usd, tokens, holder)
        with self._transaction() as connection:
            connection.execute(
                "insert into journal values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                (*row, self._clock(connection)),
            )

    def settle(
        self, reservation_id: str, idea_id: IdeaId, cost_usd: float, tokens: int, call: str = ""
    ) -> None:
        """Replace the estimate of a call by its actual use, and its journal row by `call`."""
        with self._transaction() as connection:
            connection.execute("delete from reserved where reservation_id = ?1", (reservation_id,))
            # The estimate of a call that was given up is counted already.
            query = (
                "select cost_usd, tokens from journal where call_id = ?1 and in_flight_of is null"
            )
            estimate_counted = connection.execute(query, (reservation_id,)).fetchone() or (0.0, 0)
            if call:
                connection.execute(
                    "update journal set call = ?1, in_flight_of = null where call_id = ?2",
                    (mask_secrets(call), reservation_id),
                )
            self._add(
                connection,
                idea_id,
                cost_usd - estimate_counted[0],
                tokens - estimate_counted[1],
                requests=0,
            )

    def journalled_calls(self, unit: str) -> list[LlmCall]:
        """Return the calls of a unit that have not landed, in order of sending.

        Raises:
            ConfigurationError: one of them cannot be read.
        """
        if not self.exists:
            return []
        with self._transaction() as connection:
            query = "select call_id, call from journal where unit = ?1 order by at, call_id"
            return [_call(*row) for row in connection.execute(query, (unit,)).fetchall()]

    def newest_calls(self, most: int = 500) -> list[tuple[LlmCall, str]]:
        """Return the run's newest calls that have not landed, each with the process that waits.

        The process is empty once a reply came.

        Raises:
            ConfigurationError: one of them cannot be read.
        """
        if not self.exists:
            return []
        with self._transaction() as connection:
            query = (
                "select call_id, call, in_flight_of from journal where run_id = ?1"
                " order by at desc limit ?2"
            )
            rows = connection.execute(query, (self.run_id, most)).fetchall()
        return [(_call(call_id, call), holder or "") for call_id, call, holder in rows]

    def clear_journal(self, unit: str) -> None:
        """Delete the unit's journal; a call in flight counts as its estimate."""
        if not self.exists:
            return
        with self._transaction() as connection:
            _give_up(connection, "unit = ?1", (unit,))
            connection.execute("delete from journal where unit = ?1", (unit,))

    def count_request(self, idea_id: IdeaId) -> None:
        """Count a literature request. Raises BudgetExhaustedError at the bound."""
        maximum_requests = self.budget.maximum_requests
        with self._transaction() as connection:
            request_count = self._settled_spend(connection, WHOLE_RUN).requests
            if is_reached(request_count, maximum_requests):
                raise BudgetExhaustedError(
                    f"the run's budget of {maximum_requests} literature requests is spent: raise"
                    " --max-requests"
                )
            self._add(connection, idea_id, cost_usd=0.0, tokens=0, requests=1)

    def charge(self, batch: str, by_idea: Mapping[IdeaId, Spend]) -> None:
        rows = [
            (self.run_id, batch, idea_id, spend.cost_usd, spend.tokens)
            for idea_id, spend in by_idea.items()
        ]
        with self._transaction() as connection:
            connection.execute(
                "delete from charged where run_id = ?1 and batch = ?2", (self.run_id, batch)
            )
            for row in rows:
                connection.execute("insert into charged values (?1, ?2, ?3, ?4, ?5)", row)

    def spent(self, idea_id: str) -> tuple[float, int, int]:
        """Return dollars, tokens and requests of an idea; of the run if `idea_id` is empty.

        Calls without a reply count as their estimates.
        """
        with self._transaction() as connection:
            query = (
                f"select {_TOTALS} from journal"  # noqa: S608 -- ours
                " where in_flight_of is not null and run_id = ?1 and ?2 in (idea_id, '')"
            )
            cost_usd, tokens = connection.execute(query, (self.run_id, idea_id)).fetchone()
            settled_spend = self._settled_spend(connection, idea_id)
        total = settled_spend.plus(_spend(cost_usd, tokens))
        return total.cost_usd, total.tokens, total.requests

    def estimated_spend(self) -> tuple[float, int]:
        """Return the estimated part of `spent` in dollars, and its number of calls.

        These are calls of unfinished units without a known cost.

        Raises:
            ConfigurationError: one of them cannot be read.
        """
        query = "select cost_usd, call_id, call from journal where run_id = ?1 and cost_usd > 0"
        with self._transaction() as connection:
            calls = connection.execute(query, (self.run_id,)).fetchall()
        estimates = [cost_usd for cost_usd, *call in calls if _call(*call).cost_usd is None]
        return math.fsum(estimates), len(estimates)

    def runs(self) -> tuple[RunId, ...]:
        """Return the runs with spending or calls in flight, by name."""
        query = (
            "select run_id from spent where cost_usd + tokens + requests > 0"
            " union select run_id from charged where cost_usd + tokens > 0"
            " union select run_id from journal where in_flight_of is not null order by run_id"
        )
        with self._transaction() as connection:
            return tuple(RunId(run_id) for (run_id,) in connection.execute(query).fetchall())

    def forget(self, work: str) -> None:
        """Delete the run's spending, and the journal of a deleted work.

        Args:
            work: its folder within landing.
        """
        if not self.exists:
            return
        with self._transaction() as connection:
            for table in ("spent", "reserved", "charged"):
                connection.execute(f"delete from {table} where run_id = ?1", (self.run_id,))  # noqa: S608 -- ours
            connection.execute(
                "delete from journal where substr(unit || '/', 1, ?1) = ?2",
                (len(work) + 1, f"{work}/"),
            )

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _refuse_what_is_spent(self, run: Spend, idea: Spend, idea_id: IdeaId) -> None:
        bounds = self.budget
        cost_usd, per_idea = bounds.maximum_cost_usd, bounds.maximum_cost_usd_per_idea
        if is_reached(run.cost_usd, cost_usd):
            raise BudgetExhaustedError(
                f"the run's budget of ${cost_usd:.2f} is spent: raise --max-cost-usd"
            )
        if is_reached(run.tokens, bounds.maximum_tokens):
            raise BudgetExhaustedError(
                f"the run's budget of {bounds.maximum_tokens} tokens is spent: raise --max-tokens"
            )
        if is_reached(idea.cost_usd, per_idea):
            raise BudgetExhaustedError(
                f"the budget of ${per_idea:.2f} for idea {idea_id} is spent: raise"
                " --max-cost-usd-per-idea"
            )

    def _is_full(self, run: Spend, idea: Spend, estimate: Spend) -> bool:
        bounds = self.budget
        return (
            (estimate.cost_usd > 0 and is_reached(run.cost_usd, bounds.maximum_cost_usd))
            or (estimate.tokens > 0 and is_reached(run.tokens, bounds.maximum_tokens))
            or (
                estimate.cost_usd > 0
                and is_reached(idea.cost_usd, bounds.maximum_cost_usd_per_idea)
            )
        )

    def _add(
        self,
        connection: Statements,
        idea_id: IdeaId,
        cost_usd: float,
        tokens: int,
        requests: int,
    ) -> None:
        for scope in (WHOLE_RUN, idea_id):
            connection.execute(
                statement("budgets", "add"), (self.run_id, scope, cost_usd, tokens, requests)
            )

    def _settled_spend(self, connection: Statements, scope: str) -> Spend:
        query = "select cost_usd, tokens, requests from spent where run_id = ?1 and idea_id = ?2"
        row = connection.execute(query, (self.run_id, scope)).fetchone()
        spend = _spend(*row) if row else Spend()
        query = f"select {_TOTALS} from charged where run_id = ?1 and ?2 in (idea_id, '')"  # noqa: S608 -- ours
        cost_usd, tokens = connection.execute(query, (self.run_id, scope)).fetchone()
        return spend.plus(_spend(cost_usd, tokens))

    def _in_flight(self, connection: Statements, idea_id: IdeaId | None) -> Spend:
        query = f"select {_TOTALS} from reserved where run_id = ?1"  # noqa: S608 -- ours
        row = connection.execute(
            query + (" and idea_id = ?2" if idea_id else ""),
            (self.run_id, *([idea_id] if idea_id else [])),
        ).fetchone()
        return _spend(*row)

    def _forget_the_dead(self, connection: Statements) -> None:
        """Release old calls of this run, and calls of dead processes."""
        old_parameters = (self.run_id, self._clock(connection) - _FORGET_AFTER_SECONDS)
        _give_up(connection, "run_id = ?1 and at < ?2", old_parameters)
        connection.execute("delete from reserved where run_id = ?1 and at < ?2", old_parameters)
        holders = connection.execute(
            "select owner from reserved where run_id = ?1 union"
            " select in_flight_of from journal where run_id = ?1 and in_flight_of is not null",
            (self.run_id,),
        ).fetchall()
        for (holder,) in holders:
            if not self._is_alive(str(holder)):
                dead_parameters = (self.run_id, holder)
                _give_up(connection, "run_id = ?1 and in_flight_of = ?2", dead_parameters)
                connection.execute(
                    "delete from reserved where run_id = ?1 and owner = ?2", dead_parameters
                )

    def _holder(self) -> str:
        """Return the name of this process in reservations."""
        # Containers of one kernel have separate process ids, so the host name is included. For a
        # file it is enough, and stays the same after a reboot.
        host = socket.gethostname()
        machine = host if self._database is None else f"{host} {this_machine()}"
        return f"{_PROCESS}{os.getpid()} on {machine}"

    def _clock(self, connection: Statements) -> float:
        """Return seconds on the clock that all processes share."""
        if self._database is None:
            return time.time()
        return float(connection.execute(statement("budgets", "clock")).fetchone()[0])

    @contextmanager
    def _transaction(self) -> Iterator[Statements]:
        if self._database is not None:
            with self._database.transaction("budgets") as statements:
                yield statements
            return
        with self._lock:
            try:
                connection = self._connection = self._connection or _connect(self.path)
                connection.execute("begin immediate")
                with connection:
                    yield connection
            except sqlite3.Error as error:
                if line := full_disk(error):
                    raise DiskFullError(line) from error
                raise ConfigurationError(
                    f"budget file {self.path} cannot be used ({error}): make its folder writable,"
                    " or restore it; deleting it loses the spending and the calls of units that"
                    " have not landed"
                ) from error


def is_reached(amount: float, bound: float | None) -> bool:
    return bound is not None and amount >= bound


def this_machine() -> str:
    """Return the same id for all processes and containers that share a kernel."""
    return _BOOT_ID.read_text().strip() if _BOOT_ID.is_file() else socket.gethostname()


def process_is_alive(holder: str) -> bool:
    """Return whether a process runs; True if this machine cannot tell."""
    number, _, machine = holder.removeprefix(_PROCESS).partition(" on ")
    host = socket.gethostname()
    if machine not in (host, f"{host} {this_machine()}"):
        return True
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, ValueError, OverflowError):  # or not a process id
        return False
    except PermissionError:
        return True
    return True


def _spend(cost_usd: float, tokens: int, requests: int = 0) -> Spend:
    try:
        return Spend(cost_usd=cost_usd, tokens=tokens, requests=requests)
    except ValidationError:
        raise ConfigurationError(
            "the budgets hold something else than dollars, tokens and requests that a run has spent:"
            " bring them back from a copy"
        ) from None


def _call(call_id: object, call: object) -> LlmCall:
    try:
        return LlmCall.model_validate_json(call)  # type: ignore[arg-type]  # SQLite keeps any type
    except ValidationError:
        raise ConfigurationError(
            f"the journal of budgets holds something else than a call under {call_id!s:.100}: remove"
            " that row of its table `journal`; what the call cost is then unknown"
        ) from None


def _give_up(connection: Statements, condition: str, values: Sequence[str | float]) -> None:
    """Count matching calls in flight as their estimates; no reply is expected."""
    connection.execute(filled("budgets", "give_up", condition=condition), values)
    connection.execute(
        f"update journal set in_flight_of = null where in_flight_of is not null and {condition}",  # noqa: S608 -- ours
        values,
    )


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connect(path, timeout=60.0, isolation_level=None, check_same_thread=False)
    # A killed process loses nothing; a crash of the machine may lose the latest spending.
    connection.execute("pragma synchronous = off")
    connection.executescript(statement("budgets", "schema"))
    return connection
