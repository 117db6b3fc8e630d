"""An evaluation started from the page, while it works and after."""

from datetime import UTC, datetime

import streamlit as st

from dashboards.app import links, text
from dashboards.app.data import Lake
from dashboards.app.evaluating.jobs import Job, JobState, log_tail, read_job, stop
from dashboards.app.review import whole
from dashboards.reports import figures, wording
from schemas.errors import AssayError
from warehouse.queries import Queries

EVERY_SECONDS = 1.5
_WORDS = {
    JobState.STARTING: "starting",
    JobState.RUNNING: "at work",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.REFUSED: "refused: another evaluation was at work",
    JobState.INTERRUPTED: "stopped before its end",
}
_ENDED = {
    1: "ended with failures",
    2: "could not be done as asked",
    3: "ended early because the budget was spent",
}


def show(lake: Lake, job: Job) -> None:
    """Progress while it is at work, then what came of it."""
    name = job.request.title.strip() or " ".join(job.request.text.split())[:80]
    st.subheader(text.line(name), anchor=False)
    st.caption(
        text.line(f"Job {job.job_id} · engine {job.request.engine} · profile {job.request.profile}")
    )
    if job.at_work:
        st.fragment(_watch, run_every=EVERY_SECONDS)(lake, job.job_id)
    else:
        _show_end(lake, job)


def _watch(lake: Lake, job_id: str) -> None:
    """Drawn anew every second or two, until the job ends and the whole page is."""
    job = read_job(lake.layout, job_id)
    if job is None or not job.at_work:
        st.rerun()
        return
    elapsed = (datetime.now(UTC) - job.started_at).total_seconds()
    stopping = (job.folder / "stop").exists()
    with st.status(
        f"{'Stopping' if stopping else _WORDS[job.state].capitalize()},"
        f" {figures.duration(elapsed)}",
        expanded=True,
    ):
        st.text("\n".join(log_tail(job.folder)[-12:]) or "Nothing was said yet.")
    if not stopping and st.button(
        "Stop",
        key="evaluate_stop",
        help="What was paid for stays; the same request goes on from there.",
    ):
        stop(job)


def _show_end(lake: Lake, job: Job) -> None:
    seconds = (job.finished_at - job.started_at).total_seconds() if job.finished_at else None
    how = (
        _ENDED.get(job.exit_code or 0, _WORDS[job.state])
        if job.state is not JobState.INTERRUPTED
        else _WORDS[job.state]
    )
    line = text.line(
        f"{how.capitalize()} after {figures.duration(seconds)}. {job.detail}"
        if seconds
        else f"{how.capitalize()}. {job.detail}"
    )
    if job.state is JobState.DONE and not job.exit_code:
        st.success(line)
    else:
        st.warning(line)
    log = log_tail(job.folder)
    if log:
        with st.expander("What the command said"):
            st.text("\n".join(log))
    if job.run_id is not None and job.idea_id is not None:
        links.to("idea", "Open on the page of the idea", run=job.run_id, idea=job.idea_id)
        _show_review(lake, job)
    elif job.run_id is not None:
        _show_rejections(lake, job)


def _show_review(lake: Lake, job: Job) -> None:
    if job.run_id is None or job.idea_id is None:
        return
    try:
        review = lake.ask(Queries.idea_review, job.run_id, job.idea_id)
    except AssayError as error:
        st.error(text.line(str(error)))
        return
    whole.show_downloads(review, key="evaluate_download")
    whole.show(review)


def _show_rejections(lake: Lake, job: Job) -> None:
    """Why the text could not enter."""
    if job.run_id is None:
        return
    for row in lake.ask(Queries.rejections, job.run_id):
        st.error(text.line(f"{wording.reason(row.reason)}: {row.detail}"))
