"""Jobs as files in the warehouse's state folder.

    state/jobs/runner.lock          lock of the one runner
    state/jobs/<job>/request.json   the request, written once
                     status.json    state and progress; missing before the first start
                     lock           lock of the process that executes it
                     stop           stop request
                     log.txt        output of the process
                     ideas.<format>, result.json

Pages and programs submit, read and stop jobs; `flows/jobs/runner.py` executes them.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from uuid import uuid4

import orjson
from filelock import FileLock
from pydantic import ValidationError

from schemas.base import Noun, first_fault
from schemas.errors import ConfigurationError, ConflictError, UnknownNameError
from schemas.identifiers import content_hash
from schemas.people.job import JOB_REQUEST, JobRequest, JobState, JobStatus
from schemas.text.patterns import bounded
from schemas.text.plain_files import PlainFileError, open_file
from warehouse.parquet import BUILDING, read_bytes, write_bytes
from warehouse.progress import lock_held
from warehouse.units.landing import as_json, read_noun, write_noun
from warehouse.warehouse import Warehouse

_MOST_TAIL_BYTES = 1_000_000
LOG_LINES = 40
_KEY_DIGITS = 16
_OF_THE_READER = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors of the reading process, not of the file."""
_JOB_ID = bounded(rf"\d{{8}}T\d{{12}}-[0-9a-f]{{{_KEY_DIGITS}}}")


class Job(Noun):
    """A job as stored in its files.

    Attributes:
        request: None if it cannot be read; the runner reports it in `status.last_word`.
    """

    job_id: str
    folder: Path
    request: JobRequest | None
    status: JobStatus
    stop_requested: bool

    @property
    def at_work(self) -> bool:
        """Return whether it waits or runs."""
        return not self.status.state.ended

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def log(self) -> Path:
        return self.folder / "log.txt"

    @property
    def ideas(self) -> Path:
        ending = getattr(self.request, "ideas_format", "jsonl")
        return self.folder / f"ideas.{ending}"

    @property
    def result(self) -> Path:
        """Path of a plan's result as JSON."""
        return self.folder / "result.json"

    @property
    def stop(self) -> Path:
        return self.folder / "stop"


def jobs_folder(warehouse: Warehouse) -> Path:
    return warehouse.state / "jobs"


def runner_lock(warehouse: Warehouse) -> Path:
    return jobs_folder(warehouse) / "runner.lock"


def runner_at_work(warehouse: Warehouse) -> bool | None:
    """Return whether a runner holds the lock; None if the system does not report locks."""
    return lock_held(runner_lock(warehouse))


def submit(warehouse: Warehouse, request: JobRequest) -> str:
    """Write a request for the runner, and return its job_id.

    A known idempotency key returns its job, and nothing is written.

    Raises:
        ConflictError: the key belongs to another request.
    """
    folder = jobs_folder(warehouse)
    folder.mkdir(parents=True, exist_ok=True)
    key = content_hash(request.idempotency_key, length=_KEY_DIGITS)
    # Concurrent submissions of one key would not see each other.
    with FileLock(folder / "submit.lock", fallback_to_soft=False):
        existing_id = next((name for name in job_ids(warehouse) if name.endswith(key)), None)
        if existing_id is not None:
            existing = read_request(warehouse, existing_id)
            if existing.model_copy(update={"created_at": request.created_at}) != request:
                raise ConflictError(
                    f"the idempotency key of job {existing_id} belongs to another request: choose a"
                    " new key"
                )
            return existing_id
        job_id = job_id_of(request)
        _write_request(folder, job_id, as_json(request))
    return job_id


def submit_as(warehouse: Warehouse, job_id: str, document: bytes) -> None:
    """Write a request under its job_id, unless the job exists.

    Invalid requests are written too: the runner reports them, and they block no other request.
    """
    folder = jobs_folder(warehouse)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "submit.lock", fallback_to_soft=False):
        if not (folder / job_id).exists():
            _write_request(folder, job_id, document)


def _write_request(folder: Path, job_id: str, document: bytes) -> None:
    building = folder / f"{BUILDING}{uuid4().hex}"
    building.mkdir()
    write_bytes(building / "request.json", document)
    building.rename(folder / job_id)


def job_id_of(request: JobRequest) -> str:
    """Return the id that a new job of this request gets."""
    key = content_hash(request.idempotency_key, length=_KEY_DIGITS)
    return f"{request.created_at.astimezone(UTC):%Y%m%dT%H%M%S%f}-{key}"


def read_request(warehouse: Warehouse, job_id: str) -> JobRequest:
    """Return the request of a job.

    Raises:
        UnknownNameError: there is no such job.
        ConfigurationError: it cannot be read, or an option is invalid.
    """
    try:
        return JOB_REQUEST.validate_json(
            read_bytes(jobs_folder(warehouse) / job_id / "request.json")
        )
    except FileNotFoundError:
        raise UnknownNameError(f"no job {job_id!r}") from None
    except OSError as error:
        if error.errno in _OF_THE_READER:
            raise
        raise ConfigurationError(f"the request cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise ConfigurationError(f"the request cannot be read: {first_fault(error)}") from error


def read_job(warehouse: Warehouse, job_id: str) -> Job | None:
    """Return a job in its current state; None if it does not exist.

    A job whose status was written by another version counts as failed and is not changed.
    """
    folder = jobs_folder(warehouse) / job_id
    # Writing to a job behind a link would change another folder.
    if not _JOB_ID.fullmatch(job_id) or folder.is_symlink():
        return None
    try:
        request = read_request(warehouse, job_id)
    except UnknownNameError:
        return None
    except ConfigurationError:
        request = None
    try:
        status = read_noun(folder / "status.json", JobStatus, "submit the job again")
    except ConfigurationError as error:
        status = JobStatus(state=JobState.FAILED, last_word=str(error))
    return Job(
        job_id=job_id,
        folder=folder,
        request=request,
        status=status or JobStatus(),
        stop_requested=os.path.lexists(folder / "stop"),
    )


def job_ids(warehouse: Warehouse) -> list[str]:
    """Return the ids of all jobs, oldest first."""
    folder = jobs_folder(warehouse)
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if _JOB_ID.fullmatch(path.name))


def jobs(warehouse: Warehouse) -> Iterator[Job]:
    every_job = (read_job(warehouse, name) for name in reversed(job_ids(warehouse)))
    return (job for job in every_job if job is not None)


def check_folder(job: Job) -> None:
    """Refuse a job whose folder contains a link, pipe or device.

    These could lead its process to other files, or block it.

    Raises:
        ConfigurationError: names the entry.
    """
    files = {job.log, job.ideas, job.result}
    for parent, folders, names in os.walk(job.folder):
        for path in (Path(parent, name) for name in (*folders, *names)):
            mode = path.lstat().st_mode
            if not (S_ISREG(mode) or S_ISDIR(mode)) or (S_ISDIR(mode) and path in files):
                raise ConfigurationError(
                    f"its folder holds {path.relative_to(job.folder)}, which is no file: remove it"
                )


def write_status(job: Job, status: JobStatus) -> None:
    write_noun(job.folder / "status.json", status)


def request_stop(job: Job) -> None:
    """Ask a job to stop in order. Landed units stay, and the same request resumes."""
    job.stop.touch()


def forget(job: Job) -> None:
    assert job.status.state.ended
    shutil.rmtree(job.folder, ignore_errors=True)


def read_result(job: Job) -> dict[str, object]:
    """Return the result of a plan. Raises ConfigurationError if it cannot be read."""
    try:
        result: dict[str, object] = orjson.loads(read_bytes(job.result))
    except (OSError, orjson.JSONDecodeError) as error:
        raise ConfigurationError(f"the result of job {job.job_id} cannot be read") from error
    return result


def take_result(warehouse: Warehouse, job_id: str) -> dict[str, object]:
    """Return the result of a finished plan, and delete its job.

    Raises:
        ConfigurationError: the job failed, with the command's own message.
    """
    job = read_job(warehouse, job_id)
    if job is None:
        raise ConfigurationError("the plan was deleted before it was read: request it again")
    is_done = job.status.state is JobState.DONE
    result = read_result(job) if is_done else {}
    forget(job)
    if not is_done:
        raise ConfigurationError(job.status.last_word or "the plan was stopped")
    return result


def log_tail(job: Job) -> list[str]:
    part = log_part(job, -_MOST_TAIL_BYTES, _MOST_TAIL_BYTES)
    return part.decode("utf-8", "replace").splitlines()[-LOG_LINES:]


def log_part(job: Job, offset: int, most_bytes: int) -> bytes:
    """Return a part of a job's log; negative offsets count from its end.

    Empty if the log is missing or a link.
    """
    place = job.folder.parent.resolve() / job.folder.name / job.log.name
    try:
        with open_file(place) as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(offset if offset >= 0 else max(size + offset, 0))
            return log.read(most_bytes)
    except (OSError, PlainFileError):
        return b""
