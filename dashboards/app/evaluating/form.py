"""The form: what to evaluate, and how."""

from datetime import UTC, date, datetime
from typing import Any
from uuid import uuid4

import orjson
import streamlit as st

from schemas.choices import EngineChoice
from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.options.commands import EvaluateOptions, PlanOptions
from schemas.people.job import OFFERED_PROFILES, EvaluateJob, PlanJob
from schemas.run import Module
from schemas.settings import DashboardSettings

MAXIMUM_FILE_BYTES = 2_000_000
NAME_CHARACTERS = 80
SUFFIXES = ("txt", "md", "markdown")
BASELINE, AS_CONFIGURED = "extractive (offline baseline)", "as configured"
_MOST_USD = 10_000.0
_SUBMISSION = "evaluate_submission"
_HOW_TO_OFFER = "Who runs this dashboard offers models with ASSAY_DASHBOARD__MODELS."


def fill_in(offered: DashboardSettings) -> EvaluateJob | PlanJob | None:
    """What is asked for, a plan or an evaluation; None while nothing is, or, with the mistake
    shown, when the form is not whole.

    Models, their servers and the literature are chosen from what is offered: no address or path is
    typed here.
    """
    with st.form("evaluate_form", enter_to_submit=False):
        text = _text()
        left, middle, right = st.columns(3)
        with left:
            title = st.text_input("Title (optional)", key="evaluate_title")
            cutoff = st.date_input(
                "Cite nothing published after (optional)",
                value=None,
                key="evaluate_cutoff",
                max_value=date(2100, 1, 1),
            )
        with middle:
            profile = st.selectbox(
                "Profile",
                OFFERED_PROFILES,
                key="evaluate_profile",
                help="faithful: ScholarEval's published parameters.",
            )
            modules = st.multiselect(
                "Modules",
                [str(module) for module in Module],
                default=["soundness", "contribution"],
                key="evaluate_modules",
            )
        with right:
            engine = st.selectbox(
                "Engine", (BASELINE, *offered.models), key="evaluate_engine", help=_HOW_TO_OFFER
            )
            literature = st.selectbox(
                "Literature", (AS_CONFIGURED, *offered.literatures), key="evaluate_literature"
            )
        bound = _bound()
        plan, run, _ = st.columns([1, 1, 4])
        planned = plan.form_submit_button("Estimate cost", key="evaluate_plan")
        started = run.form_submit_button("Evaluate", type="primary", key="evaluate_run")
    if not (planned or started):
        return None
    mistake = _mistake(text, modules, offered, engine, literature)
    if mistake is not None:
        st.error(mistake)
        return None
    model = offered.models.get(engine or "")
    chosen = {
        "profile": profile,
        "engine": EngineChoice(model.model if model else None),
        "api_base": model.api_base if model else None,
        "literature": offered.literatures.get(literature or ""),
        "modules": tuple(modules),
        "cutoff": cutoff,
        "max_cost_usd": bound,
    }
    return _job(text, title, chosen, planned=planned)


def _job(
    text: str, title: str, chosen: dict[str, Any], *, planned: bool
) -> EvaluateJob | PlanJob | None:
    """None, with the mistake shown, where the options cannot be understood."""
    try:
        if planned:
            return PlanJob(options=PlanOptions(**chosen), **_idea(text, title, uuid4().hex))
        options = EvaluateOptions(**chosen)
        key = content_hash(_submission(), text, title, options.model_dump_json())
        return EvaluateJob(options=options, **_idea(text, title, key))
    except ConfigurationError:
        st.error("The form cannot be understood: check its fields.")
        return None


def _idea(text: str, title: str, idempotency_key: str) -> dict[str, Any]:
    fields = {"text": text, "title": title.strip()} if title.strip() else {"text": text}
    return {
        "name": title.strip() or " ".join(text.split())[:NAME_CHARACTERS],
        "ideas": orjson.dumps(fields).decode() + "\n",
        "asked_by": "dashboard",
        "created_at": datetime.now(UTC),
        "idempotency_key": idempotency_key,
    }


def _submission() -> str:
    """Names what a reader is about to submit: a second click on the button asks
    for the same job.
    """
    name: str = st.session_state.setdefault(_SUBMISSION, uuid4().hex)
    return name


def end_submission() -> None:
    """What is submitted from here on is another job, whatever it says."""
    st.session_state.pop(_SUBMISSION, None)


def _text() -> str:
    """What was pasted, else what was uploaded."""
    pasted = st.text_area(
        "The idea: problem, method, planned experiments",
        height=260,
        key="evaluate_text",
        placeholder="Paste the idea here, or upload a file.",
    )
    uploaded = st.file_uploader(
        "or a file (UTF-8 text or Markdown)",
        type=list(SUFFIXES),
        key="evaluate_file",
        max_upload_size=MAXIMUM_FILE_BYTES // 1_000_000,
    )
    if pasted.strip() or uploaded is None:
        return str(pasted)
    content = uploaded.getvalue()
    found = decoded(content) if len(content) <= MAXIMUM_FILE_BYTES else None
    if found is None:
        st.error(
            f"The file is not UTF-8 text of at most {MAXIMUM_FILE_BYTES:,} bytes: save it as plain"
            " text."
        )
    return found or ""


def _bound() -> float | None:
    bound: float | None = st.number_input(
        "End when it has spent this much (USD; empty: no bound)",
        min_value=0.0,
        max_value=_MOST_USD,
        value=1.0,
        key="evaluate_bound",
    )
    return bound


def _mistake(
    text: str,
    modules: list[str],
    offered: DashboardSettings,
    engine: str | None,
    literature: str | None,
) -> str | None:
    if not text.strip():
        return "There is no text: paste the idea, or upload a file."
    if engine != BASELINE and engine not in offered.models:
        return "Choose an engine of the list."
    if literature != AS_CONFIGURED and literature not in offered.literatures:
        return "Choose a literature of the list."
    return None if modules else "Choose at least one module."


def decoded(content: bytes) -> str | None:
    """The text of an uploaded file; None when it is not UTF-8 or holds no text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return text if text.strip() and "\x00" not in text else None
