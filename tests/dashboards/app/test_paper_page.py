"""The page of a paper: which ideas cite it, and where."""

import re

from schemas.identifiers import IdeaId
from tests.support.dashboard import open_page, words
from tests.support.evaluations import make_papers
from tests.support.report_lake import RUN
from warehouse.warehouse import Warehouse

PAPER = str(make_papers(3, 8)[0].paper_id)


def test_it_says_which_ideas_cite_it_and_where(warehouse: Warehouse) -> None:
    page = open_page("paper", warehouse, run=RUN, paper=PAPER)
    cited = page.dataframe[-1].value
    assert list(cited["title"]) == ["Idea 3"]
    assert list(cited["module"]) == ["soundness"]
    assert list(cited["field"]) == ["support"]


def test_a_paper_that_is_not_there_says_so(warehouse: Warehouse) -> None:
    page = open_page("paper", warehouse, run=RUN, paper="no-such-paper")
    assert "no paper “no-such-paper”" in page.error[0].value


def test_a_paper_nobody_cites_says_so(warehouse: Warehouse) -> None:
    uncited = str(make_papers(3, 8)[5].paper_id)
    assert "no review of this run cites it" in words(
        open_page("paper", warehouse, run=RUN, paper=uncited)
    )


def test_what_was_read_of_it_stands_on_its_page(warehouse: Warehouse) -> None:
    with warehouse.queries() as queries:
        soundness = queries.idea_review(RUN, IdeaId("idea-00003")).evaluation.soundness
    assert soundness is not None
    read = next(each for each in soundness.passages if each.paper_id == PAPER)
    page = open_page("paper", warehouse, run=RUN, paper=PAPER)
    assert "What was read of it" in words(page)
    assert any(each.value.startswith("> ") for each in page.markdown)
    assert read.text.split()[0] in words(page)


def test_a_citation_of_a_review_opens_the_passage_and_then_the_paper(warehouse: Warehouse) -> None:
    page = open_page("idea", warehouse, run=RUN, idea="idea-00003", part="Soundness")
    led = {
        number for each in page.markdown for number in re.findall(r"\]\(#cited-(\d+)\)", each.value)
    }
    places = {each.proto.anchor: each.value for each in page.subheader}
    assert led
    assert {f"cited-{number}" for number in led} <= set(places)
    with warehouse.queries() as queries:
        (first, *_) = queries.idea_review(RUN, IdeaId("idea-00003")).bibliography
    assert str(first.publication_date or first.year)[:4] in places["cited-1"]
    assert "The paper: all that was read of it, and which ideas cite it" in words(page)
    assert "Passage (" in words(page)


def test_the_bibliography_leads_to_the_papers_themselves(warehouse: Warehouse) -> None:
    page = open_page("idea", warehouse, run=RUN, idea="idea-00003", part="Bibliography")
    assert any("](https://" in each.value for each in page.markdown)
