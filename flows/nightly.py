"""Nightly job: evaluate, publish, rank, report and archive the idea files of an inbox.

Files of seeds are turned into idea files first.
"""

import asyncio
import inspect
import logging
import os
import shutil
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.blocks.abstract import NotificationBlock, NotificationError
from prefect.blocks.core import Block
from prefect.exceptions import PrefectException

from dashboards.render import figures
from dashboards.views.write_ideation import ideation_page
from dashboards.views.write_nightly import write_nightly
from flows.run.campaign import run_campaign
from flows.run.campaign_runs import CampaignRuns
from flows.run.cluster import carry_out_on_cluster
from flows.run.environment import silence_known_errors
from flows.run.preflight import check_before
from flows.run.requests import request_of
from flows.works.evaluate.evaluate import Evaluation, RunSummary
from flows.works.evaluate.idea_input import print_remarks
from schemas.boundary import ErrorBoundary, error_line
from schemas.choices import EXTRACTIVE
from schemas.errors import AssayError, IdeaFileError
from schemas.identifiers import RunId
from schemas.judgement.run_request import RunRequest
from schemas.options.commands import RunOptions
from schemas.options.values import DEFAULT_PROFILE
from schemas.place import warehouse_folder
from schemas.settings import Settings
from schemas.text.plain_files import PlainFileError, open_file
from schemas.works.ideation_run import IdeateOptions, IdeationHead, IdeationRequest
from tasks.evaluation.work import EVALUATE
from tasks.ideas.json_lines import write_ideas
from tasks.ideation.course import IdeationSummary, make_in_rounds
from tasks.ideation.work import IDEATE
from tasks.telemetry.reporting import reporting, span
from tasks.web.client import RequestFailure
from warehouse.kinds.registry import KINDS
from warehouse.reports import share_reports
from warehouse.units.later_validation import validate_published
from warehouse.warehouse import Warehouse

logger = logging.getLogger(__name__)
_PARTIAL_SUFFIXES = (".part", ".partial", ".tmp", ".crdownload")
_LITTER_PREFIXES = (".", "~$")
_LITTER = frozenset({"thumbs.db", "desktop.ini"})
_CLOCK_SECONDS = 60.0
"""File servers and machines differ by less where their clocks are right."""

silence_known_errors()


@flow(name="nightly", log_prints=False)
def nightly(
    inbox: str,
    warehouse: str,
    archive: str | None = None,
    profile: str = DEFAULT_PROFILE,
    engine: str = EXTRACTIVE.text,
    api_base: str | None = None,
    literature: str | None = None,
    modules: str = "soundness,contribution",
    workers: int = 2,
    scheduler: str | None = None,
    max_cost_usd: float | None = None,
    settle_seconds: float = 30.0,
    seeds: str | None = None,
    rounds: int = 3,
    per_seed: int = 4,
) -> dict[str, str]:
    """Evaluate the idea files and folders in `inbox`, oldest first, one run each.

    A missing inbox is created. Files that may still be written (changed within `settle_seconds`,
    or `.part`) and those from a clock ahead wait for the next night, with the reason as outcome.
    Hidden files and lock files are skipped. Evaluated files move to `archive/<day>/`.
    Unreadable files, links, and files on which Assay failed move to `archive/rejected/` with a
    `.reason.txt`, so that they fail once. Files whose run failed for a cause that may pass (server,
    setting, disk) stay in the inbox.

    Files in the folder `seeds`, if it is named, are processed first in the same way: `rounds`
    rounds make `per_seed` ideas of every seed, and the best version of each idea goes into the
    inbox for the same night. `max_cost_usd` bounds each ideation and each run.

    Returns: the outcome of each file, by name.

    Raises:
        Exception: a run failed; the other files were processed.
    """
    settings, inbox_folder = Settings(), Path(inbox)
    archive_folder = Path(archive) if archive else inbox_folder.parent / "archive"
    night = _Night(archive_folder, settle_seconds, settings)
    options = {
        "warehouse": warehouse,
        "profile": profile,
        "engine": engine,
        "api_base": api_base,
        "literature": literature,
        "modules": modules,
        "workers": workers,
        "scheduler": scheduler,
        "max_cost_usd": max_cost_usd,
    }

    if seeds is not None:
        seed_options = options | {"rounds": rounds, "per_seed": per_seed}
        make_ideas = partial(night.make_ideas, seed_options, inbox_folder)
        night.work_through(Path(seeds), make_ideas, prefix="seeds/")
    night.work_through(inbox_folder, partial(night.evaluate_ideas, options))
    lake = Warehouse(warehouse_folder(warehouse).resolve(), settings)
    night.validate_published(lake)
    _summarise(lake, night.outcomes, night.published)
    if night.errors:
        raise night.errors[0]
    return night.outcomes


class _Night:
    """Outcomes, published runs and errors of one night."""

    def __init__(self, archive: Path, settle_seconds: float, settings: Settings) -> None:
        self.outcomes: dict[str, str] = {}
        self.published: list[RunId] = []
        self.errors: list[Exception] = []
        self._archive, self._settle_seconds, self._settings = archive, settle_seconds, settings

    def make_ideas(self, values: Mapping[str, object], inbox: Path, path: Path) -> str:
        options = IdeateOptions.model_validate(values)
        request = request_of(IDEATE, (path,), options, self._settings)
        print_remarks(request.remarks)
        check_before(IDEATE, request, self._settings)
        summary = ideate_batch(request, self._settings)
        if not summary.published:
            return f"not published: {'; '.join(summary.failed_expectations)}"
        warehouse = Warehouse(request.warehouse, self._settings)
        outcome = _fill_inbox(inbox, summary.head, path, warehouse)
        self._archive_file(path)
        return outcome

    def evaluate_ideas(self, values: Mapping[str, object], path: Path) -> str:
        request = request_of(EVALUATE, (path,), RunOptions.model_validate(values), self._settings)
        check_before(EVALUATE, request, self._settings)
        summary = run_batch(request)
        run = summary.head
        if not summary.published:
            return run.order_in_words
        self.published.append(run.run_id)
        self._archive_file(path)
        # Alarms have their own section of the summary.
        return f"published as {run.run_id}: {run.states_in_words}."

    def _archive_file(self, path: Path) -> None:
        _move(path, self._archive / datetime.now(UTC).date().isoformat())

    def validate_published(self, warehouse: Warehouse) -> None:
        """Validate the small publications since the last night."""
        if not warehouse.may_hold_a_lake():
            return
        boundary = ErrorBoundary()
        with boundary:
            validation = validate_published(warehouse, KINDS)
            for line in validation.broken:
                logger.warning("published, and broken: %s", line)
            for line in validation.failed:
                logger.warning("published, and not validated: %s", line)
        if boundary.error is not None:
            self.errors.append(boundary.error)

    def work_through(self, folder: Path, work: Callable[[Path], str], prefix: str = "") -> None:
        """Apply `work` to each waiting file of `folder`, and record its outcome.

        Args:
            prefix: prefix of the names in `outcomes`.
        """
        if not folder.exists():
            logger.warning("there was no folder %s: it is made now", folder)
            folder.mkdir(parents=True)
        for path, reason in inbox_entries(folder, self._archive, self._settle_seconds).items():
            name = prefix + path.name.encode("utf-8", "replace").decode()
            if reason:
                self.outcomes[name] = f"waits for the next night: {reason}"
                continue
            boundary = ErrorBoundary()
            with boundary:
                _refuse_link(path)
                with reporting(self._settings.telemetry, "assay-run"), span("nightly"):
                    self.outcomes[name] = work(path)
            if boundary.error is not None:
                self.outcomes[name] = self._failure_outcome(boundary.error, path)
                if not isinstance(boundary.error, IdeaFileError):
                    self.errors.append(boundary.error)

    def _failure_outcome(self, error: Exception, path: Path) -> str:
        """Return the outcome of a failed file; move it aside if it would fail every night."""
        if isinstance(error, IdeaFileError):
            outcome, reason = f"rejected: {error}", str(error)
        elif isinstance(error, AssayError | OSError):
            return f"failed: {error}"
        else:
            logger.error("the run of %r failed", path.name, exc_info=error)
            reason = (
                f"Assay itself failed ({error_line(error)}); please report it, and move the file"
                " back into the inbox to try it again"
            )
            outcome = f"failed: {reason}"
        boundary = ErrorBoundary()
        with boundary:
            target = _move(path, self._archive / "rejected")
            note = target.with_name(f"{target.name}.reason.txt")
            note.write_bytes(f"{reason}\n".encode("utf-8", "replace"))
        if boundary.error is None:
            return outcome
        return f"{outcome}; it cannot be moved away ({error_line(boundary.error)})"


def ideate_batch(request: IdeationRequest, settings: Settings) -> IdeationSummary:
    """Make ideas of one file of seeds on workers."""
    runs = CampaignRuns(lambda each: run_campaign(each, carry_out_on_cluster))
    return make_in_rounds(request, settings, runs)


def _fill_inbox(inbox: Path, head: IdeationHead, seeds: Path, warehouse: Warehouse) -> str:
    """Write the best version of each idea into the inbox, and return the outcome.

    The file gets the modification time of its seeds, so that it does not wait for another night.
    """
    page = ideation_page(warehouse, head.run_id)
    early_end = f"; it ended early: {head.incomplete_reason}" if head.incomplete_reason else ""
    if not page.best:
        content = "leads, and no ideas" if page.leads else "no ideas"
        return f"{content}, published as {head.run_id}{early_end}."
    inbox.mkdir(parents=True, exist_ok=True)
    path, modified_at = inbox / f"{head.run_id}.jsonl", _changed_at(seeds)
    partial = path.with_name(f"{path.name}.part")
    write_ideas([version.idea for version in page.best], partial)
    os.utime(partial, (modified_at, modified_at))
    partial.replace(path)
    return f"{len(page.best)} ideas, published as {head.run_id} and laid into the inbox{early_end}."


def run_batch(request: RunRequest) -> RunSummary:
    return run_campaign(Evaluation(request), carry_out_on_cluster)


def inbox_entries(inbox: Path, archive: Path, settle_seconds: float) -> dict[Path, str]:
    """Return the entries of the inbox, oldest first, each with the reason why it waits.

    The reason is empty for those that are processed tonight.
    Links, pipes and devices are included, to be rejected. Hidden files and lock files of office
    programs and file managers are no entries.
    """
    changed_at = {
        path: _changed_at(path)
        for path in inbox.iterdir()
        if not path.name.startswith(_LITTER_PREFIXES)
        and path.name.lower() not in _LITTER
        and not archive.absolute().is_relative_to(path.absolute())
    }
    in_order = sorted(changed_at, key=lambda path: (changed_at[path], path.name))
    now = time.time()
    return {path: _too_early(path, now - changed_at[path], settle_seconds) for path in in_order}


def _too_early(path: Path, age_seconds: float, settle_seconds: float) -> str:
    if path.suffix.lower() in _PARTIAL_SUFFIXES:
        return f"its name ends in {path.suffix}, so it is still being written"
    if age_seconds < -_CLOCK_SECONDS:
        ahead = figures.duration(-age_seconds)
        return f"its time is {ahead} ahead of this machine's clock; `touch` it or mend the clock"
    if age_seconds < settle_seconds:
        return f"it was changed {max(age_seconds, 0):.0f} s ago and may still be growing"
    return ""


def _changed_at(path: Path) -> float:
    content = path.rglob("*") if path.is_dir() and not path.is_symlink() else ()
    times: list[float] = [each.lstat().st_mtime for each in (path, *content)]
    return max(times)


def _refuse_link(path: Path) -> None:
    """Raise IdeaFileError for a link, which may lead to any file of the machine."""
    place = path.parent.resolve() / path.name
    if place.is_symlink() or not place.is_dir():
        try:
            open_file(place).close()
        except PlainFileError as error:
            raise IdeaFileError(error.named) from error


def _move(path: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / path.name
    if target.exists():
        target = folder / f"{path.stem}-{datetime.now(UTC):%H%M%S%f}{path.suffix}"
    shutil.move(path, target)
    return target


def _summarise(warehouse: Warehouse, outcomes: dict[str, str], published_ids: list[RunId]) -> None:
    """Write the summary of the night, as a file and a Prefect artifact, and post it.

    A night without a file is not posted.
    """
    now = datetime.now(UTC)
    summary = write_nightly(warehouse, now, outcomes, published_ids)
    share_reports(warehouse, (summary.markdown_path, summary.html_path, *summary.day_paths))
    create_markdown_artifact(
        markdown=summary.markdown, key="nightly-summary", description=str(summary.html_path)
    )
    if outcomes:
        alarms = f", {summary.alarm_count} alarms" if summary.alarm_count else ""
        post(
            summary.markdown,
            f"Assay, night of {now:%Y-%m-%d}{alarms}",
            warehouse.settings.nightly.notification_block,
        )


def post(markdown: str, subject: str, block_name: str | None) -> bool:
    """Post the summary, and return whether that succeeded.

    A failed post is only a warning: the night's work is done and the file exists.

    Args:
        block_name: `<type>/<name>`, such as `slack-webhook/assay`; None: nothing is posted.
    """
    if block_name is None:
        return False
    try:
        block = Block.load(block_name)
        if not isinstance(block, NotificationBlock):
            logger.warning("block %s sends no notifications: name a notification block", block_name)
            return False
        with block.raise_on_failure():
            delivery = block.notify(markdown, subject)
            if inspect.isawaitable(delivery):
                asyncio.run(delivery)
    except (ValueError, OSError, RequestFailure, NotificationError, PrefectException) as error:
        logger.warning(
            "the summary was not posted through block %s (%s)", block_name, type(error).__name__
        )
        return False
    return True
