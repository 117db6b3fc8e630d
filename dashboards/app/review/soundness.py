"""Soundness: each method with the literature's verdict, the evidence behind it, and the passages it
stands in.
"""

from collections import defaultdict
from collections.abc import Mapping

import streamlit as st

from dashboards.app import text
from dashboards.app.review import words
from dashboards.render import figures
from dashboards.views.idea.idea_page import MethodPart, idea_page
from schemas.calls import LlmCall
from schemas.identifiers import PaperId
from schemas.judgement.soundness import SoundnessEvaluation, SoundnessReview
from schemas.literature.paper import Paper, Passage
from warehouse.answers import IdeaReview


def show(review: IdeaReview) -> None:
    """The methods, most important first, each to be opened."""
    soundness = review.evaluation.soundness
    if soundness is None:
        return
    papers = {paper.paper_id: paper for paper in review.evaluation.papers}
    calls = {call.call_id: call for call in review.evaluation.llm_calls}
    parts = idea_page(review).methods
    if not parts:
        st.markdown("No method could be taken from the idea; “What is missing” says why.")
    for part in parts:
        with st.expander(
            f"Method {part.method.rank} · {text.line(part.verdict)}", expanded=part.method.rank == 1
        ):
            _show_method(part, calls)
            _show_evidence(part, _passages(soundness, part.method.method_id), papers)


def _show_method(part: MethodPart, calls: Mapping[str, LlmCall]) -> None:
    st.markdown(text.prose(part.method.text))
    if part.method.quote:
        st.caption("In the idea's own words:")
        st.markdown(words.quotation(part.method.quote))
    if part.judges:
        st.caption(text.line(f"Score: {part.judges}."))
    if part.review is not None:
        _show_verdict(part.review)
        st.caption(words.made_by(part.review.provenance, calls))


def _show_verdict(review: SoundnessReview) -> None:
    if review.unscored_reason is not None:
        if review.unscored_detail:
            st.markdown(text.line(f"Why there is no score: {review.unscored_detail}"))
        return
    named = {
        "Support": review.support,
        "Contradictions": review.contradictions,
        "Suggestions": review.suggestions,
    }
    if review.open_questions:
        named["Open questions (reviewer's reasoning)"] = review.open_questions
    st.markdown("\n\n".join(words.block(heading, content) for heading, content in named.items()))
    if note := words.citation_note(review.removed_citation_count, review.uncited_sentence_count):
        st.caption(note)


def _passages(soundness: SoundnessEvaluation, method_id: str) -> dict[PaperId, list[Passage]]:
    found: dict[PaperId, list[Passage]] = defaultdict(list)
    for passage in soundness.passages:
        if passage.method_id == method_id:
            found[passage.paper_id].append(passage)
    return found


def _show_evidence(
    part: MethodPart, passages: Mapping[PaperId, list[Passage]], papers: Mapping[PaperId, Paper]
) -> None:
    relevant = figures.counted(len(part.evidence), "relevant paper")
    st.markdown(
        f"**Evidence**: {relevant}, {part.irrelevant_count:,} read and found irrelevant,"
        f" {part.unjudged_count:,} unscored."
    )
    for line in part.evidence:
        entry = line.evidence
        said = [
            (
                f"{words.paper_link(papers, entry.paper_id)}"
                f" {text.line(papers[entry.paper_id].title) if entry.paper_id in papers else ''}"
                f"{f' · {line.closeness}' if line.closeness else ''}"
            ),
            *(
                f"*{heading}* {text.prose(content)}"
                for heading, content in (
                    ("What it did:", entry.method),
                    ("Result:", entry.results),
                    ("Condition:", entry.context),
                )
                if content.strip()
            ),
            *(_quoted(passage) for passage in passages.get(entry.paper_id, [])),
        ]
        with st.container(border=True):
            st.markdown("\n\n".join(said))


def _quoted(passage: Passage) -> str:
    where = passage.section or passage.kind
    return f"Passage ({text.line(where)}):\n\n{words.quotation(passage.text)}"
