"""Job runner: starts submitted jobs, a few at a time, fairly among submitters."""

import logging
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from filelock import FileLock, Timeout

from flows.cli.answer import EXIT_FAILURES, EXIT_USAGE
from flows.jobs.job_environment import environment_of
from flows.people.vote_counting import VoteCounter
from schemas.base import replace
from schemas.errors import AssayError, ConfigurationError, TransientError
from schemas.identifiers import content_hash
from schemas.interpreter import module_command
from schemas.people.job import JobRequest, JobState, check_offered
from warehouse.app.database import ServiceDatabase
from warehouse.app.decisions import open_requests
from warehouse.app.jobs import (
    Job,
    check_folder,
    job_ids,
    jobs_folder,
    read_job,
    read_request,
    runner_lock,
    write_status,
)
from warehouse.warehouse import Warehouse

_LOG = logging.getLogger(__name__)

POLL_SECONDS = 0.3
STOP_SECONDS = 25.0
"""Longer than a job takes to stop in order (`flows/run/interruption.py`)."""
MAXIMUM_ATTEMPTS = 5
"""A job that kills its runner, as by filling the memory, fails after so many attempts."""
ESTIMATES_AT_ONCE = 2
"""Somebody waits for an estimate, so estimates run next to long jobs."""
EXIT_HELD = 75
"""Exit code of a job process: another process holds the job's lock."""


def run_jobs(warehouse: Warehouse, is_over: Callable[[], bool]) -> None:
    """Run the jobs of a warehouse and count its votes until `is_over()` is true.

    Jobs that are stopped at the end resume with the next runner. While another runner holds the
    lock of the warehouse, this one waits for it. Call it in the main thread: a job's process ends
    with the thread that started it.
    """
    lock = FileLock(runner_lock(warehouse), blocking=False, fallback_to_soft=False)
    runner, counter = _Runner(warehouse), VoteCounter(warehouse)
    last_warning = ""
    try:
        while not is_over():
            try:
                # Create nothing in a warehouse without jobs.
                if jobs_folder(warehouse).is_dir():
                    if not lock.is_locked:
                        lock.acquire()
                    runner.look()
            except Timeout:
                pass
            except (AssayError, OSError) as error:  # such as a full disk
                last_warning = _warn("jobs wait", error, last_warning)
            try:
                counter.look()
            except (AssayError, OSError) as error:  # votes are stored, and counted later
                last_warning = _warn("votes wait to be counted", error, last_warning)
            time.sleep(POLL_SECONDS)
    finally:
        runner.close()
        counter.close()
        lock.release()


def _warn(what: str, error: Exception, last_warning: str) -> str:
    line = f"{what}: {error}"
    if line != last_warning:
        _LOG.warning(line)
    return line


@dataclass(slots=True)
class _RunningJob:
    job: Job  # as before the start
    process: "subprocess.Popen[bytes]"
    slot: str
    work: str
    stopping: bool = False


class _Runner:
    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse = warehouse
        self._running: dict[str, _RunningJob] = {}
        self._ended_ids: set[str] = set()
        self._record_counts: dict[str, int] = {}
        self._last_served: dict[str, int] = {}  # sequence number by queue
        self._database: ServiceDatabase | None = None

    def look(self) -> None:
        """Run one round: finish ended jobs, forward stop requests, start waiting jobs."""
        error: Exception | None = None
        for step in self._steps():
            try:
                step()
            except (AssayError, OSError) as job_error:  # such as a read-only job folder
                error = job_error
        if error is not None:
            raise error

    def _steps(self) -> Iterator[Callable[[], None]]:
        """Yield the actions of a round, one per job, so that one failure stops no other."""
        for job_id, running in list(self._running.items()):
            if running.process.poll() is not None:
                del self._running[job_id]
                yield partial(self._record_end, job_id, running.process.returncode)
        candidates: list[tuple[str, Job]] = []
        for job in self._open_jobs():
            if job.stop_requested:
                yield partial(self._stop, job)
            elif job.job_id not in self._running and self._may_resume(job):
                # Requests are large, and many jobs may wait.
                candidates.append((_queue(job.request), job.model_copy(update={"request": None})))
        for job in self._in_turn(candidates):
            yield partial(self._check_and_start, job)

    def _in_turn(self, candidates: Sequence[tuple[str, Job]]) -> list[Job]:
        """Return waiting jobs in turn: one per queue, least recently served queue first."""
        positions: Counter[str] = Counter()
        turns: list[tuple[int, int, str, Job]] = []
        for queue, job in candidates:
            turns.append((positions[queue], self._last_served.get(queue, 0), job.job_id, job))
            positions[queue] += 1
        return [job for *_, job in sorted(turns, key=lambda turn: turn[:3])]

    def _open_jobs(self) -> Iterator[Job]:
        for job_id in job_ids(self._warehouse):
            job = read_job(self._warehouse, job_id) if job_id not in self._ended_ids else None
            if job is None:  # it has ended, or its request is not written yet
                continue
            if job.at_work:
                yield job
            else:
                self._ended_ids.add(job_id)

    def close(self) -> None:
        """Stop every process in order; its job resumes with the next runner."""
        for running in self._running.values():
            running.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + STOP_SECONDS
        for running in self._running.values():
            try:
                running.process.wait(max(deadline - time.monotonic(), 0))
            except subprocess.TimeoutExpired:
                running.process.kill()
                running.process.wait()
            self._put_back(running.job)
        self._running.clear()
        if self._database is not None:
            self._database.close()

    def _put_back(self, before: Job) -> None:
        """Give a job that this runner interrupted the status that it had before its start."""
        job = read_job(self._warehouse, before.job_id)
        if job is None or job.status.state is not JobState.RUNNING:
            return
        try:
            write_status(job, before.status)
        except (AssayError, OSError) as error:  # a running job, too, resumes with the next runner
            _LOG.warning("job %s: %s", before.job_id, error)

    def _may_resume(self, job: Job) -> bool:
        """Return whether a job waits for no decision.

        A waiting job is checked again only after a new record, not in every round.
        """
        if job.status.state is not JobState.WAITING or job.request is None:
            return True
        if self._database is None:
            self._database = ServiceDatabase(self._warehouse)
        ((count,),) = self._database.rows("records", "count(*)")
        if self._record_counts.get(job.job_id) == count:
            return False
        self._record_counts[job.job_id] = count
        run_id = getattr(job.request, "run_id", None)
        requests = open_requests(self._database)
        return not any(each.run_id == run_id and each.stage is not None for each in requests)

    def _check_and_start(self, job: Job) -> None:
        try:
            check_folder(job)
            request = read_request(self._warehouse, job.job_id)
            # Check before the process starts, since it gets the API keys.
            check_offered(request, self._warehouse.settings.dashboard)
        except ConfigurationError as error:
            _end(job, JobState.FAILED, EXIT_USAGE, str(error))
            return
        if job.status.attempt_count >= MAXIMUM_ATTEMPTS:
            _end(
                job,
                JobState.FAILED,
                EXIT_FAILURES,
                f"its runner was lost {MAXIMUM_ATTEMPTS} times; submit it again to resume",
            )
        elif self._has_free_slot(request):
            self._start(job, request)

    def _has_free_slot(self, request: JobRequest) -> bool:
        """Return whether a job may start now.

        Short jobs have slots of their own. The second of two equal requests waits for the first,
        and then finds its work done.
        """
        if any(running.work == request.work for running in self._running.values()):
            return False
        slot = _slot_of(request)
        count = sum(running.slot == slot for running in self._running.values())
        limit = ESTIMATES_AT_ONCE if request.asks_nothing else request.beside
        return count < (limit or self._warehouse.settings.jobs.at_once)

    def _start(self, job: Job, request: JobRequest) -> None:
        """Start the process of a job.

        Each job has its own process: a stop is a signal to its main thread, Prefect's client uses
        one server in its lifetime, its memory is freed, and its environment holds only the API keys
        that it needs.
        """
        place = str(self._warehouse.root.resolve())
        command = module_command(
            *("flows.run.child", str(os.getpid()), "flows.jobs.job_process", place, job.job_id),
            content_hash(request.model_dump_json()),  # it refuses any other request
        )
        with job.log.open("ab") as log:
            process = subprocess.Popen(  # noqa: S603 a list, no shell
                command,
                env=environment_of(
                    request.options,
                    self._warehouse.settings,
                    os.environ,
                    in_object_storage=self._in_object_storage(),
                ),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # only this runner forwards Ctrl-C to it
            )
        self._running[job.job_id] = _RunningJob(job, process, _slot_of(request), request.work)
        self._last_served[_queue(request)] = max(self._last_served.values(), default=0) + 1

    def _in_object_storage(self) -> bool:
        """Return whether the warehouse or the lake's files may be in object storage."""
        if self._warehouse.objects is not None:
            return True
        try:
            return self._warehouse.lake_folder() is not None
        except TransientError:
            return True
        except ConfigurationError:  # the job reports it
            return False

    def _stop(self, job: Job) -> None:
        running = self._running.get(job.job_id)
        if running is None:
            _end(job, JobState.STOPPED, None, "")
        elif not running.stopping:
            running.stopping = True
            running.process.send_signal(signal.SIGINT)

    def _record_end(self, job_id: str, return_code: int) -> None:
        """Record the end of a job whose process could not."""
        job = read_job(self._warehouse, job_id)
        if job is None or not job.at_work or return_code == EXIT_HELD:
            return
        if job.stop_requested:
            _end(job, JobState.STOPPED, EXIT_FAILURES, "")
        else:
            ending = f"ended with code {return_code}"
            if return_code < 0:
                ending = f"was killed by signal {-return_code}"
            last_word = f"its process {ending}; submit it again to resume"
            _end(job, JobState.FAILED, EXIT_FAILURES, last_word)


def _slot_of(request: JobRequest) -> str:
    if request.asks_nothing:
        return "estimate"
    return request.command if request.beside else "long"


def _queue(request: JobRequest | None) -> str:
    return "" if request is None else f"{_slot_of(request)} {request.asked_by}"


def _end(job: Job, state: JobState, exit_code: int | None, last_word: str) -> None:
    write_status(
        job,
        replace(
            job.status,
            state=state,
            finished_at=datetime.now(UTC),
            exit_code=exit_code,
            last_word=last_word,
        ),
    )
