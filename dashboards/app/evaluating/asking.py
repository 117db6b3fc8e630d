"""What the page asks of the job runner."""

import time
from collections.abc import Sequence

from dashboards.app.access import check_may, signed_in
from schemas.base import replace
from schemas.errors import NotAllowedError, UpstreamError
from schemas.people.job import JobRequest, PlanJob, check_offered
from schemas.people.role import Action, Person
from warehouse.app.jobs import (
    Job,
    read_job,
    request_stop,
    runner_at_work,
    submit,
    take_expected,
)
from warehouse.warehouse import Warehouse

PLAN_SECONDS = 180.0
POLL_SECONDS = 0.2
NO_RUNNER = "No job runner is at work in this warehouse; `assay jobs run` starts one."


def ask(warehouse: Warehouse, request: JobRequest) -> str:
    """Have the runner do `request`, in the name of who reads the page; the job_id.

    Raises:
        NotAllowedError: the reader may not submit ideas.
        ConfigurationError: `request` asks for more than is offered.
    """
    person = check_may(warehouse, Action.SUBMIT)
    check_offered(request, warehouse.settings.dashboard)
    if person is not None:
        request = replace(request, asked_by=person.name)
    return submit(warehouse, request)


def is_of_reader(warehouse: Warehouse, job: Job) -> bool:
    """Whether the reader may watch and stop a job: on an open dashboard, and where it is theirs."""
    return may_watch(signed_in(warehouse), job)


def may_watch(person: Person | None, job: Job) -> bool:
    """Whether a reader may watch and stop a job; None: a reader of an open dashboard."""
    if person is None or person.role.may(Action.OVERSEE):
        return True
    return job.request is not None and job.request.asked_by == person.name


def stop(warehouse: Warehouse, job: Job) -> None:
    """Ask a job to stop in order.

    Raises:
        NotAllowedError: it is another's.
    """
    check_may(warehouse, Action.SUBMIT)
    if not is_of_reader(warehouse, job):
        raise NotAllowedError(f"job {job.job_id} is another's")
    request_stop(job)


def plan_of(warehouse: Warehouse, request: PlanJob) -> dict[str, object]:
    """What `assay plan --json` says of `request`.

    Raises:
        NotAllowedError: the reader may not submit ideas.
        ConfigurationError, UpstreamError: as `expected_of`.
    """
    check_may(warehouse, Action.SUBMIT)
    (found,) = expected_of(warehouse, (request,))
    return found


def expected_of(warehouse: Warehouse, requests: Sequence[JobRequest]) -> list[dict[str, object]]:
    """What jobs that ask nothing say of each request; they are deleted once that is read.

    Raises:
        ConfigurationError: in the command's own words, what is wrong with a request; or it asks
            for more than is offered.
        UpstreamError: it took too long.
    """
    for request in requests:
        assert request.asks_nothing
        check_offered(request, warehouse.settings.dashboard)
    job_ids = [submit(warehouse, request) for request in requests]
    return [_result(warehouse, job_id) for job_id in job_ids]


def _result(warehouse: Warehouse, job_id: str) -> dict[str, object]:
    deadline = time.monotonic() + PLAN_SECONDS
    while (job := read_job(warehouse, job_id)) is not None and job.at_work:
        if time.monotonic() > deadline:
            request_stop(job)
            raise UpstreamError(_too_long(warehouse))
        time.sleep(POLL_SECONDS)
    return take_expected(warehouse, job_id)


def _too_long(warehouse: Warehouse) -> str:
    if runner_at_work(warehouse) is False:
        return NO_RUNNER
    return (
        f"the plan took longer than {PLAN_SECONDS:.0f} seconds: try again when the machine is less"
        " busy"
    )
