"""Page of a job, and the list of active runs and recent jobs."""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from starlette.responses import RedirectResponse, Response

from dashboards.app.data import Lake
from dashboards.app.site import (
    PageContent,
    Visit,
    controls,
    idea_link,
    job_path,
    run_path,
    with_query,
)
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.run_page import rejection_blocks
from schemas.errors import AssayError, UnknownNameError, UpstreamError
from schemas.literature.naming import unturned
from schemas.people.job import SUBMITTED, JobRequest, JobState, OfIdeas, check_offered
from schemas.people.role import Action, Person
from warehouse.app.jobs import (
    Job,
    jobs,
    log_tail,
    read_job,
    request_stop,
    runner_at_work,
    submit,
    take_result,
)
from warehouse.progress import Activity, RunProgress
from warehouse.queries import Queries
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
            raise UpstreamError(
                NO_RUNNER
                if runner_at_work(warehouse) is False
                else f"the plan took longer than {figures.duration(PLAN_SECONDS)}: try again when the"
                " machine is less busy"
            )
        time.sleep(POLL_SECONDS)
    return take_result(warehouse, job_id)


JOBS_LISTED = 10
_LINES, _IDEAS_LINKED = 12, 10
_EXIT_CODES = {
    1: ("bad", "Ended with failures"),
    2: ("bad", "Could not be done as asked"),
    3: ("alarms", "Ended early because the budget was spent"),
}


def show(visit: Visit) -> PageContent:
    """Show a job: its state, the log of its command, and links to its results.

    Raises:
        UnknownNameError: this reader can see no such job.
    """
    lake, job = visit.lake, job_of(visit)
    request = job.request
    progress = lake.watch.of_ideas(job.ideas) if isinstance(request, OfIdeas) else None
    kind, sentence = _status_line(job, progress, _outcome(lake, job))
    name = _name(job)
    blocks: list[pg.Block] = []
    if request is not None:
        options = request.options
        blocks.append(
            pg.facts(
                request.command.capitalize(),
                f"engine {options.engine or 'of the run'}",
                f"profile {options.profile or 'of the run'}",
                f"asked by {request.asked_by}",
                pg.line(request.created_at),
            )
        )
    if job.at_work and runner_at_work(lake.warehouse) is False:
        blocks.append(pg.note(NO_RUNNER))
    blocks += _results(lake, job)
    log_lines = log_tail(job)[-_LINES:]
    if log_lines:
        blocks += [pg.heading("What the command says"), pg.Code(unturned("\n".join(log_lines)))]
    can_resubmit = request is not None and request.command in SUBMITTED
    status_markup = controls(
        "job",
        kind=kind,
        status=sentence,
        stop=f"{job_path(job.job_id)}/stop" if job.at_work and not job.stop_requested else "",
        again=with_query("/submit", draft=job.job_id) if can_resubmit else "",
        at_work=job.at_work,
    )
    return PageContent(name, blocks, status_markup, live=True)


def stop(visit: Visit) -> Response:
    """Ask an active job to stop after the current step."""
    job = job_of(visit)
    if job.at_work:
        request_stop(job)
    return RedirectResponse(job_path(job.job_id), 303)


def job_of(visit: Visit, name: str = "") -> Job:
    """Return the job named in the URL, or by `name`.

    Raises:
        UnknownNameError: this reader can see no such job.
    """
    name = name or visit.path["job_id"]
    job = read_job(visit.lake.warehouse, name)
    if job is None or not may_watch(visit.person, job):
        raise UnknownNameError(
            f"there is no job “{name}” of yours in this warehouse: it may be another's, or deleted"
        )
    return job


def _outcome(lake: Lake, job: Job) -> str:
    """Return the job's last message, else the counts of scored ideas."""
    run_states = (run.states_in_words for run in lake.runs() if run.run_id == job.status.run_id)
    return job.status.last_word.rstrip(".") or next(run_states, "")


def _status_line(job: Job, progress: RunProgress | None, outcome: str) -> tuple[str, str]:
    """Return the color and the sentence of a job's state."""
    status, state = job.status, job.status.state
    if not state.ended:
        return "", _progress_line(job, progress)
    took = ""
    if status.started_at and status.finished_at:
        seconds = (status.finished_at - status.started_at).total_seconds()
        took = f" after {figures.duration(max(seconds, 0.0))}"  # clocks may be set back
    if state is JobState.STOPPED:
        kind, ending = "alarms", "Stopped before its end"
    elif status.exit_code in _EXIT_CODES:
        kind, ending = _EXIT_CODES[status.exit_code]
    else:
        kind, ending = ("good", "Done") if state is JobState.DONE else ("bad", "Failed")
    return kind, f"{ending}{took}{f': {outcome}' if outcome else ''}."


def _progress_line(job: Job, progress: RunProgress | None) -> str:
    state, since = job.status.state, job.status.started_at
    if state is JobState.WAITING:
        return f"Waiting for decisions: {job.status.last_word.rstrip('.')}."
    if job.stop_requested:
        return "Stopping: what is paid for is kept."
    if state is JobState.QUEUED or since is None:
        return "Waiting for its turn."
    so_far = f" for {figures.duration(max((datetime.now(UTC) - since).total_seconds(), 0.0))}"
    if progress is None:
        return f"At work{so_far}."
    closing = "; what they came to is being published" if progress.whole else ""
    return f"At work{so_far}: {progress.in_words}, {spent_of(progress)}{closing}."


def _results(lake: Lake, job: Job) -> Iterator[pg.Block]:
    names = [each for each in (job.status.run_id, *job.status.other_run_ids) if each]
    if not names:
        return
    yield pg.heading("What it made")
    yield from pg.bullets(pg.line(pg.report(f"Report of {each}", run_path(each))) for each in names)
    if not isinstance(job.request, OfIdeas) or job.status.run_id is None:
        return
    try:
        ideas = lake.ask(Queries.ranking, job.status.run_id)
    except AssayError as error:  # the run was deleted
        yield pg.note(str(error))
        return
    yield from pg.bullets(
        pg.line(idea_link(job.status.run_id, each.idea_id, each.title))
        for each in ideas[:_IDEAS_LINKED]
    )
    if len(ideas) > _IDEAS_LINKED:
        address = with_query("/ideas", run=job.status.run_id)
        yield pg.text(pg.report(f"All {len(ideas):,} ideas", address))
    yield from rejection_blocks(lake.ask(Queries.rejections, job.status.run_id))


def in_progress(visit: Visit) -> Iterator[pg.Block]:
    """Yield unpublished runs, and jobs that are active or ended within a day."""
    open_runs = visit.lake.under_way()
    if open_runs:
        yield pg.heading("Not published yet")
        columns = ("Run", "State", "Landed", "A minute:", "End", "Unscored:", "Cost:")
        yield pg.table(columns, ((
            pg.code(run.planned.run_id),
            run.activity.value,
            run.in_words,
            figures.rate(run.ideas_per_minute),
            run.ends_at,
            run.unscored_count,
            spent_of(run),
        ) for run in open_runs))  # fmt: skip
    for run in open_runs:
        if run.activity is Activity.STOPPED:
            yield pg.text(
                f"No command is at work on {run.planned.run_id}. Give the same `assay evaluate`"
                " again: it continues where it stopped and pays nothing twice."
            )
        elif run.activity is Activity.REFUSED:
            checks_link = pg.report(
                "Broken checks", with_query("/operate/quality", run=run.planned.run_id)
            )
            yield pg.text(
                f"Files of {run.planned.run_id} broke a critical check, so they stay out of the"
                " lake. ",
                checks_link,
            )
    recent_jobs = _recent_jobs(visit)
    if recent_jobs:
        yield pg.heading("Jobs")
        names = ("Job", "Kind", "State", "Asked by", "Started", "Last word")
        yield pg.table(names, ((
            pg.report(_name(job), job_path(job.job_id)),
            "" if job.request is None else job.request.command,
            "stopping" if job.at_work and job.stop_requested else job.status.state.value,
            "" if job.request is None else job.request.asked_by,
            job.status.started_at or "",
            job.status.last_word,
        ) for job in recent_jobs))  # fmt: skip


def spent_of(run: RunProgress) -> str:
    """Return the cost of a run so far, and its limit."""
    maximum_cost_usd = run.planned.budget.maximum_cost_usd
    spent_text = figures.usd(run.cost_usd) + (
        f" of {figures.usd(maximum_cost_usd)}" if maximum_cost_usd is not None else ""
    )
    unpriced_count = run.unknown_cost_count
    return (
        f"{spent_text} (+ {figures.plural(unpriced_count, 'idea')} without a price)"
        if unpriced_count
        else spent_text
    )


def _recent_jobs(visit: Visit) -> list[Job]:
    """Return the visible jobs, active or ended within a day, without estimates."""
    if visit.lake.warehouse.objects is not None or not visit.may(Action.SUBMIT):
        return []
    now = datetime.now(UTC)
    recent_jobs: list[Job] = []
    for job in jobs(visit.lake.warehouse):
        finished_at = job.status.finished_at
        is_estimate = job.request is not None and job.request.asks_nothing
        is_recent = job.at_work or (finished_at is not None and (now - finished_at).days < 1)
        if is_recent and not is_estimate and may_watch(visit.person, job):
            recent_jobs.append(job)
    return recent_jobs[:JOBS_LISTED]


def _name(job: Job) -> str:
    return wording.title_or_name(None if job.request is None else job.request.name, job.job_id)
