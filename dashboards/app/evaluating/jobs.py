"""Evaluations started from the page: files under the warehouse's `state/`, so that they outlive a
reload and the dashboard itself.

One folder per job: `idea.jsonl`, `request.json`, what the command printed (`result.json`) and said
(`log.txt`), and `exit.json` at its end.
"""

import fcntl
import os
import subprocess
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from uuid import uuid4

import orjson

from dashboards.app.evaluating.environment import environment_of
from dashboards.app.evaluating.request import (
    EvaluateRequest,
    arguments,
    check_offered,
    complaint,
    write_idea,
)
from schemas.base import Noun
from schemas.errors import ConfigurationError, UpstreamError
from schemas.identifiers import IdeaId, RunId
from schemas.interpreter import module_command
from schemas.patterns import bounded
from schemas.settings import Settings
from warehouse.layout import Layout

STARTING_SECONDS = 20.0
PLAN_SECONDS = 180.0
LOG_LINES = 40
_JOB_ID = bounded(r"\d{8}T\d{6}-[0-9a-f]{8}")


class JobState(StrEnum):
    STARTING = "starting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    INTERRUPTED = "interrupted"


class Job(Noun):
    """One evaluation started from the page.

    `exit_code` is the command's (0 done, 1 failures, 2 wrong usage, 3 budget reached), None before its end; `detail` is its last word.
    """

    job_id: str
    folder: Path
    state: JobState
    request: EvaluateRequest
    started_at: datetime
    finished_at: datetime | None = None
    exit_code: int | None = None
    detail: str = ""
    run_id: RunId | None = None
    idea_id: IdeaId | None = None

    @property
    def at_work(self) -> bool:
        return self.state in (JobState.STARTING, JobState.RUNNING)


def jobs_folder(layout: Layout) -> Path:
    return layout.state / "evaluate-one"


def lock_path(layout: Layout) -> Path:
    """Held by the one evaluation at work, whose job_id it contains."""
    return jobs_folder(layout) / "lock"


def plan_of(layout: Layout, request: EvaluateRequest, settings: Settings) -> dict[str, object]:
    """What `assay plan --json` says of `request`.

    Raises:
        ConfigurationError: in the command's own words, what is wrong with the request; or it asks
            for more than is offered.
        UpstreamError: it took too long.
    """
    path = jobs_folder(layout) / f".plan-{uuid4().hex}.jsonl"
    command = module_command(
        "flows", *arguments("plan", request, path, layout.root, settings.dashboard)
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    write_idea(request, path)
    told = environment_of(request, settings, os.environ)
    try:
        done = subprocess.run(  # noqa: S603 a list, no shell
            command,
            env=told,
            capture_output=True,
            timeout=PLAN_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        raise UpstreamError(
            f"`assay plan` took longer than {PLAN_SECONDS:.0f} seconds: try again when the machine"
            " is less busy"
        ) from None
    finally:
        path.unlink(missing_ok=True)
    if done.returncode != 0:
        raise ConfigurationError(complaint(done.stderr.decode("utf-8", "replace")))
    found: dict[str, object] = orjson.loads(done.stdout)
    return found


def start(layout: Layout, request: EvaluateRequest, settings: Settings) -> str:
    """Start the evaluation as a process of its own; the job's id.

    Raises:
        ConfigurationError: another one is at work in this warehouse, or `request` asks for more
            than is offered.
    """
    check_offered(request, settings.dashboard)
    if (other := job_at_work(layout)) is not None:
        raise ConfigurationError(
            f"the evaluation started at {other.started_at:%H:%M UTC} is still at work: wait for it,"
            " or stop it"
        )
    job_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{uuid4().hex[:8]}"
    folder = jobs_folder(layout) / job_id
    folder.mkdir(parents=True)
    write_idea(request, folder / "idea.jsonl")
    (folder / "request.json").write_text(request.model_dump_json(), "utf-8")
    command = module_command("dashboards.app.evaluating.child", str(layout.root.resolve()), job_id)
    quiet = subprocess.DEVNULL
    told = environment_of(request, settings, os.environ)
    subprocess.Popen(  # noqa: S603 a list, no shell
        command, env=told, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )
    return job_id


def stop(job: Job) -> None:
    """Ask a job to stop in order: what it paid for stays landed, and the same request goes on from
    there.
    """
    (job.folder / "stop").touch()


def job_at_work(layout: Layout) -> Job | None:
    """The evaluation at work in this warehouse."""
    return next((job for job in newest_jobs(layout, 5) if job.at_work), None)


def newest_jobs(layout: Layout, count: int) -> list[Job]:
    folder = jobs_folder(layout)
    names = (
        sorted(
            (path.name for path in folder.iterdir() if _JOB_ID.fullmatch(path.name)), reverse=True
        )
        if folder.is_dir()
        else []
    )
    found = (read_job(layout, name) for name in names[:count])
    return [job for job in found if job is not None]


def read_job(layout: Layout, job_id: str) -> Job | None:
    """A job as it is now; None when there is none of this name."""
    folder = jobs_folder(layout) / job_id
    if not _JOB_ID.fullmatch(job_id) or not (folder / "request.json").exists():
        return None
    request = EvaluateRequest.model_validate_json((folder / "request.json").read_bytes())
    started_at = datetime.strptime(job_id[:15], "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    if not (folder / "exit.json").exists():
        state = _state_before_exit(layout, job_id, started_at)
        detail = (
            "its process was lost; the same request goes on where it stopped"
            if state is JobState.INTERRUPTED
            else ""
        )
        return Job(
            job_id=job_id,
            folder=folder,
            state=state,
            request=request,
            started_at=started_at,
            detail=detail,
        )
    ended = orjson.loads((folder / "exit.json").read_bytes())
    run_id, idea_id = _result(folder)
    return Job(
        job_id=job_id,
        folder=folder,
        state=JobState(ended["state"]) if run_id is None or idea_id is None else JobState.DONE,
        request=request,
        started_at=started_at,
        finished_at=datetime.fromisoformat(ended["finished_at"]),
        exit_code=ended["exit_code"],
        detail=complaint(log_tail(folder)) if ended["exit_code"] else "",
        run_id=run_id,
        idea_id=idea_id,
    )


def log_tail(folder: Path) -> list[str]:
    """The last lines of what the command said."""
    path = folder / "log.txt"
    return path.read_text("utf-8", "replace").splitlines()[-LOG_LINES:] if path.exists() else []


def _state_before_exit(layout: Layout, job_id: str, started_at: datetime) -> JobState:
    if _holder(layout) == job_id:
        return JobState.RUNNING
    young = (datetime.now(UTC) - started_at).total_seconds() < STARTING_SECONDS
    return JobState.STARTING if young else JobState.INTERRUPTED


def _holder(layout: Layout) -> str | None:
    """The job that holds the warehouse's lock; None when nobody does."""
    path = lock_path(layout)
    if not path.exists():
        return None
    with path.open("rb") as file:
        try:
            # By hand: filelock's locks are exclusive, and two readers must not see each other.
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read().decode("ascii", "replace")
    return None


def _result(folder: Path) -> tuple[RunId | None, IdeaId | None]:
    """Run and idea as the command printed them; None for what it did not come to."""
    path = folder / "result.json"
    text = path.read_bytes() if path.exists() else b""
    try:
        result = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None, None
    run_id = result["run"]["run_id"] if result["published"] else None
    return run_id, result["ranking"][0]["idea_id"] if result["ranking"] else None
