"""Who judged what: every judgement with its step, prompt, engine, model, seed and calls; the calls
in full.
"""

from collections.abc import Iterator
from typing import Any

import polars
import streamlit as st

from dashboards.app import empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.app.review import waterfall
from dashboards.render import figures, wording
from schemas.base import Noun
from schemas.calls import LlmCall
from schemas.choices import EXTRACTIVE
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.literature.naming import unturned
from schemas.outcome import Provenance
from warehouse.answers import IdeaReview
from warehouse.stores.transcripts import Transcripts, transcripts_path

_SCORES = (
    "score_0_to_10",
    "score",
    "relevance_0_to_5",
    "score_1_to_5",
    "relevant",
    "relation",
    "judge_score_0_to_1",
    "total_score_0_to_10",
)
_SAID_PIXELS = 260
_NAMES = (
    "method_id",
    "dimension_id",
    "paper_id",
    "persona_id",
    "dimension",
    "claim_id",
    "evidence_id",
    "knowledge_id",
)


def show(review: IdeaReview, lake: Lake) -> None:
    """When what was asked, and all judgements as a table; the calls of the one selected below it,
    else of all; and what was said in the call selected.
    """
    waterfall.show(review.evaluation)
    rows = list(_judgements(review.evaluation))
    if not rows:
        empty.show("Nothing was judged.")
        return
    frame = polars.DataFrame(
        rows,
        schema_overrides={
            "model_answered": polars.String,
            "seed": polars.Int64,
            "shortening": polars.String,
        },
    )
    steps = state.choose_some("Steps", sorted(set(frame["step"].to_list())), key="steps")
    if steps:
        frame = frame.filter(polars.col("step").is_in(steps))
    columns = {
        "subject": "Judged", "outcome": "Outcome", "step": "Step", "step_version": "Version",
        "prompt_sha256": "Prompt (SHA-256)", "engine": "Engine", "model_requested": "Model asked",
        "model_answered": "Model that answered", "seed": "Seed", "calls": tables.count("Calls"),
        "shortening": "Left out of the input", "created_at": tables.moment("When"), "number": "No.",
    }  # fmt: skip
    st.caption(
        "Select a judgement to see the calls made for it. The hash names the exact text of the"
        " prompt template."
    )
    chosen = tables.show(frame, columns, key="judgements", selectable=True)
    wanted = (
        frame.row(by_predicate=polars.col("number") == chosen["number"], named=True)
        if chosen is not None
        else None
    )
    _show_calls(review, wanted, lake)


def _judgements(evaluation: IdeaEvaluation) -> Iterator[dict[str, Any]]:
    number = 0
    for module in evaluation.modules.values():
        for name in type(module).model_fields:
            value = getattr(module, name)
            for entry in value if isinstance(value, tuple) else (value,):
                provenance = getattr(entry, "provenance", None)
                if isinstance(provenance, Provenance):
                    number += 1
                    yield _row(number, name, entry, provenance)


def _row(number: int, name: str, entry: Noun, provenance: Provenance) -> dict[str, Any]:
    subject = " ".join(
        str(getattr(entry, field))
        for field in _NAMES
        if isinstance(getattr(entry, field, None), str)
    )
    shown = provenance.model_dump(exclude={"call_ids"})
    return {
        "number": number,
        "subject": f"{name.replace('_', ' ')} {subject}".strip(),
        "outcome": _outcome(entry),
        "calls": len(provenance.call_ids),
        "call_ids": list(provenance.call_ids),
        **shown,
    }


def _outcome(entry: Noun) -> str:
    """The score, or why there is none; empty for what is a text alone."""
    reason = getattr(entry, "unscored_reason", None)
    if reason is not None:
        return wording.unscored(reason)
    found = next(
        (value for field in _SCORES if (value := getattr(entry, field, None)) is not None), None
    )
    return "" if found is None else str(found)


def _show_calls(review: IdeaReview, judgement: dict[str, Any] | None, lake: Lake) -> None:
    calls = review.evaluation.llm_calls
    if judgement is not None:
        st.subheader("Calls made for the judgement selected", anchor=False)
        wanted = set(judgement["call_ids"])
        calls = tuple(call for call in calls if call.call_id in wanted)
    else:
        st.subheader("Every model call", anchor=False)
    if not calls:
        empty.show(_why_no_calls(review, judgement))
        return
    st.caption(
        f"{figures.counted(len(calls), 'call')},"
        f" {figures.duration(sum(call.latency_seconds for call in calls))} of waiting. Select"
        " one to"
        " read its prompt and its reply."
    )
    columns = {
        "step": "Step", "model_requested": "Model asked", "model_answered": "Model that answered",
        "status": "Ended", "prompt_tokens": tables.count("Prompt tokens"),
        "completion_tokens": tables.count("Completion tokens"),
        "thinking_tokens": tables.count("Of them thinking"),
        "parameters_dropped": "Dropped parameters",
        "cached_tokens": tables.count("Cached tokens"), "cost_usd": tables.dollars("Cost"),
        "latency_seconds": tables.seconds("Latency"), "queue_seconds": tables.seconds("Queued"),
        "attempt": "Attempt", "cache_hit": "From Assay's cache", "error": "Error",
        "created_at": tables.moment("When"), "call_id": "Call",
    }  # fmt: skip
    chosen = tables.show(_frame(calls), columns, key="calls", selectable=True)
    if chosen is not None:
        call = next(call for call in calls if call.call_id == chosen["call_id"])
        _show_said(call, lake)


def _show_said(call: LlmCall, lake: Lake) -> None:
    """Prompt and reply as they were, every character shown as itself."""
    st.subheader("What was said", anchor=False)
    if call.transcript_sha256 is None:
        empty.show(
            "No transcript was kept: the call was not answered, or transcripts are off"
            " (`ASSAY_LANGUAGE_MODEL__KEEP_TRANSCRIPTS_DAYS`)."
        )
        return
    path = transcripts_path(lake.warehouse)
    found = Transcripts(path).read(call.transcript_sha256) if path.exists() else None
    if found is None:
        empty.show(
            "The transcript is no longer kept, or lies on another machine: it is deleted after"
            " `ASSAY_LANGUAGE_MODEL__KEEP_TRANSCRIPTS_DAYS` days."
        )
        return
    for role, content in (*found.messages, ("reply", found.reply)):
        st.caption(text.line(role))
        st.code(unturned(content), language=None, wrap_lines=True, height=_SAID_PIXELS)


def _frame(calls: tuple[LlmCall, ...]) -> polars.DataFrame:
    overrides = {
        "model_answered": polars.String,
        "cost_usd": polars.Float64,
        "error": polars.String,
        "status": polars.String,
    }
    overrides |= {"thinking_tokens": polars.Int64, "parameters_dropped": polars.String}
    rows = [call.model_dump() | {"status": call.status.value} for call in calls]
    return polars.DataFrame(rows, schema_overrides=overrides, infer_schema_length=None)


def _why_no_calls(review: IdeaReview, judgement: dict[str, Any] | None) -> str:
    if review.evaluation.engine == EXTRACTIVE.text or (
        judgement is not None and judgement["engine"] == EXTRACTIVE.text
    ):
        return "The extractive engine judges without calling a model."
    if review.evaluation.reused_from_run_id is not None:
        return "The evaluation was taken over from an earlier run, and the calls are booked there."
    return "No call is recorded."
