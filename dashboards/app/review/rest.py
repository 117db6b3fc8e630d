"""The idea itself, what could not be looked up or judged, and the papers cited."""

import polars
import streamlit as st

from dashboards.app import links, tables, text
from dashboards.render import papers
from dashboards.views.idea.gaps import gaps_of, shortenings_of
from dashboards.views.idea.idea_page import idea_page
from schemas.literature.naming import safe_url
from warehouse.answers import IdeaReview


def show_idea(review: IdeaReview) -> None:
    """The text as it was given."""
    idea = review.evaluation.idea
    st.markdown(text.prose(idea.text))
    if idea.metadata:
        fields = polars.DataFrame(
            {"Field": list(idea.metadata), "Value": list(idea.metadata.values())}
        )
        tables.show(fields, {"Field": "Field", "Value": "Value"}, key="metadata")


def show_missing(review: IdeaReview) -> None:
    """Failures and judgements without a score, alike ones together, with their reasons."""
    gaps = gaps_of(review.evaluation)
    if not gaps:
        st.success("Every look-up was answered and every judgement made.")
    else:
        st.caption("Nothing here counts as a zero: every mean is taken over what was scored.")
    lines = []
    for gap in gaps:
        again = "; running again may help" if gap.retryable else ""
        concerns = f". Concerns {text.spans(gap.subjects)}" if gap.subjects else ""
        lines.append(
            f"- **{text.line(gap.what)}**, {gap.count:,} times:"
            f" {text.line(gap.why)}{again}{concerns}. {text.line(gap.detail)}"
        )
    if lines:
        st.markdown("\n".join(lines))
    shortened = shortenings_of(review.evaluation)
    if shortened:
        st.markdown("Long inputs were shortened before they were judged:")
        st.markdown(
            "\n".join(
                f"- {text.line(f'{entry.step}, {entry.count} times: {entry.rule}')}"
                for entry in shortened
            )
        )


def show_bibliography(review: IdeaReview) -> None:
    """The papers cited, then every paper retrieved as a table."""
    page = idea_page(review)
    with text.leading_to({}):  # here the address itself is wanted
        cited = [f"- {text.spans(entry)}" for entry in (*page.bibliography, *page.other_sources)]
    st.markdown("\n".join(cited or ["No paper is cited."]))
    found = review.evaluation.papers
    if not found:
        return
    st.subheader(f"Every paper retrieved ({len(found):,})", anchor=False)
    rows = {
        "title": [paper.title for paper in found],
        "authors": [", ".join(paper.authors) for paper in found],
        "date": [papers.paper_date(paper) for paper in found],
        "venue": [paper.venue for paper in found],
        "citations": [paper.citation_count for paper in found],
        "cited_where": [
            links.address("paper", run=str(review.run.run_id), paper=paper.paper_id)
            for paper in found
        ],
        "link": [safe_url(papers.paper_url(paper)) for paper in found],
        "paper_id": [paper.paper_id for paper in found],
    }
    columns = {
        "title": "Title", "authors": "Authors", "date": "Published", "venue": "Venue",
        "citations": tables.count("Citations"), "cited_where": tables.link("Cited where"),
        "link": tables.link("Link"), "paper_id": "Identifier",
    }  # fmt: skip
    tables.show(
        polars.DataFrame(rows, schema_overrides={"citations": polars.Int64, "link": polars.String}),
        columns,
        key="papers",
    )
