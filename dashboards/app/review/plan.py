"""The plan itself: concerns with their quotes and actions, strengths, and what it rests on."""

import streamlit as st

from dashboards.app import text
from dashboards.app.review import words
from dashboards.render.safe_text import prose_line
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.idea.plan_part import REASONING, ConcernLine
from schemas.judgement.soundness import Concern, PlanElement
from warehouse.answers import IdeaReview


def show(review: IdeaReview) -> None:
    """The concerns that stand, in the order in which they decide."""
    part = idea_page(review).plan
    if part is None:
        st.markdown("The plan itself was not reviewed.")
        return
    st.caption(text.line(REASONING))
    if part.verdict:
        st.markdown(text.line(f"{part.verdict}."))
    for number, line in enumerate(part.concerns, start=1):
        _show_concern(number, line)
    if part.refuted:
        told = [_refuted(line) for line in part.refuted]
        st.markdown("\n".join(["**Raised and refuted**", "", *told]))
    if part.questions:
        asked = [f"- “{text.line(one.quote)}”: {text.line(one.point)}" for one in part.questions]
        st.markdown("\n".join(["**Questions about single things in the plan**", "", *asked]))
    if part.strengths:
        strong = [_strong(line.concern) for line in part.strengths]
        st.markdown("\n".join(["**Strong in the plan**", "", *strong]))
    for name, elements in (
        ("It needs and does not say", part.unstated),
        ("It says", part.stated),
    ):
        if elements:
            st.markdown("\n".join([f"**{name}**", "", *map(_element, elements)]))
    if part.note:
        st.caption(text.line(part.note))
    _show_judge(review)


def _show_concern(number: int, line: ConcernLine) -> None:
    concern = line.concern
    with st.container(border=True):
        st.markdown(f"**{number}. {text.line(line.heading)}** {text.prose(concern.point)}")
        if concern.quote:
            st.markdown(words.quotation(concern.quote))
        else:
            st.markdown(text.line(f"Looked for and not found: {concern.omission}"))
        effort = f" ({line.effort})" if line.effort else ""
        told = {
            "Why it matters": concern.why,
            f"What to do{effort}": concern.action,
            "What would settle it": concern.would_change,
            "In the plan's defense": concern.defense,
            "Evidence for it": concern.supported,
            "Evidence against it": concern.weakened,
        }
        st.markdown(
            "\n".join(
                f"- **{heading}:** {text.for_streamlit(prose_line(content))}"
                for heading, content in told.items()
                if content
            )
        )
        if line.folded:
            points = [f"- {text.line(one.point)}" for one in line.folded]
            st.markdown("\n".join(["**Raised in other words**", "", *points]))
        if line.strengths:
            st.markdown(
                "\n".join(["**Strong in the same passage**", "", *map(_strong, line.strengths)])
            )


def _refuted(line: ConcernLine) -> str:
    concern = line.concern
    defense = f" In the plan's defense: {text.line(concern.defense)}" if concern.defense else ""
    return f"- {text.line(concern.point)}{defense}"


def _strong(concern: Concern) -> str:
    return f"- {text.line(concern.point)} “{text.line(concern.quote)}” {text.line(concern.why)}"


def _element(element: PlanElement) -> str:
    return f"- {text.line(element.kind.replace('_', ' '))}: {text.line(element.text)}"


def _show_judge(review: IdeaReview) -> None:
    soundness = review.evaluation.soundness
    if soundness is not None and soundness.plan_review is not None:
        calls = {call.call_id: call for call in review.evaluation.llm_calls}
        st.caption(words.made_by(soundness.plan_review.provenance, calls))
