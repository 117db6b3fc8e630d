"""Contribution: each dimension with its review, and every comparison as a heat map of papers by
dimensions.
"""

from collections.abc import Mapping, Sequence

import altair as alt
import polars
import streamlit as st

from dashboards.app import charts, state, text
from dashboards.app.review import words
from dashboards.render import figures, wording
from dashboards.render.safe_text import prose_line
from dashboards.render.wording import shortened
from dashboards.views.idea.idea_page import MARKS, DimensionPart, IdeaPage, idea_page
from schemas.calls import LlmCall
from schemas.identifiers import PaperId
from schemas.judgement.contribution import Comparison, ContributionEvaluation
from schemas.literature.paper import Paper
from warehouse.answers import IdeaReview

NAME_CHARACTERS = 40


def show(review: IdeaReview) -> None:
    contribution = review.evaluation.contribution
    if contribution is None:
        return
    papers = {paper.paper_id: paper for paper in review.evaluation.papers}
    calls = {call.call_id: call for call in review.evaluation.llm_calls}
    page = idea_page(review)
    st.caption(page.funnel or "No paper was considered.")
    if not page.dimensions:
        st.markdown("No dimension could be taken from the idea; “What is missing” says why.")
    _show_closest(page)
    for number, part in enumerate(page.dimensions):
        with st.expander(f"{text.line(part.dimension.name)} · {part.mean}", expanded=number == 0):
            _show_dimension(part, calls)
    if contribution.comparisons:
        _show_heat(contribution, papers)
        if page.comparison_judges:
            st.caption(text.line(f"Each mark: {page.comparison_judges}."))
        _show_paper(contribution, papers, calls)


def _show_closest(page: IdeaPage) -> None:
    st.subheader("Closest prior work", anchor=False)
    if not page.closest:
        st.markdown(text.line(page.first.none_closest))
    for work in page.closest:
        with st.container(border=True):
            st.markdown(
                f"{text.spans(work.paper)} {text.line(work.title)}\n\n"
                f"**{text.line(work.overlaps)}.** {text.for_streamlit(prose_line(work.overall))}"
            )
            if work.quote:
                st.markdown(words.quotation(work.quote))
            if work.remains:
                st.markdown(words.block("What remains new beside it", work.remains))
    for own in page.own_works:
        st.caption(f"Possibly this work, and not counted\\: {text.spans(own)}")


def _show_dimension(part: DimensionPart, calls: Mapping[str, LlmCall]) -> None:
    st.markdown("\n".join(f"- {text.line(statement)}" for statement in part.dimension.statements))
    review = part.review
    if part.verdict or review is None:
        detail = (
            f" ({review.unscored_detail})" if review is not None and review.unscored_detail else ""
        )
        st.markdown(text.line(f"Review {part.verdict}{detail}."))
    else:
        named = {
            "Strengths": review.strengths,
            "Weaknesses": review.weaknesses,
            "Suggestions": review.suggestions,
        }
        st.markdown(
            "\n\n".join(words.block(heading, content) for heading, content in named.items())
        )
        if note := words.citation_note(
            review.removed_citation_count, review.uncited_sentence_count
        ):
            st.caption(note)
    if review is not None:
        st.caption(words.made_by(review.provenance, calls))


def _show_heat(contribution: ContributionEvaluation, papers: Mapping[PaperId, Paper]) -> None:
    st.subheader("Paper by paper", anchor=False)
    rows, names, dimensions = _heat_rows(contribution, papers)
    base = alt.Chart(rows, height=alt.Step(22)).encode(
        x=alt.X(
            "dimension:N",
            sort=dimensions,
            title=None,
            axis=alt.Axis(orient="top", labelAngle=-25, labelLimit=260),
        ),
        y=alt.Y("paper:N", sort=names, title=None, axis=alt.Axis(labelLimit=300)),
        tooltip=["paper", "title", "dimension", "meaning", "why"],
    )
    domain = ["idea more novel", "neither", "paper more novel", "unscored"]
    colour = alt.Color(
        "meaning:N",
        title=None,
        scale=alt.Scale(domain=domain, range=[charts.GOOD, "#D9D9D9", charts.BAD, "#FFFFFF"]),
    )
    ink = alt.condition(
        "datum.mark == '+' || datum.mark == '\u2212'", alt.value("white"), alt.value("black")
    )
    chart = base.mark_rect(stroke="#BBBBBB").encode(color=colour) + base.mark_text(
        fontWeight="bold"
    ).encode(text="mark:N", color=ink)
    described = (
        "Rows are papers, columns dimensions. + the idea is more novel, 0 neither, − the paper is,"
        " ? unscored."
    )
    charts.show(
        chart,
        "Novelty of the idea against each paper, by dimension",
        key="comparisons_heat",
        described=described,
    )
    unscored = sum(comparison.score is None for comparison in contribution.comparisons)
    st.caption(
        f"{described} {figures.counted(len(contribution.comparisons), 'comparison')}, {unscored:,}"
        " unscored."
    )


def _heat_rows(
    contribution: ContributionEvaluation, papers: Mapping[PaperId, Paper]
) -> tuple[polars.DataFrame, list[str], list[str]]:
    """One row per pair of a paper compared and a dimension; a pair without a comparison is
    unscored.
    """
    found = {(entry.paper_id, entry.dimension_id): entry for entry in contribution.comparisons}
    names = _paper_names(contribution.comparisons, papers)
    dimensions = {
        entry.dimension_id: f"{number}. {shortened(entry.name, NAME_CHARACTERS)}"
        for number, entry in enumerate(contribution.dimensions, start=1)
    }
    rows = [
        {
            "paper": name,
            "title": papers[paper_id].title if paper_id in papers else "",
            "dimension": dimension,
            **_shown(found.get((paper_id, dimension_id))),
        }
        for paper_id, name in names.items()
        for dimension_id, dimension in dimensions.items()
    ]
    return polars.DataFrame(rows), list(names.values()), list(dimensions.values())


def _shown(comparison: Comparison | None) -> dict[str, str]:
    if comparison is None or comparison.score is None:
        why = (
            wording.reason(comparison.unscored_reason or "unknown")
            if comparison is not None
            else "the pair was not compared"
        )
        return {"mark": MARKS[None], "meaning": "unscored", "why": why}
    meaning = {1: "idea more novel", 0: "neither", -1: "paper more novel"}[comparison.score]
    return {"mark": MARKS[comparison.score], "meaning": meaning, "why": comparison.comparison}


def _paper_names(
    comparisons: Sequence[Comparison], papers: Mapping[PaperId, Paper]
) -> dict[PaperId, str]:
    """`3.

    Author et al., 2021-03`, numbered in the order of comparison, so that no two are alike.
    """
    order = dict.fromkeys(comparison.paper_id for comparison in comparisons)
    return {
        paper_id: f"{number}. {words.paper_name(papers, paper_id)}"
        for number, paper_id in enumerate(order, start=1)
    }


def _show_paper(
    contribution: ContributionEvaluation,
    papers: Mapping[PaperId, Paper],
    calls: Mapping[str, LlmCall],
) -> None:
    """Every comparison with one paper."""
    names = {
        name: paper_id for paper_id, name in _paper_names(contribution.comparisons, papers).items()
    }
    paper_id = names[state.choose("Comparisons with", list(names), key="paper")]
    own = [entry for entry in contribution.comparisons if entry.paper_id == paper_id]
    title = text.line(papers[paper_id].title) if paper_id in papers else ""
    candidate = next(
        (entry for entry in contribution.candidates if entry.paper_id == paper_id), None
    )
    st.markdown(f"{words.paper_link(papers, paper_id)} {title}")
    if candidate is not None and candidate.relevance_0_to_5 is not None:
        st.caption(text.line(f"Relevance {candidate.relevance_0_to_5} of 5. {candidate.rationale}"))
    if own[0].overall_comparison:
        st.markdown(text.prose(own[0].overall_comparison))
    lines = []
    for entry in own:
        shown = _shown(entry)
        lines.append(
            f"- **{text.line(entry.dimension)}** ({shown['meaning']}):"
            f" {text.for_streamlit(prose_line(shown['why']))}"
        )
    st.markdown("\n".join(lines))
    st.caption(words.made_by(own[0].provenance, calls))
