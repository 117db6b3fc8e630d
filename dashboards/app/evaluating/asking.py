"""What the page asks of the job runner."""

import time
from collections.abc import Sequence

from dashboards.app.access import check_may, signed_in
from schemas.base import replace
from schemas.errors import NotAllowedError, UpstreamError
from schemas.people.job import JobRequest, PlanJob, check_offered
from schemas.people.role import Action
from schemas.settings import Settings
from warehouse.app.jobs import (
    Job,
    read_job,
    request_stop,
    runner_at_work,
    submit,
    take_expected,
)
from warehouse.layout import Layout

PLAN_SECONDS = 180.0
POLL_SECONDS = 0.2
NO_RUNNER = "No job runner is at work in this warehouse; `assay jobs run` starts one."


def ask(layout: Layout, request: JobRequest, settings: Settings) -> str:
    """Have the runner do `request`, in the name of who reads the page; the job_id.

    Raises:
        NotAllowedError: the reader may not submit ideas.
        ConfigurationError: `request` asks for more than is offered.
    """
    person = check_may(layout, Action.SUBMIT)
    check_offered(request, settings.dashboard)
    if person is not None:
        request = replace(request, asked_by=person.name)
    return submit(layout, request)


def is_of_reader(layout: Layout, job: Job) -> bool:
    """Whether the reader may watch and stop a job: on an open dashboard, and where it is theirs."""
    person = signed_in(layout)
    if person is None or person.role.may(Action.OVERSEE):
        return True
    return job.request is not None and job.request.asked_by == person.name


def stop(layout: Layout, job: Job) -> None:
    """Ask a job to stop in order.

    Raises:
        NotAllowedError: it is another's.
    """
    check_may(layout, Action.SUBMIT)
    if not is_of_reader(layout, job):
        raise NotAllowedError(f"job {job.job_id} is another's")
    request_stop(job)


def plan_of(layout: Layout, request: PlanJob, settings: Settings) -> dict[str, object]:
    """What `assay plan --json` says of `request`.

    Raises:
        NotAllowedError: the reader may not submit ideas.
        ConfigurationError, UpstreamError: as `expected_of`.
    """
    check_may(layout, Action.SUBMIT)
    (found,) = expected_of(layout, (request,), settings)
    return found


def expected_of(
    layout: Layout, requests: Sequence[JobRequest], settings: Settings
) -> list[dict[str, object]]:
    """What jobs that ask nothing say of each request; they are deleted once that is read.

    Raises:
        ConfigurationError: in the command's own words, what is wrong with a request; or it asks
            for more than is offered.
        UpstreamError: it took too long.
    """
    for request in requests:
        assert request.asks_nothing
        check_offered(request, settings.dashboard)
    job_ids = [submit(layout, request) for request in requests]
    return [_result(layout, job_id) for job_id in job_ids]


def _result(layout: Layout, job_id: str) -> dict[str, object]:
    deadline = time.monotonic() + PLAN_SECONDS
    while (job := read_job(layout, job_id)) is not None and job.at_work:
        if time.monotonic() > deadline:
            request_stop(job)
            raise UpstreamError(_too_long(layout))
        time.sleep(POLL_SECONDS)
    return take_expected(layout, job_id)


def _too_long(layout: Layout) -> str:
    if runner_at_work(layout) is False:
        return NO_RUNNER
    return (
        f"the plan took longer than {PLAN_SECONDS:.0f} seconds: try again when the machine is less"
        " busy"
    )
