"""Evaluate one: paste or upload an idea, see what it would cost, run it, watch it, read and keep
the review.

The work is done by `assay evaluate` in a process of its own; the page only starts it and looks at
its files. The address holds the job, so that a reload, or another reader, finds it again.
"""

import streamlit as st

from dashboards.app import text
from dashboards.app.data import Lake
from dashboards.app.evaluating import form, planned, watching
from dashboards.app.evaluating.jobs import Job, job_at_work, newest_jobs, plan_of, read_job, start
from dashboards.app.evaluating.request import EvaluateRequest
from schemas.errors import AssayError
from schemas.settings import Settings

JOBS_LISTED = 20
IN_ADDRESS = "job"


def show(lake: Lake) -> None:
    """The job of the address, else the one at work, else the form.

    `assay evaluate` does the same for whole files.
    """
    job = _job_of_address(lake)
    if job is not None:
        if st.button("Evaluate another idea", key="evaluate_another"):
            st.query_params.clear()
            st.rerun()
        watching.show(lake, job)
        return
    busy = job_at_work(lake.layout)
    if busy is not None:
        st.info("An evaluation is at work in this warehouse; one runs at a time.")
        if st.button("Watch it", key="evaluate_watch"):
            _go_to(busy.job_id)
    settings = Settings()
    st.caption("For one idea. A batch is evaluated with `assay evaluate IDEAS`.")
    request, planned_now, started_now = form.fill_in(settings.dashboard)
    if request is not None:
        _act(lake, request, settings, plan=planned_now, run=started_now)
    _list_jobs(lake)


def _job_of_address(lake: Lake) -> Job | None:
    name = st.query_params.get(IN_ADDRESS)
    if not name:
        return None
    job = read_job(lake.layout, name)
    if job is None:
        st.warning(text.line(f"There is no job {name} in this warehouse."))
    return job


def _act(
    lake: Lake, request: EvaluateRequest, settings: Settings, *, plan: bool, run: bool
) -> None:
    try:
        if plan:
            with st.spinner("Estimating with `assay plan` …"):
                planned.show(plan_of(lake.layout, request, settings))
        elif run:
            _go_to(start(lake.layout, request, settings))
    except AssayError as error:
        st.error(text.line(str(error)), icon=":material/error:")


def _go_to(job_id: str) -> None:
    st.query_params[IN_ADDRESS] = job_id
    st.rerun()


def _list_jobs(lake: Lake) -> None:
    """Earlier evaluations of this page, newest first."""
    jobs = newest_jobs(lake.layout, JOBS_LISTED)
    if not jobs:
        return
    st.subheader("Evaluated from this page", anchor=False)
    for job in jobs:
        name = job.request.title.strip() or " ".join(job.request.text.split())[:70]
        left, right = st.columns([1, 5])
        if left.button("Open", key=f"open_{job.job_id}"):
            _go_to(job.job_id)
        right.markdown(
            text.line(f"{job.started_at:%Y-%m-%d %H:%M} UTC · {job.state.value} · {name}")
        )
