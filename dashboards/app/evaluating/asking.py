"""What the page asks of the job runner."""

import time
from collections.abc import Sequence

from schemas.errors import UpstreamError
from schemas.people.job import JobRequest, check_offered
from schemas.people.role import Action, Person
from warehouse.app.jobs import (
    Job,
    read_job,
    request_stop,
    runner_at_work,
    submit,
    take_result,
)
from warehouse.warehouse import Warehouse

PLAN_SECONDS = 180.0
POLL_SECONDS = 0.2
NO_RUNNER = "No job runner is at work in this warehouse; `assay jobs run` starts one."


def may_watch(person: Person | None, job: Job) -> bool:
    """Whether a reader may watch and stop a job; None: a reader of an open dashboard."""
    if person is None or person.role.may(Action.OVERSEE):
        return True
    return job.request is not None and job.request.asked_by == person.name


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
    return take_result(warehouse, job_id)


def _too_long(warehouse: Warehouse) -> str:
    if runner_at_work(warehouse) is False:
        return NO_RUNNER
    return (
        f"the plan took longer than {PLAN_SECONDS:.0f} seconds: try again when the machine is less"
        " busy"
    )
