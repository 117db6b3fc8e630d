"""The committee: its decision, scores by persona and dimension as a heat map, each review, and what
is known.
"""

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, tables, text
from dashboards.app.review import words
from dashboards.render import figures, wording
from dashboards.views.idea.committee_part import CommitteePart, committee_part
from schemas.judgement.committee import CommitteeEvaluation, PersonaReview
from schemas.literature.naming import safe_url
from warehouse.answers import IdeaReview


def show(review: IdeaReview) -> None:
    committee = review.evaluation.committee
    part = committee_part(committee, review.evaluation.judge_votes)
    if committee is None or part is None:
        return
    calls = {call.call_id: call for call in review.evaluation.llm_calls}
    st.markdown(f"**Verdict: {text.line(part.verdict)}**")
    if part.meta is not None:
        _show_meta(part)
        st.caption(words.made_by(part.meta.provenance, calls))
    if committee.reviews:
        _show_scores(committee)
        st.caption(text.line(part.agreement))
    for reviewer in part.reviewers:
        with st.expander(f"Reviewer {text.line(reviewer.persona_id)}"):
            st.caption(text.line(reviewer.knowledge))
            for name, score, entry in reviewer.reviews:
                st.markdown(f"**{text.line(name)}: {text.line(score)}**\n\n{_reasons(entry)}")
                st.caption(words.made_by(entry.provenance, calls))
    _show_knowledge(committee, part)


def _show_meta(part: CommitteePart) -> None:
    meta = part.meta
    if meta is None or meta.unscored_reason is not None:
        detail = meta.unscored_detail if meta is not None else ""
        st.markdown(text.line(f"Why there is no decision: {detail or 'nothing was said'}"))
        return
    named = {"Strengths": meta.strengths, "Weaknesses": meta.weaknesses}
    st.markdown(
        "\n\n".join(
            [
                text.prose(meta.summary),
                *(words.block(heading, content) for heading, content in named.items()),
            ]
        )
    )
    if meta.suggestions:
        st.markdown(
            words.block("Suggestions, from what appeared after the cutoff", meta.suggestions)
        )
    if note := words.citation_note(meta.removed_citation_count, meta.uncited_sentence_count):
        st.caption(note)


def _show_scores(committee: CommitteeEvaluation) -> None:
    rows = polars.DataFrame(
        [
            {
                "persona": review.persona_id,
                "dimension": review.dimension.replace("_", " "),
                "score": review.score_0_to_10,
                "shown": figures.score(review.score_0_to_10),
                "why unscored": (
                    wording.reason(review.unscored_reason) if review.unscored_reason else ""
                ),
            }
            for review in committee.reviews
        ],
        schema_overrides={"score": polars.Float64},
    )
    base = alt.Chart(rows, height=alt.Step(30)).encode(
        x=alt.X(
            "persona:N", sort=None, title="Reviewer", axis=alt.Axis(orient="top", labelAngle=-20)
        ),
        y=alt.Y("dimension:N", sort=None, title=None),
        tooltip=list(rows.columns),
    )
    colour = alt.Color(
        "score:Q",
        scale=alt.Scale(scheme="viridis", domain=[0, 10]),
        legend=charts.gradient("Score, of 10"),
    )
    ink = alt.condition(
        "datum.score !== null && datum.score < 5", alt.value("white"), alt.value("black")
    )
    chart = base.mark_rect(stroke="white").encode(color=colour) + base.mark_text().encode(
        text="shown:N", color=ink
    )
    charts.show(
        chart, "Scores of the committee by reviewer and dimension (0 to 10)", key="committee_heat"
    )
    unscored = sum(review.score_0_to_10 is None for review in committee.reviews)
    st.caption(f"{figures.counted(len(committee.reviews), 'review')}, {unscored:,} unscored.")


def _reasons(entry: PersonaReview) -> str:
    if entry.unscored_reason is not None:
        return text.line(entry.unscored_detail or "No reason was given.")
    return text.prose(entry.review)


def _show_knowledge(committee: CommitteeEvaluation, part: CommitteePart) -> None:
    st.subheader("What is known", anchor=False)
    st.caption(text.line(part.funnel))
    records = {record.knowledge_id: record for record in committee.knowledge}
    rows = [
        {
            "knowledge": records[row.knowledge_id].title if row.knowledge_id in records else "",
            "link": (
                safe_url(records[row.knowledge_id].url) if row.knowledge_id in records else None
            ),
            "part": str(row.part).replace("_", " "),
            "says": row.relation.value if row.relation is not None else "unscored",
            "phase": row.phase.value,
            "relevance": row.relevance_0_to_1,
            "finding": row.evidence,
            "analysis": row.analysis,
            "passage": row.passage,
            "verified": row.passage_verified,
        }
        for row in committee.evidence
    ]
    if rows:
        schema = {"link": polars.String, "relevance": polars.Float64}
        columns = {
            "knowledge": "Knowledge", "link": tables.link("Link"), "part": "Part of the idea",
            "says": "Says", "phase": "Cutoff", "relevance": tables.score("Relevance (0 to 1)"),
            "finding": "Finding", "analysis": "Bearing on the part", "passage": "Passage",
            "verified": "Quoted word for word",
        }  # fmt: skip
        tables.show(polars.DataFrame(rows, schema_overrides=schema), columns, key="grounded")
