"""The nightly job: every new idea file in an inbox is evaluated, published, ranked, reported and
archived.
"""

import logging
import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from dashboards.reports.write_nightly import write_nightly
from flows.campaign import run_campaign
from flows.cluster import carry_out_on_cluster
from flows.environment import keep_known_errors_short
from flows.evaluate import Evaluation, RunSummary
from flows.notification import post
from flows.preflight import check_before_run
from flows.request import resolve_request
from schemas.boundary import ErrorBoundary, in_a_word
from schemas.choices import EXTRACTIVE
from schemas.errors import AssayError, IdeaFileError
from schemas.identifiers import RunId
from schemas.option_values import DEFAULT_PROFILE
from schemas.options import RunOptions
from schemas.run import RunRequest
from schemas.settings import Settings
from tasks.telemetry.reporting import reporting, span
from warehouse.layout import Layout

logger = logging.getLogger(__name__)
_UNFINISHED = (".part", ".partial", ".tmp", ".crdownload")

keep_known_errors_short()


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
) -> dict[str, str]:
    """Evaluate the idea files and folders waiting in `inbox`, oldest first, one run for each.

    An inbox that is not there is made. What is still being written (changed within
    `settle_seconds`, or hidden, or `.part`) waits for the next night. What was evaluated moves to
    `archive/<day>/`. What cannot be read, a link, and what Assay itself failed over move to
    `archive/rejected/` beside a `.reason.txt`, so that they fail for one night only. A file whose
    run failed for what may pass (a server, a setting, a disk) stays in the inbox.

    Returns: what became of each file, by name.

    Raises:
        Exception: a run could not be carried out; the other files were still done.
    """
    settings = Settings()
    inbox_folder = Path(inbox)
    archive_folder = Path(archive) if archive else inbox_folder.parent / "archive"
    if not inbox_folder.exists():
        logger.warning("there was no inbox %s: it is made now", inbox_folder)
        inbox_folder.mkdir(parents=True)
    outcomes: dict[str, str] = {}
    published: list[RunId] = []
    errors: list[Exception] = []
    for path in waiting(inbox_folder, archive_folder, settle_seconds):
        name = path.name.encode("utf-8", "replace").decode()
        boundary = ErrorBoundary()
        with boundary:
            _refuse_link(path)
            options = RunOptions.model_validate(
                {
                    "warehouse": Path(warehouse),
                    "profile": profile,
                    "engine": engine,
                    "api_base": api_base,
                    "literature": literature,
                    "modules": modules,
                    "workers": workers,
                    "scheduler": scheduler,
                    "max_cost_usd": max_cost_usd,
                }
            )
            request = resolve_request(path, options, settings)
            check_before_run(request, settings)
            with reporting(settings.telemetry, "assay-run"), span("nightly"):
                summary = run_batch(request)
            published.extend([summary.head.run_id] if summary.published else [])
            outcomes[name] = _settle(path, summary, archive_folder)
        if boundary.error is not None:
            outcomes[name] = _told(boundary.error, path, archive_folder)
            errors.extend([] if isinstance(boundary.error, IdeaFileError) else [boundary.error])
    _summarise(Layout(Path(warehouse).resolve()), outcomes, published, settings)
    if errors:
        raise errors[0]
    return outcomes


def run_batch(request: RunRequest) -> RunSummary:
    """Evaluate one file of the night on workers."""
    return run_campaign(Evaluation(request), carry_out_on_cluster)


def waiting(inbox: Path, archive: Path, settle_seconds: float) -> list[Path]:
    """What has come to rest in the inbox, oldest first.

    What is no idea file waits too, links, pipes and devices included: to be rejected.
    """
    newest_allowed = time.time() - settle_seconds
    changed_at = {
        path: _changed_at(path)
        for path in inbox.iterdir()
        if not path.name.startswith(".")
        and path.suffix.lower() not in _UNFINISHED
        and not archive.absolute().is_relative_to(path.absolute())
    }
    return sorted(
        (path for path, at in changed_at.items() if at <= newest_allowed),
        key=lambda path: (changed_at[path], path.name),
    )


def _changed_at(path: Path) -> float:
    """When it was changed; of a folder, when anything in it was."""
    inside = path.rglob("*") if path.is_dir() and not path.is_symlink() else ()
    times: list[float] = [each.lstat().st_mtime for each in (path, *inside)]
    return max(times)


def _refuse_link(path: Path) -> None:
    """A link in the inbox may lead to any file of the machine, and what an idea says is shown to
    many.
    """
    if path.is_symlink() or not (path.is_file() or path.is_dir()):
        raise IdeaFileError(
            "this is a link, pipe or device, and only files are read: put a copy in its place"
        )


def _told(error: Exception, path: Path, archive_folder: Path) -> str:
    """What became of a file that was not evaluated; one that would fail again every night is set
    aside.
    """
    if isinstance(error, IdeaFileError):
        return _set_aside(path, archive_folder, f"rejected: {error}", str(error))
    if isinstance(error, AssayError | OSError):
        return f"failed: {error}"
    logger.error("the run of %r failed", path.name, exc_info=error)
    reason = (
        f"Assay itself failed ({in_a_word(error)}); please report it, and move the file back into"
        " the inbox to try it again"
    )
    return _set_aside(path, archive_folder, f"failed: {reason}", reason)


def _set_aside(path: Path, archive_folder: Path, outcome: str, reason: str) -> str:
    boundary = ErrorBoundary()
    with boundary:
        target = _move(path, archive_folder / "rejected")
        note = target.with_name(f"{target.name}.reason.txt")
        note.write_bytes(f"{reason}\n".encode("utf-8", "replace"))
    return (
        outcome
        if boundary.error is None
        else f"{outcome}; it cannot be moved away ({in_a_word(boundary.error)})"
    )


def _settle(path: Path, summary: RunSummary, archive_folder: Path) -> str:
    run = summary.head
    if not summary.published:
        return run.order_in_words
    _move(path, archive_folder / datetime.now(UTC).date().isoformat())
    return f"published as {run.run_id}: {run.order_in_words} {run.states_in_words}."


def _move(path: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / path.name
    if target.exists():
        target = folder / f"{path.stem}-{datetime.now(UTC):%H%M%S%f}{path.suffix}"
    shutil.move(path, target)
    return target


def _summarise(
    layout: Layout, outcomes: dict[str, str], published: list[RunId], settings: Settings
) -> None:
    """What the morning reads: a file, an artifact, and a post where a block is named.

    A night without a file is not posted.
    """
    now = datetime.now(UTC)
    summary = write_nightly(
        layout,
        now,
        outcomes,
        published,
        catalogue_url=settings.catalogue,
        thresholds=settings.alarms,
    )
    create_markdown_artifact(
        markdown=summary.markdown, key="nightly-summary", description=str(summary.html_path)
    )
    if outcomes:
        alarms = f", {summary.alarm_count} alarms" if summary.alarm_count else ""
        post(
            summary.markdown,
            f"Assay, night of {now:%Y-%m-%d}{alarms}",
            settings.nightly.notification_block,
        )
