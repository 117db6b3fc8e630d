"""Checks of manuscripts have their page: what was read, found and not found."""

from pathlib import Path

import pytest

from dashboards.reports import wording
from dashboards.reports.write_check import check_report
from schemas.base import replace
from schemas.check_run import CheckHead
from tests.support.check_lake import CHECK, publish_check_lake
from tests.support.dashboard import open_page, words
from tests.support.safe_page import unsafe_parts
from warehouse.lake import open_reader
from warehouse.layout import Layout
from warehouse.manuscripts.queries import check_head


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    layout = Layout(tmp_path_factory.mktemp("checked"))
    publish_check_lake(layout)
    return layout


def test_problems_of_a_manuscript_stand_with_their_place_and_stay_text(checked: Layout) -> None:
    page = open_page("manuscripts", checked, manuscript="wrong")
    assert not page.exception
    assert "It divides by zero." in words(page)
    assert "Lemma 2 (the manuscript has no such place)" in words(page)
    assert unsafe_parts(page) == []


def test_a_manuscript_that_could_not_be_read_is_not_free_of_problems(checked: Layout) -> None:
    said = words(open_page("manuscripts", checked, manuscript="unread"))
    assert "could not be read" in said
    assert "not read: it holds no text" in said
    assert "No critical problem found" not in said


def test_without_any_check_the_page_says_how_to_make_one(tmp_path: Path) -> None:
    assert "assay check paper.pdf" in words(open_page("manuscripts", Layout(tmp_path)))


def test_page_and_report_say_what_was_tested_before_what_was_found(checked: Layout) -> None:
    said = words(open_page("manuscripts", checked))
    report = check_report(checked, CHECK)
    for told in (said, report):
        assert "1 of 1 checked manuscript with problems, 1 not checked." in told
        assert "asked for the problems, at most 5" in told
        assert "Nobody has judged whether they are real." in told
    assert report.index("What was tested") < report.index("## A proof")
    assert "| A scan | text | 100 | not read: it holds no text |" in report


def test_an_offline_check_says_that_no_rule_understands_the_argument(checked: Layout) -> None:
    with open_reader(checked) as connection:
        head: CheckHead = check_head(connection, CHECK)
    assert "Whether the argument is right was not tested" in wording.tested(
        replace(head, engine="extractive")
    )
    assert "Nothing was read anew" in wording.tested(replace(head, dataset="withdrarxiv"))
