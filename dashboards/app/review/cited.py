"""What the review cites: of each paper the passages that were read, then its own page."""

import streamlit as st

from dashboards.app import links, text
from dashboards.app.review import words
from dashboards.render import papers, wording
from schemas.identifiers import PaperId
from schemas.literature.naming import safe_url
from warehouse.answers import IdeaReview

PASSAGES_SHOWN, PASSAGE_CHARACTERS = 3, 900


def anchors(review: IdeaReview) -> dict[str, str]:
    """Where on this page each paper cited is told of, by the address that citations lead to."""
    return {
        address: _anchor(number)
        for number, paper in enumerate(review.bibliography, start=1)
        if (address := safe_url(papers.paper_url(paper))) is not None
    }


def show(review: IdeaReview) -> None:
    """Every paper cited, in the order of first citation; nothing where none is."""
    if not review.bibliography:
        return
    st.subheader("What is cited", anchor="cited")
    known = {paper.paper_id: paper for paper in review.bibliography}
    with st.container(key="cited"):
        for number, paper in enumerate(review.bibliography, start=1):
            with st.container(border=True):
                named = words.paper_name(known, paper.paper_id)
                st.subheader(f"{number}. {text.line(named)}", anchor=_anchor(number))
                st.markdown(text.line(paper.title))
                for told in _passages(review, paper.paper_id):
                    st.markdown(told)
                links.to(
                    "paper",
                    "The paper: all that was read of it, and which ideas cite it",
                    run=str(review.run.run_id),
                    paper=str(paper.paper_id),
                )


def _anchor(number: int) -> str:
    return f"cited-{number}"


def _passages(review: IdeaReview, paper_id: PaperId) -> list[str]:
    """As Markdown: passages that a search found, else the abstract, else that there is neither."""
    soundness = review.evaluation.soundness
    found = {
        passage.text: passage.section or passage.kind
        for passage in (soundness.passages if soundness is not None else ())
        if passage.paper_id == paper_id
    }
    if not found:
        paper = next(each for each in review.bibliography if each.paper_id == paper_id)
        if not paper.abstract:
            return ["Only its title was known."]
        found = {paper.abstract: "abstract"}
    return [
        f"Passage ({text.line(where)}):\n\n{words.quotation(_beginning(passage))}"
        for passage, where in list(found.items())[:PASSAGES_SHOWN]
    ]


def _beginning(passage: str) -> str:
    return wording.shortened(passage, PASSAGE_CHARACTERS)
