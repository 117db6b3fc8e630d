"""What the page asks of the job runner."""

import time

from dashboards.app.access import check_may, signed_in
from schemas.base import replace
from schemas.errors import ConfigurationError, NotAllowedError, UpstreamError
from schemas.job import JobRequest, JobState, PlanJob, check_offered
from schemas.role import Action
from schemas.settings import Settings
from warehouse.jobs import Job, forget, read_job, read_result, request_stop, runner_at_work, submit
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
        ConfigurationError: in the command's own words, what is wrong with the request; or it asks
            for more than is offered.
        UpstreamError: it took too long.
    """
    job_id = ask(layout, request, settings)
    deadline = time.monotonic() + PLAN_SECONDS
    while (job := read_job(layout, job_id)) is not None and job.at_work:
        if time.monotonic() > deadline:
            request_stop(job)
            raise UpstreamError(_too_long(layout))
        time.sleep(POLL_SECONDS)
    if job is None:
        raise ConfigurationError("the plan was deleted before it was read: ask for it anew")
    if job.status.state is not JobState.DONE:
        forget(job)
        raise ConfigurationError(job.status.last_word or "the plan was stopped")
    found = read_result(job)
    forget(job)
    return found


def _too_long(layout: Layout) -> str:
    if runner_at_work(layout) is False:
        return NO_RUNNER
    return (
        f"the plan took longer than {PLAN_SECONDS:.0f} seconds: try again when the machine is less"
        " busy"
    )
