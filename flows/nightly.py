"""The nightly job: every new idea file in an inbox is evaluated, published, ranked, reported and archived."""

import shutil
import time
from datetime import UTC, datetime
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from dashboards.reports.write_nightly import write_nightly
from flows.checks import check_before_run
from flows.evaluate import RunSummary, run_batch
from flows.notification import post
from flows.request import DEFAULT_PROFILE, resolve_request
from schemas.errors import AssayError, IdeaFileError
from schemas.identifiers import RunId
from schemas.settings import Settings
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span
from warehouse.layout import Layout

IDEA_FILE_SUFFIXES = (".jsonl", ".csv", ".parquet", ".md", ".txt")


@flow(name="nightly", log_prints=False)
def nightly(
    inbox: str,
    warehouse: str,
    archive: str | None = None,
    profile: str = DEFAULT_PROFILE,
    engine: str = "extractive",
    api_base: str | None = None,
    literature: str | None = None,
    modules: str = "soundness,contribution",
    workers: int = 2,
    scheduler: str | None = None,
    max_cost_usd: float | None = None,
    settle_seconds: float = 30.0,
) -> dict[str, str]:
    """Evaluate the idea files waiting in `inbox`, oldest first, one run per file.

    A file that is still being written (changed within `settle_seconds`, or hidden, or `.part`) waits for
    the next night. An evaluated file moves to `archive/<day>/`; one that cannot be read moves to
    `archive/rejected/` beside a `.reason.txt`. A file whose run failed stays in the inbox.

    Returns: what became of each file, by name.

    Raises:
        AssayError: a run could not be carried out; the other files were still done.
    """
    settings = Settings()
    archive_folder = Path(archive) if archive else Path(inbox).parent / "archive"
    outcomes: dict[str, str] = {}
    published: list[RunId] = []
    errors: list[AssayError] = []
    for path in waiting_files(Path(inbox), settle_seconds):
        try:
            request = resolve_request(
                path,
                settings,
                warehouse=Path(warehouse),
                profile=profile,
                engine=engine,
                api_base=api_base,
                literature=literature,
                modules=modules,
                workers=workers,
                scheduler=scheduler,
                max_cost_usd=max_cost_usd,
            )
            check_before_run(request, settings)
            with reporting(settings.telemetry, "assay-run"), span("nightly"):
                summary = run_batch(request)
            outcomes[path.name] = _settle(path, summary, archive_folder)
            published.extend([summary.run.run_id] if summary.published else [])
        except IdeaFileError as error:
            outcomes[path.name] = f"rejected: {error}"
            _move(path, archive_folder / "rejected")
            (archive_folder / "rejected" / f"{path.name}.reason.txt").write_text(f"{error}\n")
        except AssayError as error:
            outcomes[path.name] = f"failed: {error}"
            errors.append(error)
    _summarise(Layout(Path(warehouse).resolve()), outcomes, published, settings)
    if errors:
        raise errors[0]
    return outcomes


def waiting_files(inbox: Path, settle_seconds: float) -> list[Path]:
    """Idea files that have come to rest, oldest first."""
    newest_allowed = time.time() - settle_seconds
    files = [path for path in inbox.iterdir() if path.suffix in IDEA_FILE_SUFFIXES and path.is_file() and not path.name.startswith(".")]
    return sorted((path for path in files if path.stat().st_mtime <= newest_allowed), key=lambda path: (path.stat().st_mtime, path.name))


def _settle(path: Path, summary: RunSummary, archive_folder: Path) -> str:
    if not summary.published:
        return f"not published: {'; '.join(summary.failed_expectations)}"
    _move(path, archive_folder / datetime.now(UTC).date().isoformat())
    return f"published as {summary.run.run_id}: {summary.run.evaluated_count} of {summary.run.idea_count} ideas"


def _move(path: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / path.name
    if target.exists():
        target = folder / f"{path.stem}-{datetime.now(UTC):%H%M%S%f}{path.suffix}"
    shutil.move(path, target)


def _summarise(layout: Layout, outcomes: dict[str, str], published: list[RunId], settings: Settings) -> None:
    """What the morning reads: a file, an artifact, and a post where a block is named. A night without a file is not posted."""
    day = datetime.now(UTC).date()
    summary = write_nightly(layout, day, outcomes, published, catalogue_url=settings.catalogue)
    create_markdown_artifact(markdown=summary.markdown, key="nightly-summary", description=str(summary.html_path))
    if outcomes:
        alarms = f", {summary.alarm_count} alarms" if summary.alarm_count else ""
        post(summary.markdown, f"Assay, night of {day:%Y-%m-%d}{alarms}", settings.nightly.notification_block)
