"""Progress of unpublished runs, from their plans and landed receipts."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.judgement.evaluation import Receipt
from schemas.run import PlannedRun
from warehouse.kinds.runs.landing import RUNS
from warehouse.layout import Layout
from warehouse.refusals import read_refusal
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
    def whole(self) -> bool:
        """Return whether every idea has landed."""
        return self.landed_count >= self.planned.idea_count


@dataclass(frozen=True, slots=True)
class _Landed:
    """Figures of one receipt."""

    at: float
    cost_usd: float | None
    unscored: int
    failures: int
    incomplete: bool


def announce(layout: Layout, planned: PlannedRun) -> None:
    """Write the plan of a run, replacing an earlier one."""
    path = layout.planned_run(planned.run_id)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_noun(path, planned)


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
    _known: dict[tuple[str, str, int], _Landed] = field(default_factory=dict)
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
            for run in self._planned()
            if run.run_id not in published_at or published_at[run.run_id] < run.started_at
        ]
        with self._lock:
            every_run = [self._of(run, now) for run in open_runs]
        unpublished = [
            one
            for one in every_run
            if not (
                one.activity is Activity.STOPPED
                and one.whole
                and one.planned.run_id in published_at
            )
        ]
        return tuple(sorted(unpublished, key=lambda one: one.planned.started_at, reverse=True))

    def of_ideas(self, ideas: Path) -> RunProgress | None:
        """Return the progress of an idea file's run; None before it is planned."""
        place, now = str(ideas.resolve()), datetime.now(UTC)
        with self._lock:
            run_id = self._runs_of.get(place)
            planned = None if run_id is None else read_planned(self.layout, run_id)
            if planned is None or planned.ideas_path != place:
                planned = next((run for run in self._planned() if run.ideas_path == place), None)
            if planned is None:
                return None
            self._runs_of[place] = planned.run_id
            return self._of(planned, now)

    def _planned(self) -> Iterator[PlannedRun]:
        for path in sorted((self.layout.state / "runs").glob("*/planned.json")):
            try:
                planned = read_planned(self.layout, RunId(path.parent.name))
            except ConfigurationError:
                continue  # a run of another version cannot be watched; the others can
            if planned is not None:
                yield planned

    def _of(self, run: PlannedRun, now: datetime) -> RunProgress:
        landed = list(self._landed(run.run_id))
        last = max((entry.at for entry in landed), default=None)
        last_at = None if last is None else datetime.fromtimestamp(last, UTC)
        activity = self._activity(run, last_at, now)
        rate = _per_minute(landed, run, now)
        left = max(run.idea_count - len(landed), 0)
        running = activity is Activity.RUNNING
        return RunProgress(
            planned=run,
            activity=activity,
            landed_count=len(landed),
            incomplete_count=sum(entry.incomplete for entry in landed),
            failure_count=sum(entry.failures for entry in landed),
            unscored_count=sum(entry.unscored for entry in landed),
            cost_usd=sum(entry.cost_usd or 0.0 for entry in landed),
            unknown_cost_count=sum(entry.cost_usd is None for entry in landed),
            ideas_per_minute=rate if running else None,
            last_landed_at=last_at,
            ends_at=now + timedelta(minutes=left / rate) if running and rate else None,
        )

    def _landed(self, run_id: RunId) -> Iterator[_Landed]:
        for folder in unit_folders(self.layout, RUNS, run_id):
            try:
                changed = folder.stat().st_mtime_ns
                key = (run_id, folder.name, changed)
                if key not in self._known:
                    receipt = receipt_of(self.layout, RUNS, folder)
                    if receipt is None:
                        continue
                    self._known[key] = _seen(receipt, changed / 1e9)
            except (FileNotFoundError, ConfigurationError):
                continue  # replaced this moment: the next look sees it; or the run names what is wrong
            yield self._known[key]

    def _activity(self, run: PlannedRun, last_at: datetime | None, now: datetime) -> Activity:
        held = lock_held(self.layout.planned_run(run.run_id).with_name("lock"))
        recent = now - max(last_at or run.started_at, run.started_at) < SILENT_AFTER
        if held or (held is None and recent):
            return Activity.RUNNING
        verdict = RUNS.validation_file(self.layout, run.run_id)
        checked = verdict.exists() and verdict.stat().st_mtime >= run.started_at.timestamp()
        refused = checked and read_refusal(verdict) is not None
        return Activity.REFUSED if refused else Activity.STOPPED


def _seen(receipt: Receipt, at: float) -> _Landed:
    return _Landed(
        at=at,
        cost_usd=0.0 if receipt.reused_from_run_id else receipt.cost_usd,
        unscored=receipt.unscored,
        failures=receipt.failures,
        incomplete=not receipt.complete,
    )


def _per_minute(landed: list[_Landed], run: PlannedRun, now: datetime) -> float | None:
    """Return ideas per minute over the last minutes; None if nothing has landed."""
    since = max(now - RATE_OVER, run.started_at)
    count = sum(entry.at >= since.timestamp() for entry in landed)
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
