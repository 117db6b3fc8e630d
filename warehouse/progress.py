"""Progress of unpublished runs, from their plans, landed receipts and refusals."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

import orjson

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.run import PlannedRun, ValidationRow
from warehouse.kinds.runs.landing import RUNS
from warehouse.layout import Layout
from warehouse.parquet import read_bytes
from warehouse.row_models import ValidationReport
from warehouse.units.landing import read_noun, receipt_of, unit_folders, write_noun

RATE_OVER = timedelta(minutes=10)
SILENT_AFTER = timedelta(minutes=2)
_REMEDY = "run the same `assay evaluate` again to renew it"


class Activity(StrEnum):
    """State of an unpublished run, derived from its files."""

    RUNNING = "running"
    STOPPED = "stopped"
    REFUSED = "refused"


class RunProgress(Noun):
    """Progress of a run whose current plan is not published."""

    planned: PlannedRun
    activity: Activity
    landed_count: int
    incomplete_count: int
    failure_count: int
    unscored_count: int
    cost_usd: float
    unknown_cost_count: int
    ideas_per_minute: float | None
    last_landed_at: datetime | None
    ends_at: datetime | None

    @property
    def in_words(self) -> str:
        """Counts of the run: `12 of 81 ideas, 2 failed`."""
        ideas = f"{self.planned.idea_count:,} idea{'s' * (self.planned.idea_count != 1)}"
        return f"{self.landed_count:,} of {ideas}, {self.incomplete_count:,} failed"

    @property
    def whole(self) -> bool:
        return self.landed_count >= self.planned.idea_count


@dataclass(frozen=True, slots=True)
class _ReceiptFigures:
    at: float
    cost_usd: float | None
    unscored: int
    failures: int
    incomplete: bool


def announce(layout: Layout, plan: PlannedRun) -> None:
    """Write the plan of a run, replacing an earlier one."""
    path = layout.planned_run(plan.run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_noun(path, plan)


def read_planned(layout: Layout, run_id: RunId) -> PlannedRun | None:
    """Return the plan of a run; None for a run made elsewhere.

    Raises:
        ConfigurationError: another version wrote it.
    """
    return read_noun(layout.planned_run(run_id), PlannedRun, _REMEDY)


@dataclass(slots=True)
class Watch:
    """Follows the runs of a warehouse; each receipt is read once. Shared by threads."""

    layout: Layout
    _cached: dict[tuple[str, str, int], _ReceiptFigures] = field(default_factory=dict)
    _runs_of: dict[str, RunId] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def progress(
        self, published_at: dict[RunId, datetime], now: datetime | None = None
    ) -> tuple[RunProgress, ...]:
        """Return runs that started after their last publication, newest first.

        Args:
            published_at: end of each published run.
        """
        now = now or datetime.now(UTC)
        open_runs = [
            run
            for run in self._plans()
            if run.run_id not in published_at or published_at[run.run_id] < run.started_at
        ]
        with self._lock:
            every_run = [self._run_progress(run, now) for run in open_runs]
        visible_runs = [
            one
            for one in every_run
            if not (
                one.activity is Activity.STOPPED
                and one.whole
                and one.planned.run_id in published_at
            )
        ]
        return tuple(sorted(visible_runs, key=lambda one: one.planned.started_at, reverse=True))

    def of_ideas(self, ideas: Path) -> RunProgress | None:
        """Return the progress of an idea file's run; None before it is planned."""
        place, now = str(ideas.resolve()), datetime.now(UTC)
        with self._lock:
            run_id = self._runs_of.get(place)
            plan = None if run_id is None else read_planned(self.layout, run_id)
            if plan is None or plan.ideas_path != place:
                plan = next((run for run in self._plans() if run.ideas_path == place), None)
            if plan is None:
                return None
            self._runs_of[place] = plan.run_id
            return self._run_progress(plan, now)

    def _plans(self) -> Iterator[PlannedRun]:
        for path in sorted((self.layout.state / "runs").glob("*/planned.json")):
            try:
                plan = read_planned(self.layout, RunId(path.parent.name))
            except ConfigurationError:
                continue  # skip a run of another version
            if plan is not None:
                yield plan

    def _run_progress(self, run: PlannedRun, now: datetime) -> RunProgress:
        figures = list(self._landed_figures(run.run_id))
        last_seconds = max((entry.at for entry in figures), default=None)
        last_at = None if last_seconds is None else datetime.fromtimestamp(last_seconds, UTC)
        activity = self._activity(run, last_at, now)
        rate = _per_minute(figures, run, now)
        remaining_count = max(run.idea_count - len(figures), 0)
        is_running = activity is Activity.RUNNING
        return RunProgress(
            planned=run,
            activity=activity,
            landed_count=len(figures),
            incomplete_count=sum(entry.incomplete for entry in figures),
            failure_count=sum(entry.failures for entry in figures),
            unscored_count=sum(entry.unscored for entry in figures),
            cost_usd=sum(entry.cost_usd or 0.0 for entry in figures),
            unknown_cost_count=sum(entry.cost_usd is None for entry in figures),
            ideas_per_minute=rate if is_running else None,
            last_landed_at=last_at,
            ends_at=now + timedelta(minutes=remaining_count / rate)
            if is_running and rate
            else None,
        )

    def _landed_figures(self, run_id: RunId) -> Iterator[_ReceiptFigures]:
        for folder in unit_folders(self.layout, RUNS, run_id):
            try:
                changed_ns = folder.stat().st_mtime_ns
                key = (run_id, folder.name, changed_ns)
                if key not in self._cached:
                    receipt = receipt_of(self.layout, RUNS, folder)
                    if receipt is None:
                        continue
                    self._cached[key] = _ReceiptFigures(
                        at=changed_ns / 1e9,
                        cost_usd=0.0 if receipt.reused_from_run_id else receipt.cost_usd,
                        unscored=receipt.unscored,
                        failures=receipt.failures,
                        incomplete=not receipt.complete,
                    )
            except (FileNotFoundError, ConfigurationError):
                continue  # being replaced, or faulty, which the run reports
            yield self._cached[key]

    def _activity(self, run: PlannedRun, last_at: datetime | None, now: datetime) -> Activity:
        is_locked = lock_held(self.layout.planned_run(run.run_id).with_name("lock"))
        is_recent = now - max(last_at or run.started_at, run.started_at) < SILENT_AFTER
        if is_locked or (is_locked is None and is_recent):
            return Activity.RUNNING
        validation = RUNS.validation_file(self.layout, run.run_id)
        is_validated = (
            validation.exists() and validation.stat().st_mtime >= run.started_at.timestamp()
        )
        is_refused = is_validated and read_refusal(validation) is not None
        return Activity.REFUSED if is_refused else Activity.STOPPED


def _per_minute(figures: list[_ReceiptFigures], run: PlannedRun, now: datetime) -> float | None:
    """Return ideas per minute over the last minutes; None if nothing has landed."""
    since = max(now - RATE_OVER, run.started_at)
    count = sum(entry.at >= since.timestamp() for entry in figures)
    minutes = (now - since).total_seconds() / 60
    return count / minutes if count and minutes > 0 else None


def lock_held(path: Path) -> bool | None:
    """Return whether a process holds the lock; None if the system does not report it.

    Acquiring it as a test would disturb a process that wants it.
    """
    locks = Path("/proc/locks")
    try:
        number = path.stat().st_ino
        lines = locks.read_text().splitlines()
    except FileNotFoundError:
        return False if locks.exists() else None
    except OSError:
        return None
    return any("FLOCK" in line and f":{number} " in line for line in lines)


class Refusal(Noun):
    """A run whose landed files broke a critical expectation."""

    run_id: RunId
    checked_at: datetime | None
    broken: tuple[ValidationRow, ...]


def read_refusals(layout: Layout) -> tuple[Refusal, ...]:
    """Return the refused runs, latest validation first; unreadable results are skipped."""
    results = map(read_refusal, layout.landing.glob("run=*/validation.json"))
    refusals = [refusal for refusal in results if refusal is not None]
    return tuple(sorted(refusals, key=lambda refusal: str(refusal.checked_at), reverse=True))


def read_refusal(path: Path) -> Refusal | None:
    """Return the refusal in a validation file; None if it passed or is unreadable."""
    try:
        content: dict[str, Any] = orjson.loads(read_bytes(path))
        if content.pop("passed", True):
            return None
        report = ValidationReport.model_validate(content, strict=False)
    except (OSError, AttributeError, TypeError, ValueError):
        return None
    checked_at = max((row.created_at for row in report.rows), default=None)
    return Refusal(run_id=report.run_id, checked_at=checked_at, broken=report.broken)
