"""Surveys: the papers that answer a question, by cluster and year, and why each is there."""

import polars
import streamlit as st

from dashboards.app import charts, empty, state, tables, text
from dashboards.app.data import Lake
from dashboards.render import figures, wording
from dashboards.render.papers import paper_url
from dashboards.views.survey_part import SurveyPart
from schemas.identifiers import RunId
from schemas.literature.naming import safe_url
from schemas.literature.survey import Edge, SurveyPaper
from schemas.works.survey_run import SURVEYS, SurveyHead
from warehouse.units.kind import kind_of


def show(lake: Lake) -> None:
    """One run of surveys, one of its questions: map, papers, passages, and what failed."""
    heads = lake.heads(kind_of(SURVEYS))
    if not heads:
        empty.show(
            "No question has been surveyed here yet.",
            f'assay survey "how do bats find moths?" --warehouse {lake.warehouse.address}',
        )
        return
    chosen = state.choose(
        "Survey", list(heads), key="survey", shown=lambda name: _title(heads[name])
    )
    surveys = {survey.question_id: survey for survey in lake.units(kind_of(SURVEYS), RunId(chosen))}
    for banner in wording.banners(heads[chosen].engine, heads[chosen].literature):
        st.caption(text.line(banner))
    wanted = state.choose(
        "Question", list(surveys), key="question", shown=lambda name: surveys[name].question
    )
    part = SurveyPart(surveys[wanted])
    if part.survey.kept_count is None:
        why = wording.reason(part.survey.unscored_reason or "")
        st.warning(text.line(f"Not surveyed: {why}; {part.survey.unscored_detail}."))
    else:
        _found(part)
    _failures(part)


def _title(head: SurveyHead) -> str:
    count = figures.counted(head.question_count, "question")
    return f"{head.started_at:%Y-%m-%d %H:%M} · {count} · {head.engine}"


def _found(part: SurveyPart) -> None:
    st.markdown(f"**{text.line(part.verdict)}**")
    if not part.kept:
        st.info(part.nothing_kept)
        return
    _review(part)
    frame = polars.DataFrame([_row(part, paper) for paper in part.kept], infer_schema_length=None)
    dated = frame.filter(polars.col("year").is_not_null())
    if not dated.is_empty():
        drawn = charts.dots(dated, x="year", y="cluster", size="weight", y_title="Cluster")
        charts.show(drawn, "Papers by cluster and year", "survey_map")
    tables.show(
        frame,
        {
            "title": tables.wide("Paper"),
            "year": "Year",
            "cluster": "Cluster",
            "relevance": "Relevance, 0 to 5",
            "reached": "Reached by",
            "links": tables.count("Links"),
            "weight": "Weight",
            "url": tables.link("Paper's page"),
        },
        key="survey_papers",
        rows_shown=12,
    )
    st.subheader("Passages, word for word", anchor=False)
    for quote in part.survey.quotes:
        own = quote.said_in_paper_id == quote.paper_id
        where = (
            part.stands_in(quote)
            if own
            else f"“{part.text(quote.said_in_paper_id).title}” cites it"
        )
        st.caption(text.line(f"{part.text(quote.paper_id).title} · {where}"))
        st.markdown(text.line(f"“{quote.quote}”"))


def _review(part: SurveyPart) -> None:
    """What an engine wrote, and behind it what the check took out."""
    survey = part.survey
    if not survey.sections:
        return
    st.subheader("The review", anchor=False)
    st.caption(text.line(part.review_verdict))
    for section in survey.sections:
        st.markdown(f"**{text.line(section.heading)}**")
        if section.text:
            st.markdown(text.prose(section.text))
            if section.unchecked_sentence_count:
                count = figures.counted(section.unchecked_sentence_count, "sentence")
                st.caption(f"Not checked: {count} of it.")
        else:
            why = wording.reason(section.unscored_reason or "")
            st.caption(text.line(f"Nothing stands here: {why}; {section.unscored_detail}."))
    if survey.removed:
        with st.expander(f"Taken out of the review: {len(survey.removed):,}"):
            for removed in survey.removed:
                where = f"{part.heading(removed.section_id)}, {part.why_removed(removed)}"
                st.caption(text.line(where))
                st.markdown(text.prose(removed.sentence))


def _row(part: SurveyPart, paper: SurveyPaper) -> dict[str, object]:
    known = part.text(paper.paper_id)
    names = {cluster.cluster_id: cluster.name for cluster in part.survey.clusters}
    return {
        "title": known.title,
        "year": known.year,
        "cluster": names.get(paper.cluster_id or "", ""),
        "relevance": paper.relevance_0_to_5,
        "reached": _reached(part, paper),
        "links": paper.link_count,
        "weight": paper.weight,
        "url": safe_url(paper_url(known)),
    }


def _reached(part: SurveyPart, paper: SurveyPaper) -> str:
    if paper.edge is Edge.SEARCH:
        return f"search: {paper.reached_from}"
    verb = "cited by" if paper.edge is Edge.REFERENCE else "cites"
    return f"{verb} “{part.text(paper.reached_from).title}”"


def _failures(part: SurveyPart) -> None:
    st.subheader("What could not be had", anchor=False)
    for told, count in part.failures:
        st.markdown(f"- {text.line(told)}" + (f" ({count:,} times)" if count > 1 else ""))
    if not part.failures:
        st.markdown("Every look-up and every question was answered.")
    for detail in part.left_out:
        st.markdown(f"- Left out: {text.line(detail)}")
