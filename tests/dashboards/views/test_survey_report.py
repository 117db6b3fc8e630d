"""The report on surveys: papers with why they are there, quotes, a map, what could not be had."""

from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import bibtexparser
import pytest

from dashboards.render.charts.citation_map import LEFT, PAPERS_DRAWN, RIGHT, citation_map
from dashboards.views.write_survey import survey_page
from schemas.base import replace
from schemas.failure import LEFT_OUT
from tests.support.reports import marks
from tests.support.survey_lake import (
    LOST,
    SURVEY,
    UNSURVEYED,
    make_survey,
    nothing_kept,
    published_surveys,
    with_review,
)
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("warehouse"))
    published_surveys(warehouse, replace(make_survey(), failures=(LOST, LOST)), UNSURVEYED)
    return warehouse


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_every_kept_paper_says_how_it_was_reached_and_what_is_said_of_it(
    warehouse: Warehouse,
) -> None:
    page = survey_page(warehouse, SURVEY).markdown()
    assert "2 papers kept of 3 papers judged, in 1 cluster; ended at the depth asked for" in page
    assert "| search: bats hunt |" in page
    assert "| cites [First, 2001](https://example.org/first) |" in page
    assert "[Second, 2002](https://example.org/second) cites it: “Bats " in page
    assert "Tax law" not in page


def test_what_could_not_be_had_is_named_once_with_how_often(warehouse: Warehouse) -> None:
    page = survey_page(warehouse, SURVEY).markdown()
    assert page.count("503 five times") == 1
    assert "(2 times)" in page
    assert "| echo calls | How do bats hunt? | not answered |" in page
    assert "Not surveyed: there was nothing to judge; the question names nothing" in page


def test_papers_left_out_of_a_survey_are_no_failures(tmp_path: Path) -> None:
    left_out = replace(LOST, stage=LEFT_OUT, detail="3 papers counted for nothing")
    published_surveys(Warehouse(tmp_path), replace(make_survey(), failures=(left_out,)))
    page = survey_page(Warehouse(tmp_path), SURVEY).markdown()
    assert "Every look-up and every question was answered." in page
    assert page.count("- Left out: 3 papers counted for nothing") == 1


@pytest.mark.parametrize(
    ("failed", "said"),
    [(0, "Nothing relevant was found"), (1, "Nothing can be said: 1 search or paper could not")],
)
def test_nothing_is_said_to_be_found_only_where_all_was_looked_at(
    failed: int, said: str, tmp_path: Path
) -> None:
    published_surveys(Warehouse(tmp_path), nothing_kept(failed))
    page = survey_page(Warehouse(tmp_path), SURVEY).markdown()
    assert f"\n{said}" in page
    assert page.count("Nothing ") == 1


def test_the_pages_pictures_load_nothing_and_titles_stay_text(warehouse: Warehouse) -> None:
    html = survey_page(warehouse, SURVEY).html()
    tags = Tags(html).found
    assert sum(tag == "circle" for tag, _ in tags) == 2
    assert sum(attributes.get("class") == "link" for _, attributes in tags) == 1
    assert not {"script", "img", "iframe", "link"} & {tag for tag, _ in tags}
    assert all("src" not in attributes for _, attributes in tags)
    assert "<b>call" not in html
    assert "```" not in survey_page(warehouse, SURVEY).markdown()


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("reviewed"))
    published_surveys(warehouse, with_review(replace(make_survey(), links=())))
    return warehouse


def test_a_review_says_how_it_was_checked_and_shows_behind_what_was_taken_out(
    reviewed: Warehouse,
) -> None:
    page = survey_page(reviewed, SURVEY).markdown()
    assert "5 cited sentences held against what was read: 1 corrected, 2 taken out" in page
    assert "[(First, 2001)](https://example.org/first)" in page
    assert "Not written: no relevant evidence was found; the engine named none." in page
    review, behind = page.split("### Taken out of the review")
    assert "Cats fly." not in review
    assert "- In short, cites nothing: Cats fly." in behind
    assert "not carried by what was read of the works it cites: Bats sing." in behind


def test_leading_works_stand_side_by_side_in_their_own_words(reviewed: Warehouse) -> None:
    page = survey_page(reviewed, SURVEY).markdown()
    (row,) = [line for line in page.splitlines() if line.startswith("| [First") and "–" in line]
    assert row.count("filmed.”") == 4
    assert row.endswith("| – |")
    html = survey_page(reviewed, SURVEY).html()
    assert "<script" not in html
    assert "<b>bats" not in html


def test_works_joined_only_by_a_third_are_shown_as_such(
    reviewed: Warehouse, warehouse: Warehouse
) -> None:
    page = survey_page(reviewed, SURVEY).markdown()
    assert "### Joined only by a third" in page
    assert "by [Second, 2002](https://example.org/second): “Both call.”" in page
    assert "### Joined only by a third" not in survey_page(warehouse, SURVEY).markdown()


def test_the_bibliography_holds_the_kept_papers(warehouse: Warehouse) -> None:
    paths = {
        path.name: path for path in survey_page(warehouse, SURVEY).write(warehouse.reports / SURVEY)
    }
    assert set(paths) == {"index.html", "index.md", "papers.bib"}
    library = bibtexparser.parse_string(paths["papers.bib"].read_text())
    assert [entry.key for entry in library.entries] == ["first2001", "second2002"]
    page = paths["index.md"].read_text()
    assert all(f" `{key}` |" in page for key in ("first2001", "second2002"))


def test_the_drawings_lie_beside_the_markdown_that_shows_them(warehouse: Warehouse) -> None:
    page = next(
        path
        for path in survey_page(warehouse, SURVEY).write(warehouse.reports / SURVEY)
        if path.name == "index.md"
    )
    for name in ("map-1.svg", "years-1.svg"):
        assert f"]({name})" in page.read_text()
        assert ElementTree.fromstring((page.parent / name).read_text()).tag.endswith("svg")


def test_a_map_draws_the_heaviest_papers_and_counts_the_others() -> None:
    survey = make_survey()
    many = [replace(survey.papers[0], paper_id=f"p{number}") for number in range(PAPERS_DRAWN + 5)]
    texts = [replace(survey.papers[0].text, paper_id=paper.paper_id) for paper in many]
    undated = [replace(text, year=None) if place < 3 else text for place, text in enumerate(texts)]
    drawn = citation_map("map-1", many, undated, survey.clusters, survey.links)
    assert drawn is not None
    dots = marks(drawn, "circle")
    assert len(dots) == PAPERS_DRAWN
    assert "2 lighter papers are in the table only. Of 3 the year is not known." in drawn.caption
    assert all(LEFT < dot["cx"] < RIGHT for dot in dots)
    nothing = [replace(text, year=None) for text in texts]
    assert citation_map("map-1", many, nothing, survey.clusters, ()) is None
