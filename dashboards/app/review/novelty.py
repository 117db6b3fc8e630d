"""Novelty: the five-point judgement with its reasons, and the related works it was made beside."""

import streamlit as st

from dashboards.app import text
from dashboards.app.review import words
from dashboards.render import wording
from dashboards.views.idea.idea_page import idea_page
from warehouse.answers import IdeaReview


def show(review: IdeaReview) -> None:
    if review.evaluation.novelty is None:
        return
    judgement = review.evaluation.novelty.judgement
    calls = {call.call_id: call for call in review.evaluation.llm_calls}
    if judgement.score_1_to_5 is None:
        why = wording.unscored(judgement.unscored_reason or "unknown")
        st.markdown(text.line(f"{why}. {judgement.unscored_detail}"))
    else:
        st.metric("Judgement, 1 (known) to 5 (new in every respect)", judgement.score_1_to_5)
    if judgement.probabilities_percent:
        shares = [
            f"{score}: {one} %" for score, one in sorted(judgement.probabilities_percent.items())
        ]
        st.caption(f"How likely each score is: {', '.join(shares)}.")
    if judges := idea_page(review).novelty_judges:
        st.caption(text.line(f"Score: {judges}."))
    if judgement.calibrated_score_1_to_5 is not None:
        low, high = judgement.calibrated_lower_1_to_5, judgement.calibrated_upper_1_to_5
        interval = (
            f" (90 %: {low:.1f} to {high:.1f})" if low is not None and high is not None else ""
        )
        st.markdown(f"Calibrated: **{judgement.calibrated_score_1_to_5:.2f}**{interval}")
    st.markdown(text.prose(judgement.justification))
    left, right = st.columns(2)
    left.markdown(words.points("Known already", judgement.known_aspects))
    right.markdown(words.points("New", judgement.novel_aspects))
    if judgement.covered_share_0_to_1 is not None:
        st.caption(
            f"{100 * judgement.covered_share_0_to_1:.0f} % of its {judgement.statement_count} key"
            " statements lie close to a related work."
        )
    if judgement.unanswered_search_count:
        st.caption(
            f"{judgement.unanswered_search_count:,} searches for related works were not answered:"
            " more may exist."
        )
    papers = {paper.paper_id: paper for paper in review.evaluation.papers}
    related = [
        f"- {words.paper_link(papers, name)} {text.line(papers[name].title)}"
        for name in judgement.related_paper_ids
        if name in papers
    ]
    st.markdown("\n".join(["**Related works shown**", "", *(related or ["None were found."])]))
    st.caption(words.made_by(judgement.provenance, calls))
