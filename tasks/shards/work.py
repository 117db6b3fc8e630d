"""Shard: units of a run for one worker, each landed separately.

The content of a shard is sent with the task and contains everything that a worker needs, without
secrets. The files it names must exist on the worker at the same path.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from pydantic import Field

from schemas.base import Noun
from schemas.boundary import ErrorBoundary, concerns_one_unit, error_line, root_of
from schemas.errors import AssayError, ConfigurationError, SharedStateError
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.run import UnitReceipt
from schemas.settings import Settings
from schemas.stopwatch import Stopwatch
from tasks.telemetry.reporting import reporting, span
from warehouse.layout import Layout
from warehouse.permissions import keep_private
from warehouse.run_log import EVENTS, run_log
from warehouse.scrubbing import one_line
from warehouse.units.kind import HeadT, Kind, ReceiptT
from warehouse.units.landing import complete_receipt
from warehouse.units.unit_rows import land_unit

logger = logging.getLogger(__name__)

UnitT = TypeVar("UnitT")
AnswerT = TypeVar("AnswerT")
NounT = TypeVar("NounT", bound=Noun)
ShardT = TypeVar("ShardT", bound="Shard")


class Shard(Noun):
    """Units of a run for one worker."""

    run_id: RunId
    trace_parent: str | None = Field(
        default=None,
        description="The command's span, for the shard's to hang below (W3C Trace Context).",
    )

    @property
    def unit_names(self) -> tuple[str, ...]:
        """The names of the receipts of its units."""
        raise NotImplementedError

    @property
    def warehouse(self) -> Path:
        """The landing folder."""
        raise NotImplementedError

    @property
    def files(self) -> tuple[Path, ...]:
        """Files and folders that its work reads, in addition to the warehouse."""
        return ()


class WorksOnShards(Protocol):
    """A function of a shard's content that can be sent to workers."""

    @property
    def kind(self) -> type[Any]:
        """The type of the shard."""
        ...

    @property
    def span_name(self) -> str:
        """The name of the shard in traces."""
        ...

    def __call__(self, content: str | bytes) -> int:
        """Run the shard; return the number of units with a receipt."""
        ...


@dataclass(frozen=True, slots=True)
class ShardWork(Generic[ShardT]):
    """Work on a shard.

    Called with its content, it returns the number of units with a receipt.

    Attributes:
        kind: the type of the shard.
        work: runs the shard and returns the receipts of its units.
        span_name, unit_noun: names of the shard and its units in traces.
    """

    kind: type[ShardT]
    work: Callable[[ShardT, Settings], Coroutine[Any, Any, Sequence[UnitReceipt]]]
    span_name: str
    unit_noun: str

    def __call__(self, content: str | bytes) -> int:
        shard = self.kind.model_validate_json(content)
        keep_private(shard.warehouse)
        settings = Settings()
        # Workers log at INFO, where httpx would add a line for each request.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        with (
            run_log(Layout(shard.warehouse).log(shard.run_id)),
            reporting(settings.telemetry, "assay-worker"),
            span(self.span_name, parent=shard.trace_parent, run_id=shard.run_id) as work_span,
        ):
            work_span.note(**{self.unit_noun: len(shard.unit_names)})
            EVENTS.info("%s taken up", self.span_name, extra={"units": shard.unit_names})
            receipts = asyncio.run(self.work(shard, settings))
            EVENTS.info("%s ended", self.span_name, extra={"landed_count": len(receipts)})
            return len(receipts)


async def each_unit(
    units: Iterable[UnitT], at_once: int, work: Callable[[UnitT], Awaitable[AnswerT]]
) -> list[AnswerT]:
    """Run `work` for each unit, `at_once` at a time.

    Return the results in order.

    Raises:
        ConfigurationError: no unit can be processed with these settings.
        SharedStateError: the state of budgets and rates cannot be stored.
        OSError: the disk fails, which concerns every unit.
    """
    gate = asyncio.Semaphore(at_once)

    async def one(unit: UnitT) -> AnswerT:
        async with gate:
            return await work(unit)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(unit)) for unit in units]
    except* (ConfigurationError, SharedStateError, OSError) as errors:
        raise root_of(errors) from errors
    return [task.result() for task in tasks]


class Cause(NamedTuple):
    """Name and message of a unit's failure."""

    reason: Reason
    text: str


def cause_of(error: Exception, title: str) -> Cause:
    """Return the cause of a unit's failure; the full error is logged.

    Raises:
        ConfigurationError, SharedStateError: `error` itself, where it concerns every unit.
    """
    root = root_of(error)
    if not concerns_one_unit(root):
        raise root
    logger.error("%s failed", title, exc_info=error)
    if isinstance(root, AssayError):
        return Cause(root.reason, one_line(root))
    return Cause(Reason.INTERNAL_ERROR, one_line(error_line(root)))


async def or_failure(
    work: Awaitable[AnswerT], title: str, failed: Callable[[Cause], AnswerT]
) -> AnswerT:
    """Return the result of `work`.

    After an internal error, return the result of `failed`.

    Raises:
        AssayError, OSError: the error concerns every unit, such as a wrong setting or a full disk.
    """
    boundary = ErrorBoundary()
    with boundary:
        return await work
    assert boundary.error is not None
    if isinstance(boundary.error, AssayError | OSError):
        raise boundary.error
    return failed(cause_of(boundary.error, title))


async def land_once(
    layout: Layout,
    kind: Kind[NounT, ReceiptT, HeadT],
    run_id: RunId,
    name: str,
    work: Callable[[], Awaitable[NounT]],
) -> ReceiptT:
    """Return a unit's receipt, after processing and landing it if necessary.

    Raises:
        PublicationError: a row does not fit its table.
    """
    receipt = complete_receipt(layout, kind, run_id, name)
    if receipt is not None:
        return receipt
    watch = Stopwatch()
    unit = await work()
    return land_unit(layout, kind, run_id, unit, watch.started_at, watch.finished_at)


def land_failure(land: Callable[[], AnswerT], title: str) -> AnswerT | None:
    """Return the result of `land`.

    The result is None if the failure of a unit cannot be landed. Such a unit has no receipt and
    counts as lost.

    Raises:
        OSError: the disk fails, which concerns every unit.
    """
    boundary = ErrorBoundary()
    with boundary:
        return land()
    if isinstance(boundary.error, OSError):
        raise boundary.error
    assert boundary.error is not None
    logger.error("the failure of %s cannot be landed: %s", title, error_line(boundary.error))
    return None
