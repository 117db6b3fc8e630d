"""What the page asks of the job runner."""

import time

from schemas.errors import ConfigurationError, UpstreamError
from schemas.job import JobRequest, JobState, PlanJob, check_offered
from schemas.settings import Settings
from warehouse.jobs import forget, read_job, read_result, request_stop, runner_at_work, submit
from warehouse.layout import Layout

PLAN_SECONDS = 180.0
POLL_SECONDS = 0.2
NO_RUNNER = "No job runner is at work in this warehouse; `assay jobs run` starts one."


def ask(layout: Layout, request: JobRequest, settings: Settings) -> str:
    """Have the runner do `request`; the job_id.

    Raises:
        ConfigurationError: `request` asks for more than is offered.
    """
    check_offered(request, settings.dashboard)
    return submit(layout, request)


def plan_of(layout: Layout, request: PlanJob, settings: Settings) -> dict[str, object]:
    """What `assay plan --json` says of `request`.

    Raises:
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
