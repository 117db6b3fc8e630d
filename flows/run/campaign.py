"""Execution of one run of any kind: plan, shards, landing, publication, reports.

A kind of work adds a subclass of `Campaign` with its plan, head and reports. Few units run in this
process; more run on a cluster, which the caller provides.
"""

import dataclasses
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from filelock import FileLock, Timeout

from dashboards.render.formats.markdown import markdown_line
from dashboards.render.page import line
from flows.run.progress import ProgressSource, Report, progress
from schemas.base import replace
from schemas.boundary import ErrorBoundary
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.settings import Settings
from schemas.stopwatch import Stopwatch
from schemas.work import HeadT, Request, Summary
from tasks.shards.work import Shard, WorksOnShards
from tasks.telemetry.reporting import reporting, span
from warehouse.reports import share_reports, with_pages
from warehouse.run_log import EVENTS, run_log
from warehouse.units.kind import Kind
from warehouse.units.landing import (
    complete_receipt,
    iterate_receipts,
    read_head,
    read_receipt,
    unit_folders,
    write_head,
)
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

logger = logging.getLogger(__name__)

UnitT = TypeVar("UnitT")


@dataclass(frozen=True, slots=True)
class Plan(Generic[HeadT]):
    """Units still to be done, written to shard files.

    Attributes:
        head: head of the run, before its units are done.
        unit_names: names of all units, including those that are done.
        shards: files with the names of their units.
    """

    head: HeadT
    unit_names: tuple[str, ...]
    shards: Mapping[Path, tuple[str, ...]]


PlanT = TypeVar("PlanT", bound=Plan[Any])


class Campaign(ABC, Generic[PlanT, HeadT]):
    """One run being executed.

    Attributes:
        kind: the kind of work.
        name: name of its telemetry span.
        command: command of its kind.
        artifact_key: prefix of the keys of its Prefect artifacts.
        verb, nouns: words for progress, such as `evaluated`, `ideas`.
        work: function applied to each shard file.
        in_sandbox: whether `work` runs programs in a sandbox.
        request: sets warehouse and number of workers.
        page: the published page, once its reports are written; None: not read.
        run_id: available inside `open`; its lock is held meanwhile.
    """

    kind: ClassVar[Kind[Any, Any, Any]]
    name: ClassVar[str]
    command: ClassVar[str]
    artifact_key: ClassVar[str]
    verb: ClassVar[str]
    nouns: ClassVar[str]
    work: ClassVar[WorksOnShards]
    in_sandbox: ClassVar[bool] = False

    request: Any
    page: Any = None

    def __init__(self, request: Request[Any, Any], **labels: str) -> None:
        self.request, self.warehouse = request, Warehouse(request.warehouse)
        self.watch = Stopwatch()
        self.started_at = self.watch.started_at
        self.labels = labels

    @staticmethod
    def complete_options(
        arguments: tuple[Any, ...],
        options: Any,
        settings: Settings,  # noqa: ARG004 -- theirs
    ) -> tuple[tuple[Any, ...], Any]:
        """Return arguments and options, with defaults filled in from the lake."""
        return arguments, options

    @property
    @abstractmethod
    def run_id(self) -> Any: ...

    @abstractmethod
    def plan(self) -> PlanT:
        """Write units without a complete receipt to shard files."""

    @abstractmethod
    def write_reports(self, head: HeadT) -> tuple[Path, ...]:
        """Write the reports of the published run, and return their paths."""

    @abstractmethod
    def describe(self, head: HeadT) -> str:
        """Return one or two sentences about the run for its Prefect artifact."""

    def open(self) -> AbstractContextManager[object]:
        """Open the resources that the run needs from planning to the end."""
        return nullcontext()

    def shards_of(
        self, units: Mapping[str, UnitT], shard: Callable[[tuple[UnitT, ...]], Shard]
    ) -> dict[Path, tuple[str, ...]]:
        """Write the units without a complete receipt to shard files.

        Args:
            units: by name.
            shard: builds a shard of some units.

        Returns: each file with the names of its units.
        """
        folder = self.warehouse.state / f"{self.kind.word}s" / self.run_id
        unfinished_units = [
            unit
            for name, unit in units.items()
            if complete_receipt(self.warehouse, self.kind, self.run_id, name) is None
        ]
        count = shard_count(self.request, len(unfinished_units))
        parts = (tuple(unfinished_units[number::count]) for number in range(count))
        return write_shards(folder, map(shard, parts))

    def progress_source(self, plan: PlanT) -> ProgressSource:
        names = self.kind.names(plan.head)
        count = len(plan.unit_names)
        return ProgressSource(
            done=lambda: min(len(unit_folders(self.warehouse, self.kind, *names)), count),
            total=lambda: count,
            verb=self.verb,
            nouns=self.nouns,
            artifact_key=f"{self.artifact_key}-progress",
            description=f"{self.nouns.capitalize()} {self.verb} in {names[-1]}",
        )

    def final_head(self, plan: PlanT) -> HeadT:
        """Return the head concluded from the receipts.

        A unit whose worker was lost has no receipt and counts as incomplete.
        """
        names = self.kind.names(plan.head)
        receipts = {
            receipt.unit: receipt for receipt in iterate_receipts(self.warehouse, self.kind, *names)
        }
        reasons = (
            receipts[name].incomplete_reason if name in receipts else Reason.WORKER_LOST
            for name in plan.unit_names
        )
        planned_reason = getattr(plan.head, "incomplete_reason", None)
        changes: dict[str, Any] = {"incomplete_reason": next(filter(None, reasons), planned_reason)}
        if plan.shards:
            changes["finished_at"] = max(self.watch.finished_at, plan.head.started_at)
        head: HeadT = replace(plan.head, **changes).concluded(tuple(receipts.values()))
        return head

    def published_head(self, head: HeadT) -> HeadT:
        """Return the head of a run that was already published, as it is in the lake."""
        return head

    def refused_head(self, head: HeadT, expectations: tuple[str, ...]) -> HeadT:  # noqa: ARG002 -- theirs
        """Return the head of a run that broke the critical `expectations`."""
        return head

    def current_reports(self) -> tuple[Path, ...]:
        """Return reports that are up to date when nothing was published."""
        return ()

    def waves(self) -> "Waves | None":
        """Return the provider batches that units wait for; None if they never wait."""
        return None

    def remarks(self) -> tuple[str, ...]:
        """Return a line for each omission or failure; called at the end of the run."""
        return ()

    def faults(self) -> tuple[str, ...]:
        """Return a line for each fault of the reports; called once they are written."""
        return ()


class Waves(Protocol):
    """Batches of replies for which units are suspended. `str()` gives their progress."""

    def is_waiting(self, unit: str) -> bool: ...

    def next(self) -> bool:
        """Wait until every requested batch has ended; False if none was requested."""
        ...


class Workplace(Protocol):
    """Place where shards run and progress is reported."""

    def send(self, work: WorksOnShards, paths: Sequence[Path]) -> Iterator[BaseException]:
        """Process shard files, and yield the errors of those that failed."""
        ...

    def reporter(self, source: ProgressSource) -> Report | None: ...

    def add_artifact(self, markdown: str, key: str, description: str) -> None: ...


class ThisProcess:
    """Implements `Workplace` in the command itself, one shard after the other."""

    def send(self, work: WorksOnShards, paths: Sequence[Path]) -> Iterator[BaseException]:
        for path in paths:
            boundary = ErrorBoundary()
            with boundary:
                work(path.read_bytes())
            if boundary.error is not None:
                # The command prints these in one line; a traceback would not help.
                if not isinstance(boundary.error, ConfigurationError):
                    logger.error("shard %s failed", path, exc_info=boundary.error)
                yield boundary.error

    def reporter(self, source: ProgressSource) -> Report | None:  # noqa: ARG002 -- as `Workplace` has it
        return None

    def add_artifact(self, markdown: str, key: str, description: str) -> None:
        """Do nothing: the command prints its summary itself."""


Cluster = Callable[[Campaign[PlanT, HeadT], PlanT], Summary[HeadT]]
"""Executes a plan on workers: `carry_out` with another `Workplace`."""


def run_campaign(
    campaign: Campaign[PlanT, HeadT], cluster: Cluster[PlanT, HeadT]
) -> Summary[HeadT]:
    """Plan, process the shards, land, validate, publish and report.

    The same request resumes where the last run stopped, or changes nothing.

    Raises:
        ConfigurationError: the request cannot be met, or another command holds its lock.
        PublicationError: files do not match their receipts, or an input of the work has changed.
    """
    with (
        reporting(campaign.warehouse.settings.telemetry, "assay-run"),
        span(campaign.name) as telemetry_span,
        campaign.open(),
    ):
        telemetry_span.note(run_id=campaign.run_id, **campaign.labels)
        with (
            only_command_on(campaign.warehouse, campaign.run_id),
            run_log(campaign.warehouse.log(campaign.run_id)),
        ):
            plan = campaign.plan()
            unit_count = sum(len(units) for units in plan.shards.values())
            counts = {"unit_count": len(plan.unit_names), "to_do_count": unit_count}
            EVENTS.info(
                "%s planned",
                campaign.name,
                extra={**campaign.labels, **counts, "nouns": campaign.nouns},
            )
            if not unit_count or campaign.request.in_this_process(unit_count):
                return carry_out(campaign, plan, ThisProcess())
            return cluster(campaign, plan)


def carry_out(campaign: Campaign[PlanT, HeadT], plan: PlanT, place: Workplace) -> Summary[HeadT]:
    """Process the shards of a plan in `place`, and publish.

    Raises:
        ConfigurationError: the request cannot be met.
    """
    warehouse, kind = campaign.warehouse, campaign.kind
    names = kind.names(plan.head)

    def is_suspended(unit: str) -> bool:
        return waves is not None and waves.is_waiting(unit)

    def is_unfinished(unit: str) -> bool:
        return read_receipt(warehouse, kind, *names, unit) is None and not is_suspended(unit)

    def shards_with(condition: Callable[[str], bool]) -> tuple[Path, ...]:
        return tuple(path for path, units in plan.shards.items() if any(map(condition, units)))

    def process(paths: Sequence[Path]) -> None:
        """Send shards; resend those that a lost worker left unfinished."""
        for _ in range(MAXIMUM_ROUNDS):
            if not paths:
                return
            for error in place.send(campaign.work, paths):
                if isinstance(error, ConfigurationError):
                    raise error
            # A Prefect task whose worker was lost stays `Running`, so receipts decide what is done.
            paths = shards_with(is_unfinished)

    source, waves = campaign.progress_source(plan), campaign.waves()
    if waves is not None:
        source_suffix = source.suffix
        source = dataclasses.replace(
            source, suffix=lambda: source_suffix() + (f", {waves}" if f"{waves}" else "")
        )
    with progress(source, place.reporter(source)):
        process(tuple(plan.shards))
        # Before the wave, because a retried unit still has its last receipt.
        suspended_shards = shards_with(is_suspended)
        while waves is not None and waves.next():
            process(tuple(dict.fromkeys((*suspended_shards, *shards_with(is_unfinished)))))
            suspended_shards = shards_with(is_suspended)
    summary = conclude(campaign, plan)
    result = {"published": summary.published, "failed_expectations": summary.failed_expectations}
    early_end = getattr(summary.head, "incomplete_reason", None)
    EVENTS.info(
        "%s ended",
        campaign.name,
        extra={**result, "unchanged": summary.unchanged, "incomplete_reason": early_end},
    )
    place.add_artifact(
        _artifact(summary, campaign.describe(summary.head)),
        f"{campaign.artifact_key}-summary",
        summary.title.capitalize(),
    )
    return summary


def conclude(campaign: Campaign[PlanT, HeadT], plan: PlanT) -> Summary[HeadT]:
    """Conclude the head, publish what has landed and write the reports."""
    warehouse, kind = campaign.warehouse, campaign.kind
    head = campaign.final_head(plan)
    if head != read_head(warehouse, kind, *kind.names(head)):
        write_head(warehouse, kind, head)
    publication = publish(warehouse, kind, head)
    if publication.unchanged:
        head = campaign.published_head(head)
    if not publication.published:
        head = campaign.refused_head(head, publication.failed_expectations)
    reports: tuple[Path, ...] = ()
    if publication.published:
        current = campaign.current_reports() if publication.unchanged else ()
        reports = current or campaign.write_reports(head)
        share_reports(warehouse, with_pages(reports), new=not current)
    return Summary(
        name=campaign.command,
        title=kind.title(*kind.names(head)),
        head=head,
        published=publication.published,
        unchanged=publication.unchanged,
        failed_expectations=publication.failed_expectations,
        report_paths=reports,
        remarks=campaign.remarks(),
        faults=campaign.faults(),
        log_path=warehouse.log(campaign.run_id),
        page=campaign.page,
    )


def _artifact(summary: Summary[Any], description: str) -> str:
    reason = getattr(summary.head, "incomplete_reason", None)
    early_end = f" It ended early: {reason.replace('_', ' ')}." if reason else ""
    failures = "; ".join(markdown_line(line(each)) for each in summary.failed_expectations)
    outcome = "Published." if summary.published else f"Not published: {failures}"
    return "\n\n".join(
        [f"# {summary.title.capitalize()}", f"{description}{early_end}", *summary.remarks, outcome]
    )


MAXIMUM_ROUNDS = 3
"""Times a lost shard is sent again; units that have landed are not repeated."""

SHARDS_PER_WORKER = 4


def shard_count(
    request: Request[Any, Any], unit_count: int, per_worker: int = SHARDS_PER_WORKER
) -> int:
    """Return the number of shards: at most one if the command processes them itself."""
    if request.in_this_process(unit_count):
        return min(unit_count, 1)
    return min(unit_count, request.worker_count * per_worker)


def write_shards(folder: Path, shards: Iterable[Shard]) -> dict[Path, tuple[str, ...]]:
    """Write every shard to a file, and return the names of its units.

    Files of an earlier start are removed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for old_shard in folder.glob("shard-*.json"):
        old_shard.unlink()
    names = {}
    for number, shard in enumerate(shards):
        path = folder / f"shard-{number:05d}.json"
        path.write_text(shard.model_dump_json())
        names[path] = shard.unit_names
    return names


@contextmanager
def only_command_on(warehouse: Warehouse, run_id: RunId) -> Iterator[None]:
    """Hold the lock of a run; the system releases that of a killed process.

    Raises:
        ConfigurationError: another command holds the lock.
    """
    path = warehouse.state / "runs" / run_id / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise ConfigurationError(
            f"another command is at work on run {run_id} already: wait for it, or stop it first"
        ) from error
    try:
        yield
    finally:
        lock.release()
