"""Surveys have their page: papers with why they are there, passages, and what failed."""

from pathlib import Path

import pytest

from schemas.base import replace
from tests.support.dashboard import open_page, unsafe_parts, words
from tests.support.survey_lake import (
    LOST,
    UNSURVEYED,
    make_survey,
    published_surveys,
    with_review,
)
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    warehouse = Warehouse(tmp_path_factory.mktemp("surveyed"))
    published_surveys(warehouse, replace(make_survey(), failures=(LOST, LOST)), UNSURVEYED)
    return warehouse


def test_papers_stand_with_the_edge_that_led_to_them_and_passages_stay_text(
    warehouse: Warehouse,
) -> None:
    page = open_page("surveys", warehouse, question="question-0")
    said = words(page)
    assert "2 papers kept of 3 papers judged, in 1 cluster" in said
    assert "503 five times (2 times)" in said
    (frame,) = [table.value for table in page.dataframe]
    assert list(frame["reached"]) == ["search: bats hunt", "cites “Echo calls of bats”"]
    assert unsafe_parts(page) == []


def test_a_review_stands_with_what_was_taken_out_of_it(tmp_path: Path) -> None:
    warehouse = Warehouse(tmp_path)
    published_surveys(warehouse, with_review(make_survey()))
    page = open_page("surveys", warehouse, question="question-0")
    said = words(page)
    assert "5 cited sentences held against what was read" in said
    assert "In short, cites nothing" in said
    assert "the engine named none" in said
    assert unsafe_parts(page) == []


def test_a_question_that_was_not_surveyed_says_why_and_shows_no_paper(warehouse: Warehouse) -> None:
    page = open_page("surveys", warehouse, question="question-1")
    assert "the question names nothing specific to search for" in words(page)
    assert not page.dataframe
