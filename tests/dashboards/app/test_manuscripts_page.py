"""Checks of manuscripts have their page: what was read, found and not found."""

from pathlib import Path

import pytest

from schemas.check_run import CheckHead
from schemas.identifiers import RunId
from schemas.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm, Problem
from schemas.reasons import Reason
from tests.support.dashboard import open_page, words
from tests.support.evaluations import START
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.safe_page import unsafe_parts
from warehouse.layout import Layout
from warehouse.manuscripts.landing import CHECKS, land_checks
from warehouse.units.publish import publish

CHECK = RunId("check-a")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    layout = Layout(tmp_path_factory.mktemp("checked"))
    common = {"form": ManuscriptForm.TEXT, "word_count": 100, "failures": ()}
    wrong = ManuscriptCheck(
        manuscript_id="wrong",
        title="A proof",
        content_sha256="ab" * 32,
        attempts=(Attempt(attempt=1, problem_count=1),),
        problems=(
            Problem(
                problem_id="a1p1",
                attempt=1,
                problem=HOSTILE_TEXT,
                location="Lemma 2",
                explanation="It divides by zero.",
                location_found=False,
            ),
        ),
        **common,
    )
    unread = ManuscriptCheck(
        manuscript_id="unread",
        title="A scan",
        content_sha256="cd" * 32,
        unread_reason=Reason.NO_TEXT,
        attempts=(Attempt(attempt=1, problem_count=None, unscored_reason=Reason.NOTHING_TO_JUDGE),),
        problems=(),
        **common,
    )
    for check in (wrong, unread):
        land_checks(layout, CHECK, check.manuscript_id, [check], START, START)
    head = CheckHead(
        run_id=CHECK,
        engine="litellm:small",
        judges=(),
        form="auto",
        maximum_problems=5,
        attempt_count=1,
        repetition_count=1,
        seed=0,
        manuscript_count=2,
        started_at=START,
        finished_at=START,
    )
    assert publish(layout, CHECKS, head).published
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
