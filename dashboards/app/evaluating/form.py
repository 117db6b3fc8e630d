"""The form: what to evaluate, and how."""

from collections.abc import Callable
from datetime import date

import streamlit as st

from dashboards.app.evaluating.request import (
    MAXIMUM_FILE_BYTES,
    SHIPPED_PROFILES,
    EvaluateRequest,
    decoded,
)
from schemas.choices import EngineChoice
from schemas.run import Module
from schemas.settings import DashboardSettings

SUFFIXES = ("txt", "md", "markdown")
BASELINE, AS_CONFIGURED = "extractive (offline baseline)", "as configured"
_MOST_USD = 10_000.0
_HOW_TO_OFFER = "Who runs this dashboard offers models with ASSAY_DASHBOARD__MODELS."


def fill_in(offered: DashboardSettings) -> tuple[EvaluateRequest | None, bool, bool]:
    """The request as filled in (None, with the mistake shown, when it is not whole); whether to
    plan it; whether to run it.

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
                SHIPPED_PROFILES,
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
        return None, False, False
    model = offered.models.get(engine or "")
    request = _checked(
        lambda: EvaluateRequest(
            text=text,
            title=title,
            cutoff_date=cutoff,
            profile=profile,
            engine=EngineChoice(model.model if model else None),
            api_base=model.api_base if model else None,
            literature=offered.literatures.get(literature or ""),
            modules=tuple(Module(name) for name in modules),
            maximum_cost_usd=bound,
        ),
        _mistake(text, modules, offered, engine, literature),
    )
    return request, planned, started


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


def _checked(make: Callable[[], EvaluateRequest], mistake: str | None) -> EvaluateRequest | None:
    if mistake is not None:
        st.error(mistake)
        return None
    try:
        return make()
    except ValueError:  # of pydantic, or of a module that is none
        st.error("The form cannot be understood: check its fields.")
        return None
