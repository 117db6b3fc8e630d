"""The form: what to evaluate, and how."""

from collections.abc import Callable
from datetime import date

import streamlit as st
from pydantic import ValidationError

from dashboards.app.evaluating.request import MAXIMUM_FILE_BYTES, SHIPPED_PROFILES, EvaluateRequest, decoded
from schemas.run import Module

SUFFIXES = ("txt", "md", "markdown")
EXTRACTIVE, MODEL = "extractive (offline baseline)", "a language model"
_MOST_USD = 10_000.0


def fill_in() -> tuple[EvaluateRequest | None, bool, bool]:
    """The request as filled in (None, with the mistake shown, when it is not whole); whether to plan it; whether to run it."""
    with st.form("evaluate_form", enter_to_submit=False):
        text = _text()
        left, middle, right = st.columns(3)
        with left:
            title = st.text_input("Title (optional)", key="evaluate_title")
            cutoff = st.date_input("Cite nothing published after (optional)", value=None, key="evaluate_cutoff", max_value=date(2100, 1, 1))
        with middle:
            profile = st.selectbox(
                "Profile", SHIPPED_PROFILES, key="evaluate_profile", help="faithful: ScholarEval's published parameters."
            )
            modules = st.multiselect(
                "Modules", [str(module) for module in Module], default=["soundness", "contribution"], key="evaluate_modules"
            )
        with right:
            engine = st.selectbox("Engine", (EXTRACTIVE, MODEL), key="evaluate_engine")
            model = st.text_input("Model, as LiteLLM names it", placeholder="openai/gpt-4.1-mini", key="evaluate_model")
        bound, api_base, literature = _more()
        plan, run, _ = st.columns([1, 1, 4])
        planned = plan.form_submit_button("Estimate cost", key="evaluate_plan")
        started = run.form_submit_button("Evaluate", type="primary", key="evaluate_run")
    if not (planned or started):
        return None, False, False
    named = "extractive" if engine == EXTRACTIVE else f"litellm:{model.strip()}"
    request = _checked(
        lambda: EvaluateRequest(
            text=text,
            title=title,
            cutoff_date=cutoff,
            profile=profile,
            engine=named,
            api_base=api_base.strip() or None,
            literature=literature.strip() or None,
            modules=tuple(Module(name) for name in modules),
            maximum_cost_usd=bound,
        ),
        _mistake(text, named, modules),
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
        "or a file (UTF-8 text or Markdown)", type=list(SUFFIXES), key="evaluate_file", max_upload_size=MAXIMUM_FILE_BYTES // 1_000_000
    )
    if pasted.strip() or uploaded is None:
        return str(pasted)
    content = uploaded.getvalue()
    found = decoded(content) if len(content) <= MAXIMUM_FILE_BYTES else None
    if found is None:
        st.error(f"The file is not UTF-8 text of at most {MAXIMUM_FILE_BYTES:,} bytes: save it as plain text.")
    return found or ""


def _more() -> tuple[float | None, str, str]:
    with st.expander("More: budget, model server, literature"):
        bound = st.number_input(
            "End when it has spent this much (USD; empty: no bound)", min_value=0.0, max_value=_MOST_USD, value=1.0, key="evaluate_bound"
        )
        api_base = st.text_input("Model server (OpenAI-compatible address; empty: the provider's own)", key="evaluate_api_base")
        literature = st.text_input(
            "Literature (empty: as configured)", placeholder="live, snapshot:PATH, or a gateway's address", key="evaluate_literature"
        )
    return bound, api_base, literature


def _mistake(text: str, engine: str, modules: list[str]) -> str | None:
    if not text.strip():
        return "There is no text: paste the idea, or upload a file."
    if engine == "litellm:":
        return "Name the model, as in openai/gpt-4.1-mini, or choose the extractive engine."
    return None if modules else "Choose at least one module."


def _checked(make: Callable[[], EvaluateRequest], mistake: str | None) -> EvaluateRequest | None:
    if mistake is not None:
        st.error(mistake)
        return None
    try:
        return make()
    except ValidationError:
        st.error("The form cannot be understood: check its fields.")
        return None
