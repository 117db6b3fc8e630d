"""An evaluation started from the page, while it works and after."""

from datetime import UTC, datetime

import streamlit as st

from dashboards.app import links, text
from dashboards.app.data import Lake
from dashboards.app.evaluating.asking import NO_RUNNER, stop
from dashboards.app.site_pages.today import spent_of, under_way
from dashboards.render import figures, wording
from dashboards.render.render import first_page_markdown
from dashboards.views.idea.idea_page import idea_page
from schemas.errors import AssayError
from schemas.identifiers import IdeaId, RunId
from schemas.literature.naming import unturned
from schemas.people.job import JobState
from warehouse.app.jobs import Job, log_tail, read_job, runner_at_work
from warehouse.queries import Queries

EVERY_SECONDS = 1.5
_WORDS = {
    JobState.QUEUED: "waiting",
    JobState.RUNNING: "at work",
    JobState.WAITING: "waiting for decisions",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.STOPPED: "stopped before its end",
}
_ENDED = {
    1: "ended with failures",
    2: "could not be done as asked",
    3: "ended early because the budget was spent",
}


def show(lake: Lake, job: Job) -> None:
    """Progress while it is at work, then what came of it."""
    if job.request is not None:
        options = job.request.options
        st.subheader(text.line(job.request.name), anchor=False)
        st.caption(
            text.line(f"Job {job.job_id} · engine {options.engine} · profile {options.profile}")
        )
    if job.at_work:
        st.fragment(_watch, run_every=EVERY_SECONDS)(lake, job.job_id)
    else:
        _show_end(lake, job)


def _watch(lake: Lake, job_id: str) -> None:
    """Drawn anew every second or two, until the job ends and the whole page is."""
    job = read_job(lake.warehouse, job_id)
    if job is None or not job.at_work:
        st.rerun()
        return
    if runner_at_work(lake.warehouse) is False:
        st.warning(NO_RUNNER)
    with st.status(f"{_doing(job)}{_progress(lake, job)}", expanded=True):
        st.text(unturned("\n".join(log_tail(job)[-12:])) or "Nothing was said yet.")
    if not job.stop_requested and st.button(
        "Stop",
        key="evaluate_stop",
        help="What was paid for stays; the same request goes on from there.",
    ):
        stop(lake.warehouse, job)


def _doing(job: Job) -> str:
    word = "stopping" if job.stop_requested else _WORDS[job.status.state]
    since = job.status.started_at
    if since is None:
        return word.capitalize()
    elapsed = max((datetime.now(UTC) - since).total_seconds(), 0.0)  # a clock may be set back
    return f"{word.capitalize()}, {figures.duration(elapsed)}"


def _progress(lake: Lake, job: Job) -> str:
    """How many ideas of its run have landed, and for how much; empty before the run is planned."""
    place = str(job.ideas.resolve())
    run = next((run for run in under_way(lake) if run.planned.ideas_path == place), None)
    if run is None:
        return " · planning" if job.status.state is JobState.RUNNING else ""
    return f" · {run.landed_count:,} of {run.planned.idea_count:,} ideas · {spent_of(run)}"


def _show_end(lake: Lake, job: Job) -> None:
    status = job.status
    seconds = (
        (status.finished_at - status.started_at).total_seconds()
        if status.finished_at and status.started_at
        else None
    )
    word = _WORDS[status.state]
    how = word if status.state is JobState.STOPPED else _ENDED.get(status.exit_code or 0, word)
    took = f" after {figures.duration(seconds)}" if seconds and seconds > 0 else ""
    line = text.line(f"{how.capitalize()}{took}. {status.last_word}".strip())
    if status.state is JobState.DONE and not status.exit_code:
        st.success(line)
    else:
        st.warning(line)
    log = log_tail(job)
    if log:
        with st.expander("What the command said"):
            st.text(unturned("\n".join(log)))
    if status.run_id is None:
        return
    idea_ids = [entry.idea_id for entry in lake.ask(Queries.ranking, status.run_id)]
    if idea_ids:
        _show_review(lake, status.run_id, idea_ids[0])
    else:
        _show_rejections(lake, status.run_id)


def _show_review(lake: Lake, run_id: RunId, idea_id: IdeaId) -> None:
    """The first page of the review, and the way to the whole."""
    try:
        review = lake.ask(Queries.idea_review, run_id, idea_id)
    except AssayError as error:
        st.error(text.line(str(error)))
        return
    links.to("idea", "The whole review", run=run_id, idea=idea_id)
    st.markdown(text.for_streamlit(first_page_markdown(idea_page(review).first)))


def _show_rejections(lake: Lake, run_id: RunId) -> None:
    """Why the text could not enter."""
    for row in lake.ask(Queries.rejections, run_id):
        st.error(text.line(f"{wording.reason(row.reason)}: {row.detail}"))
