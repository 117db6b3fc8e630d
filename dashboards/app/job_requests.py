"""Requests of the pages to the job runner."""

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
    """Return whether a reader may watch and stop a job.

    Args:
        person: None: a reader of an open dashboard.
    """
    if person is None or person.role.may(Action.OVERSEE):
        return True
    return job.request is not None and job.request.asked_by == person.name


def estimates_of(warehouse: Warehouse, requests: Sequence[JobRequest]) -> list[dict[str, object]]:
    """Estimate requests by jobs that call no model; the jobs are deleted afterwards.

    Raises:
        ConfigurationError: a request is wrong, or exceeds what the dashboard offers.
        UpstreamError: the estimate took too long.
    """
    for request in requests:
        assert request.asks_nothing
        check_offered(request, warehouse.settings.dashboard)
    job_ids = [submit(warehouse, request) for request in requests]
    return [_wait_for_estimate(warehouse, job_id) for job_id in job_ids]


def _wait_for_estimate(warehouse: Warehouse, job_id: str) -> dict[str, object]:
    deadline = time.monotonic() + PLAN_SECONDS
    while (job := read_job(warehouse, job_id)) is not None and job.at_work:
        if time.monotonic() > deadline:
            request_stop(job)
            raise UpstreamError(_timeout_message(warehouse))
        time.sleep(POLL_SECONDS)
    return take_result(warehouse, job_id)


def _timeout_message(warehouse: Warehouse) -> str:
    if runner_at_work(warehouse) is False:
        return NO_RUNNER
    return (
        f"the plan took longer than {PLAN_SECONDS:.0f} seconds: try again when the machine is less"
        " busy"
    )
