"""The report on an answer: what stands, what is not in what was found, and what is not known."""

from pathlib import Path

import pytest

from dashboards.reports.write_survey import survey_page
from flows.commands.report_answer import report_answer
from schemas.base import replace
from schemas.identifiers import PaperId
from schemas.paper import SectionKind
from schemas.survey import Survey, SurveyQuote
from schemas.survey_review import Aspect, Written
from tests.support.survey_lake import UNSURVEYED, make_survey, published_surveys, with_answer
from warehouse.layout import Layout

TEXT = "Bats <script>call</script> [(First, 2001)](https://example.org/first)."
NOTHING = "**Not in what was found.**"
UNKNOWN = "**Nothing can be said.**"


def page(folder: Path, survey: Survey) -> str:
    layout = Layout(folder)
    return survey_page(layout, published_surveys(layout, survey, written=Written.ANSWER)).markdown()


def looked_everywhere(survey: Survey) -> Survey:
    return replace(
        survey, layers=tuple(replace(each, failed_look_up_count=0) for each in survey.layers)
    )


def test_an_answer_stands_first_with_what_it_rests_on_behind(tmp_path: Path) -> None:
    shown = page(tmp_path, with_answer(make_survey(), TEXT, "- Do bats hunt by day?"))
    assert shown.startswith("# How do bats hunt?\n\nBats ")
    assert "<script>" not in shown
    assert "## Not in what was found\n\n- Do bats hunt by day?" in shown
    assert shown.index("Do bats hunt by day") < shown.index("## What it rests on")
    assert "| echo calls | not answered |" in shown


def test_what_no_paper_answers_is_said_to_be_not_found_only_where_all_was_looked_at(
    tmp_path: Path,
) -> None:
    nothing = with_answer(make_survey(), "")
    assert NOTHING in page(tmp_path / "whole", looked_everywhere(nothing))
    lost = page(tmp_path / "lost", nothing)
    assert UNKNOWN in lost
    assert NOTHING not in lost


def test_a_question_that_could_not_be_looked_up_has_the_reason_for_an_answer(
    tmp_path: Path,
) -> None:
    shown = page(tmp_path, UNSURVEYED)
    assert "Not answered: " in shown
    assert NOTHING not in shown


@pytest.mark.parametrize("quotes", [True, False])
def test_without_a_model_the_passages_are_the_answer(tmp_path: Path, quotes: bool) -> None:
    quote = SurveyQuote(
        paper_id=PaperId("first"),
        said_in_paper_id=PaperId("first"),
        quote="Bats call.",
        aspect=Aspect.ANSWER,
        section=SectionKind.ABSTRACT,
    )
    survey = looked_everywhere(make_survey())
    shown = page(tmp_path, replace(survey, quotes=(quote,) if quotes else ()))
    assert ("these are the passages" in shown, "“Bats call.”" in shown) == (quotes, quotes)
    assert (NOTHING in shown) != quotes


def test_one_word_says_how_a_question_stands(tmp_path: Path) -> None:
    quiet = looked_everywhere(replace(make_survey(), quotes=()))
    found = {
        "answered": with_answer(make_survey(), TEXT),
        "not_found": with_answer(looked_everywhere(make_survey()), ""),
        "passages": looked_everywhere(make_survey()),
        "failed": UNSURVEYED,
    }
    for word, survey in (*found.items(), ("not_found", quiet)):
        layout = Layout(tmp_path / f"{word}-{survey is quiet}")
        run_id = published_surveys(layout, survey, written=Written.ANSWER)
        assert report_answer(layout, run_id).state == word
