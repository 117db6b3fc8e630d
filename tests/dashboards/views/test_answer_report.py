"""The report on an answer: what stands, what is not in what was found, and what is not known."""

from collections.abc import Callable
from functools import cache

import pytest

from dashboards.views.write_survey import survey_page
from schemas.base import replace
from schemas.failure import LEFT_OUT, Failure
from schemas.identifiers import PaperId, RunId
from schemas.literature.paper import SectionKind
from schemas.literature.survey import Survey, SurveyQuote
from schemas.literature.survey_review import Aspect, Written
from schemas.reasons import Reason
from tests.support.survey_lake import UNSURVEYED, make_survey, published_surveys, with_answer
from warehouse.warehouse import Warehouse

TEXT = "Bats <script>call</script> [(First, 2001)](https://example.org/first)."
NOTHING = "**Not in what was found.**"
UNKNOWN = "**Nothing can be said.**"


Published = Callable[[str], tuple[Warehouse, RunId]]


def looked_everywhere(survey: Survey) -> Survey:
    return replace(
        survey, layers=tuple(replace(each, failed_look_up_count=0) for each in survey.layers)
    )


def quoting() -> Survey:
    quote = SurveyQuote(
        paper_id=PaperId("first"),
        said_in_paper_id=PaperId("first"),
        quote="Bats call.",
        aspect=Aspect.ANSWER,
        section=SectionKind.ABSTRACT,
    )
    return replace(looked_everywhere(make_survey()), quotes=(quote,))


SURVEYS = {
    "answered": with_answer(make_survey(), TEXT, "- Do bats hunt by day?"),
    "nothing found": with_answer(looked_everywhere(make_survey()), ""),
    "look-ups lost": with_answer(make_survey(), ""),
    "passages": quoting(),
    "no passage": replace(looked_everywhere(make_survey()), quotes=()),
    "not looked up": UNSURVEYED,
    "retracted work": replace(
        with_answer(make_survey(), TEXT),
        failures=(
            Failure(
                stage=LEFT_OUT,
                subject="retracted or withdrawn papers",
                reason=Reason.RETRACTED,
                detail="2 papers counted for nothing (“Bats <b>sing</b>”, “Bats count”)",
            ),
        ),
    ),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """Each survey in a lake of its own, made when it is asked for."""

    @cache
    def lake(name: str) -> tuple[Warehouse, RunId]:
        warehouse = Warehouse(tmp_path_factory.mktemp("answer"))
        return warehouse, published_surveys(warehouse, SURVEYS[name], written=Written.ANSWER)

    return lake


def page(lake: tuple[Warehouse, RunId]) -> str:
    return survey_page(*lake).markdown()


def test_an_answer_stands_first_with_what_it_rests_on_behind(published: Published) -> None:
    shown = page(published("answered"))
    assert shown.startswith("# How do bats hunt?\n\nBats ")
    assert "<script>" not in shown
    assert "## Not in what was found\n\n- Do bats hunt by day?" in shown
    assert shown.index("Do bats hunt by day") < shown.index("## What it rests on")
    assert "| echo calls | not answered |" in shown


def test_what_no_paper_answers_is_said_to_be_not_found_only_where_all_was_looked_at(
    published: Published,
) -> None:
    assert NOTHING in page(published("nothing found"))
    lost = page(published("look-ups lost"))
    assert UNKNOWN in lost
    assert NOTHING not in lost


def test_an_answer_says_which_retracted_works_it_leaves_out(published: Published) -> None:
    left_out = page(published("retracted work")).partition("## Left out\n\n")[2]
    assert left_out.startswith("- 2 papers counted for nothing (“Bats ")
    assert "“Bats count”" in left_out
    assert "<b>" not in left_out
    assert "## Left out" not in page(published("answered"))


def test_a_question_that_could_not_be_looked_up_has_the_reason_for_an_answer(
    published: Published,
) -> None:
    shown = page(published("not looked up"))
    assert "Not answered: " in shown
    assert NOTHING not in shown


@pytest.mark.parametrize("name", ["passages", "no passage"])
def test_without_a_model_the_passages_are_the_answer(published: Published, name: str) -> None:
    shown, quotes = page(published(name)), name == "passages"
    assert ("these are the passages" in shown, "“Bats call.”" in shown) == (quotes, quotes)
    assert (NOTHING in shown) != quotes
