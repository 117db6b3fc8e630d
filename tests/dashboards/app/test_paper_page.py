"""The page of a paper: which ideas cite it, and where."""

from tests.support.dashboard import open_page, words
from tests.support.evaluations import make_papers
from tests.support.report_lake import RUN
from warehouse.layout import Layout

PAPER = str(make_papers(3, 8)[0].paper_id)


def test_it_says_which_ideas_cite_it_and_where(layout: Layout) -> None:
    page = open_page("paper", layout, run=RUN, paper=PAPER)
    assert not page.exception
    cited = page.dataframe[-1].value
    assert list(cited["title"]) == ["Idea 3"]
    assert list(cited["module"]) == ["soundness"]
    assert list(cited["field"]) == ["support"]


def test_a_paper_that_is_not_there_says_so(layout: Layout) -> None:
    page = open_page("paper", layout, run=RUN, paper="no-such-paper")
    assert "no paper “no-such-paper”" in page.error[0].value


def test_a_paper_nobody_cites_says_so(layout: Layout) -> None:
    uncited = str(make_papers(3, 8)[5].paper_id)
    assert "no review of this run cites it" in words(
        open_page("paper", layout, run=RUN, paper=uncited)
    )
