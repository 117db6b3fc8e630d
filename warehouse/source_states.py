"""States of the sources, models and workers of a run under way."""

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from schemas.calls import REFUSING_STATUSES, CallStatus
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.run import Budget
from warehouse.catalogue.sqlite_file import connect
from warehouse.kinds.runs.landing import RUNS
from warehouse.layout import Layout
from warehouse.rate_limits import limited_until
from warehouse.statements import statement
from warehouse.stores.budget_file import BudgetFile
from warehouse.units.landing import unit_folders
from warehouse.warehouse import Warehouse

RECORD_NAME = "upstream-requests.sqlite"
"""File of the gateway's requests, in the cache of the warehouse."""
GATEWAY = "semantic scholar"
_NEWEST_UNITS = 50
# One endpoint may be forbidden to a key that others accept.
_REFUSALS_FOR_GOOD = 3
_REFUSALS = frozenset({Reason.FORBIDDEN.value, CallStatus.CLIENT_ERROR.value})
_LIMITED = frozenset({Reason.RATE_LIMITED.value, CallStatus.RATE_LIMITED.value})
_ANSWERS = frozenset({"", CallStatus.OK.value, CallStatus.CACHED.value})


class Answering(StrEnum):
    """How a source or model answers, from its newest requests."""

    ANSWERS = "answers"
    LIMITED = "limited"
    FAILS = "fails"
    REFUSES = "refuses for good"


@dataclass(frozen=True, slots=True)
class SourceState:
    """State of a source or model.

    Attributes:
        until: end of a pause that it asked for; None: unknown, or no pause.
        error: its newest error, in its own words; empty if it answers.
        in_flight: model calls that wait for a reply.
    """

    name: str
    answering: Answering
    asked_at: datetime
    until: datetime | None = None
    error: str = ""
    in_flight: int = 0


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A process with model calls that wait for a reply."""

    name: str
    in_flight: int
    since: datetime


@dataclass(frozen=True, slots=True)
class GatewayUse:
    """Requests of the warehouse's gateway to one host in the last hour."""

    host: str
    allowed_per_second: float
    sent: int
    limited: int


@dataclass(frozen=True, slots=True)
class _Request:
    name: str
    at: datetime
    ended: str
    error: str = ""
    worker: str = ""  # the process that waits for the reply


def run_states(
    warehouse: Warehouse, run_id: RunId
) -> tuple[tuple[SourceState, ...], tuple[WorkerState, ...]]:
    """Return the states of a run's sources and then models, and of its workers, each by name.

    Sources: from landed units; Semantic Scholar: from the gateway's record. Models and workers:
    from calls of units that have not landed.

    Raises:
        ConfigurationError: a file cannot be read, such as on a folder without write permission.
    """
    gateway = tuple(_gateway_requests(warehouse))
    landed = _landed_requests(warehouse, run_id)
    sources = [each for each in landed if each.name != GATEWAY or not gateway]
    limits = warehouse.settings.home / "limits"
    states = [
        _state(requests, limited_until(limits, f"source {name.replace(' ', '_')}"))
        for name, requests in _by_name((*sources, *gateway))
    ]
    journal = _journal(warehouse, run_id)
    for name, calls in _by_name(journal):
        pauses = [
            limited_until(warehouse.state / "limits", f"{name} {unit}")
            for unit in ("requests", "tokens")
        ]
        states.append(_state(calls, max(filter(None, pauses), default=None)))
    times: dict[str, list[datetime]] = {}
    for call in journal:
        if call.worker:
            times.setdefault(call.worker, []).append(call.at)
    workers = (WorkerState(name, len(each), min(each)) for name, each in sorted(times.items()))
    return tuple(states), tuple(workers)


def gateway_use(warehouse: Warehouse) -> tuple[GatewayUse, ...]:
    """Return the gateway's requests in the last hour, by host."""
    since = (datetime.now(UTC) - timedelta(hours=1)).timestamp()
    return tuple(GatewayUse(*row) for row in _record(warehouse, "gateway_use", since))


def _by_name(requests: Iterable[_Request]) -> list[tuple[str, list[_Request]]]:
    """Return the requests of each name, newest first."""
    by_name: dict[str, list[_Request]] = {}
    for request in sorted(requests, key=lambda each: each.at, reverse=True):
        by_name.setdefault(request.name, []).append(request)
    return sorted(by_name.items())


def _state(requests: list[_Request], until: datetime | None) -> SourceState:
    newest, last = requests[0], requests[:_REFUSALS_FOR_GOOD]
    if len(last) == _REFUSALS_FOR_GOOD and all(each.ended in _REFUSALS for each in last):
        answering = Answering.REFUSES
    elif until is not None or newest.ended in _LIMITED:
        answering = Answering.LIMITED
    else:
        answering = Answering.ANSWERS if newest.ended in _ANSWERS else Answering.FAILS
    error = "" if answering is Answering.ANSWERS else newest.error or newest.ended.replace("_", " ")
    in_flight = sum(bool(each.worker) for each in requests)
    return SourceState(newest.name, answering, newest.at, until, error, in_flight)


def _landed_requests(warehouse: Warehouse, run_id: RunId) -> Iterator[_Request]:
    """Yield the requests of the newest landed units that no cache answered."""
    if warehouse.objects is not None:
        return
    import polars

    folders = sorted(
        unit_folders(warehouse, RUNS, run_id), key=lambda each: each.stat().st_mtime, reverse=True
    )
    files = [folder / "api_calls.parquet" for folder in folders[:_NEWEST_UNITS]]
    columns = ["source", "created_at", "failure_reason", "status", "cache_hit"]
    for file in (each for each in files if each.exists()):
        for source, at, reason, status, is_cached in polars.read_parquet(
            file, columns=columns
        ).iter_rows():
            if not is_cached:
                words = f"HTTP {status}" if status else ""
                yield _Request(source.replace("_", " "), at, reason or "", words)


def _gateway_requests(warehouse: Layout) -> Iterator[_Request]:
    for sent_at, status, reason in _record(warehouse, "gateway_requests", _REFUSALS_FOR_GOOD):
        at = datetime.fromtimestamp(sent_at, UTC)
        refused = Reason.FORBIDDEN.value if status in REFUSING_STATUSES else reason or ""
        yield _Request(GATEWAY, at, refused, f"HTTP {status}" if status else "")


def _record(layout: Layout, name: str, value: float) -> list[tuple[Any, ...]]:
    """Return rows of the gateway's record; none if there is no record."""
    path = layout.cache / RECORD_NAME
    if not path.exists():
        return []
    try:
        with closing(connect(path, timeout=1.0)) as connection:
            return connection.execute(statement("services", name), (value,)).fetchall()
    except sqlite3.Error as error:
        raise ConfigurationError(f"{path} cannot be read ({error})") from error


def _journal(layout: Layout, run_id: RunId) -> list[_Request]:
    """Return the newest model calls that have not landed."""
    with closing(BudgetFile(layout.budgets, run_id, Budget())) as file:
        return [
            _Request(
                call.model_requested,
                call.created_at,
                "" if worker else call.status,
                call.error or "",
                worker,
            )
            for call, worker in file.newest_calls()
        ]
