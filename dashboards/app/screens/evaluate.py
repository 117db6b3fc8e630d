"""Evaluate one: paste or upload an idea, see what it would cost, run it, watch it, read and keep
the review.

The job runner does the work; the page writes a request and looks at the job's files. The address
holds the job, so that a reload, or another reader, finds it again.
"""

from collections.abc import Mapping
from itertools import islice

import streamlit as st

from dashboards.app import text
from dashboards.app.data import Lake
from dashboards.app.evaluating import form, watching
from dashboards.app.evaluating.asking import ask, is_of_reader, plan_of
from dashboards.render import figures
from schemas.errors import AssayError
from schemas.people.job import EvaluateJob, PlanJob
from warehouse.app.jobs import Job, jobs, read_job
from warehouse.warehouse import Warehouse

JOBS_LISTED = 20
IN_ADDRESS = "job"
_SECONDS_PER_HOUR = 3600.0


def show(lake: Lake) -> None:
    """The job of the address, else the form.

    `assay evaluate` does the same for whole files.
    """
    job = _job_of_address(lake)
    if job is not None:
        form.end_submission()
        if st.button("Evaluate another idea", key="evaluate_another"):
            st.query_params.clear()
            st.rerun()
        watching.show(lake, job)
        return
    settings = lake.warehouse.settings
    busy = next((job for job in _evaluations(lake.warehouse) if job.at_work), None)
    if busy is not None:
        st.info(
            f"An evaluation is at work in this warehouse; {settings.jobs.at_once} at a time, the"
            " others wait their turn."
        )
        if is_of_reader(lake.warehouse, busy) and st.button("Watch it", key="evaluate_watch"):
            _go_to(busy.job_id)
    st.caption("For one idea. A batch is evaluated with `assay evaluate IDEAS`.")
    request = form.fill_in(settings.dashboard)
    if request is not None:
        _act(lake, request)
    _list_jobs(lake)


def _evaluations(warehouse: Warehouse) -> list[Job]:
    """Newest first; what cannot be read is listed too."""
    found = (job for job in jobs(warehouse) if isinstance(job.request, EvaluateJob | None))
    return list(islice(found, JOBS_LISTED))


def _job_of_address(lake: Lake) -> Job | None:
    name = st.query_params.get(IN_ADDRESS)
    if not name:
        return None
    job = read_job(lake.warehouse, name)
    if job is None or not is_of_reader(lake.warehouse, job):
        st.warning(text.line(f"There is no job {name} in this warehouse."))
        return None
    return job


def _act(lake: Lake, request: EvaluateJob | PlanJob) -> None:
    try:
        if isinstance(request, EvaluateJob):
            _go_to(ask(lake.warehouse, request))
            return
        with st.spinner("Estimating with `assay plan` …"):
            _show_planned(plan_of(lake.warehouse, request))
    except AssayError as error:
        st.error(text.line(str(error)), icon=":material/error:")


def _go_to(job_id: str) -> None:
    st.query_params[IN_ADDRESS] = job_id
    st.rerun()


def _list_jobs(lake: Lake) -> None:
    """Earlier evaluations of this page, newest first."""
    found = [job for job in _evaluations(lake.warehouse) if is_of_reader(lake.warehouse, job)]
    if not found:
        return
    st.subheader("Evaluated from this page", anchor=False)
    for job in found:
        left, right = st.columns([1, 5])
        if left.button("Open", key=f"open_{job.job_id}"):
            _go_to(job.job_id)
        name = job.request.name if job.request else job.status.last_word
        asked_at = f"{job.request.created_at:%Y-%m-%d %H:%M} UTC" if job.request else job.job_id
        right.markdown(text.line(f"{asked_at} · {job.status.state} · {name}"))


def _show_planned(plan: Mapping[str, object]) -> None:
    """Requests, calls, tokens, dollars and time of the one idea, before paying."""
    if plan["rejected"]:
        st.warning(
            "Assay would reject this text: it is too short, too long, or holds no idea. Give the"
            " problem, method and experiments."
        )
        return
    cost, hours = plan["cost_usd"], plan["hours"]
    seconds = float(hours) * _SECONDS_PER_HOUR if isinstance(hours, int | float) else None
    tokens = sum(
        value
        for name in ("prompt_tokens", "completion_tokens")
        if isinstance(value := plan[name], int)
    )
    shown = {
        "Expected cost": (
            figures.usd(float(cost)) if isinstance(cost, int | float) else "price unknown"
        ),
        "Model calls": f"{plan['model_calls']:,}",
        "Tokens": figures.count(tokens),
        "Literature requests": f"{plan['literature_requests']:,}",
        "Time": figures.duration(seconds),
    }
    for column, (label, value) in zip(st.columns(len(shown)), shown.items(), strict=True):
        column.metric(label, value)
    if plan["evaluated"]:
        st.caption("This idea is already evaluated: nothing to pay.")
        return
    st.caption(f"An estimate of `assay plan`. The time is bound by the {plan['bound_by']}.")
