"""Process that executes one job.

`python -m flows.jobs.job_process WAREHOUSE JOB [SHA256]`. SHA256 is that of the request that the
runner checked; a different request is not executed.
"""

import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

import orjson
from filelock import FileLock, Timeout

from flows.cli.answer import EXIT_BUDGET, EXIT_DONE, EXIT_FAILURES, EXIT_WAITING
from flows.cli.command_line import ending_of, log_to_stderr
from flows.cli.people.inbox import waiting_in_words
from flows.cli.works import exit_code_of
from flows.jobs.runner import EXIT_HELD
from flows.run.declared_campaign import published_page
from flows.run.environment import prepare_environment
from flows.run.estimate import estimate
from flows.run.requests import request_of
from flows.run.session import Session
from flows.works.evaluate.prediction import parse_engines, predict
from schemas.base import Noun, replace
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId, content_hash
from schemas.people.job import JobState, PlanJob
from schemas.people.work_job import WorkJob
from schemas.stopwatch import Stopwatch
from tasks.works import work_named
from warehouse.app.jobs import Job, read_job, read_request, write_status
from warehouse.parquet import write_bytes
from warehouse.warehouse import Warehouse

LOCK_SECONDS = 5.0
"""Time for the process of a killed runner to end."""


class JobResult(Noun):
    """Outcome of a job; `exit_code` is that of its command."""

    exit_code: int
    done: bool
    last_word: str = ""
    run_id: RunId | None = None
    other_run_ids: tuple[RunId, ...] = ()

    @property
    def state(self) -> JobState:
        if self.exit_code == EXIT_WAITING:
            return JobState.WAITING
        return JobState.DONE if self.done else JobState.FAILED


def main() -> None:
    # A shell makes background programs ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    log_to_stderr()
    warehouse, job_id = Warehouse(Path(sys.argv[1])), sys.argv[2]
    job = read_job(warehouse, job_id)
    assert job is not None
    try:
        with FileLock(job.lock, LOCK_SECONDS, fallback_to_soft=False):
            sys.exit(_do(warehouse, job_id, *sys.argv[3:]))
    except Timeout:
        sys.exit(EXIT_HELD)


def _do(warehouse: Warehouse, job_id: str, checked_sha256: str | None = None) -> int:
    """Execute a job that has not ended, and return its exit code."""
    job = read_job(warehouse, job_id)
    assert job is not None
    if not job.at_work:
        return job.status.exit_code or EXIT_DONE
    watch = Stopwatch()
    status = replace(
        job.status,
        state=JobState.RUNNING,
        attempt_count=job.status.attempt_count + 1,
        started_at=job.status.started_at or watch.started_at,
    )
    write_status(job, status)
    ending = ending_of(lambda: _result(warehouse, job, checked_sha256))
    if ending.interrupted:  # the runner, which interrupts it, records that
        return EXIT_FAILURES
    result = (
        ending.result
        if isinstance(ending.result, JobResult)
        else JobResult(exit_code=ending.exit_code, done=False, last_word=ending.line)
    )
    last_word = _without_folder(result.last_word, job)
    if last_word:
        sys.stderr.write(f"assay: {last_word}\n")
    is_waiting = result.state is JobState.WAITING
    # Costs count calls until this time. Calls have clock times, which a suspend advances.
    finished_at = max(watch.finished_at, datetime.now(UTC))
    final_status = replace(
        job.status if is_waiting else status,  # attempts count lost runners, not waits
        state=result.state,
        started_at=status.started_at,
        finished_at=None if is_waiting else finished_at,
        exit_code=result.exit_code,
        last_word=last_word,
        run_id=result.run_id,
        other_run_ids=result.other_run_ids,
    )
    write_status(job, final_status)
    return result.exit_code


def _without_folder(line: str, job: Job) -> str:
    """Remove the path of the job's folder from a line."""
    for folder in (job.folder.resolve(), job.folder):
        line = line.replace(f"{folder}{os.sep}", "")
    return line


def _result(warehouse: Warehouse, job: Job, checked_sha256: str | None) -> JobResult:
    prepare_environment(warehouse.settings.home)
    request = read_request(warehouse, job.job_id)
    if checked_sha256 not in (None, content_hash(request.model_dump_json())):
        raise ConfigurationError("the request was changed after it was checked: request it again")
    # The folder may have moved since the request.
    request = replace(request, options=replace(request.options, warehouse=warehouse.root))
    if not isinstance(request, PlanJob):
        return _run_work(request, job, warehouse)
    write_bytes(job.ideas, request.idea_file)
    settings, options = warehouse.settings, request.options
    run_request = request_of(work_named(request.of), (job.ideas,), options, settings)
    document = predict(run_request, parse_engines(options.compare), settings).document()
    write_bytes(job.result, orjson.dumps(document))
    return JobResult(exit_code=EXIT_DONE, done=True)


def _run_work(submission: WorkJob, job: Job, warehouse: Warehouse) -> JobResult:
    work, settings = work_named(submission.command), warehouse.settings
    arguments = work.given(submission, job.folder)
    request = request_of(work, arguments, submission.options, settings)
    if submission.asks_nothing:
        work_estimate = estimate(work, request, settings)
        write_bytes(job.result, orjson.dumps(work_estimate.model_dump(mode="json")))
        return JobResult(exit_code=EXIT_DONE, done=True)
    with Session() as session:
        summary = session.run(work, request)
    head = summary.head
    if summary.waits_for:
        return JobResult(
            exit_code=EXIT_WAITING,
            done=False,
            last_word=waiting_in_words(summary.waits_for, head),
            run_id=head.run_id,
            other_run_ids=summary.other_run_ids,
        )
    if not summary.published:
        first, failures = summary.first, "; ".join(summary.failed_expectations)
        return JobResult(
            exit_code=EXIT_FAILURES,
            done=first is not None,
            last_word=f"{summary.title} was not published: {failures}",
            run_id=None if first is None else first.head.run_id,
        )
    kind, reason = work_named(summary.name), head.ended_early()
    page = published_page(kind, warehouse, head.run_id, page=summary.page)
    result = kind.result(head, page.units)
    lines = [f"it ended early: {reason.replace('_', ' ')}"] if reason is not None else []
    exit_code = exit_code_of(summary, result)
    return JobResult(
        exit_code=exit_code,
        done=result.stands or exit_code in (EXIT_DONE, EXIT_BUDGET),
        last_word="; ".join([*lines, *result.lost, *summary.faults]),
        run_id=head.run_id,
        other_run_ids=summary.other_run_ids,
    )


if __name__ == "__main__":
    main()
