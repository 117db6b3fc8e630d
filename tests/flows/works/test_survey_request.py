"""The options of `assay survey`, and by what a run of surveys is named."""

from pathlib import Path
from typing import Any

import pytest

from flows.cli.works import run
from flows.run.declared_campaign import run_id
from flows.run.estimate import WorkEstimate, estimate
from flows.run.requests import request_of
from schemas.errors import ConfigurationError
from schemas.literature.survey_review import Written
from schemas.settings import Settings
from schemas.works.survey_run import LONGEST_QUESTION, AskOptions, SurveyOptions, SurveyRequest
from tasks.survey.work import ASK, SURVEY


def resolved(folder: Path, *questions: str, **options: Any) -> SurveyRequest:
    asked = SurveyOptions(warehouse=folder, **options)
    return request_of(SURVEY, (questions,), asked, Settings())


def test_a_question_asked_twice_is_surveyed_once_and_order_is_kept(tmp_path: Path) -> None:
    request = resolved(tmp_path, "Why bats?", "Why  bats?", "Why moths?")
    assert [asked.question for asked in request.units] == ["Why bats?", "Why moths?"]
    assert [asked.question_id[:5] for asked in request.units] == ["q001-", "q002-"]


@pytest.mark.parametrize("question", ["", "  \n ", "x" * (LONGEST_QUESTION + 1)])
def test_what_is_no_question_is_refused_in_one_line(tmp_path: Path, question: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        resolved(tmp_path, question)
    assert "\n" not in str(refused.value)
    assert "question" in str(refused.value)


def test_bounds_are_those_of_the_options(tmp_path: Path) -> None:
    request = resolved(tmp_path, "Why bats?", depth=1, max_papers=7, max_judged=9, max_requests=5)
    bounds = request.parameters
    assert (bounds.depth, bounds.maximum_papers, bounds.maximum_judged) == (1, 7, 9)
    assert request.budget.maximum_requests == 5
    with pytest.raises(ConfigurationError, match="--depth"):
        resolved(tmp_path, "Why bats?", depth=9)


def test_works_are_read_in_full_only_by_an_engine_that_reads(tmp_path: Path) -> None:
    def wants(**options: Any) -> bool:
        return resolved(tmp_path, "Why bats?", full_text=True, **options).full_text

    model = "litellm:openai/gpt-5"
    assert wants(engine=model)
    assert not wants(engine=model, papers_read=0)
    assert not wants()


def test_what_a_survey_asks_is_known_before_it_is_paid_for(tmp_path: Path) -> None:
    def expected(**options: Any) -> WorkEstimate:
        request = resolved(tmp_path, "Why bats?", "Why moths?", **options)
        return estimate(SURVEY, request, Settings())

    model = "litellm:openai/gpt-5"
    whole, unwritten = expected(engine=model), expected(engine=model, papers_read=0)
    assert [step.step for step in whole.steps] == [
        *("survey_plan", "survey_relevance", "survey_reading", "survey_outline"),
        *("survey_section", "survey_synthesis", "verify_citations"),
    ]
    assert [step.step for step in unwritten.steps] == ["survey_plan", "survey_relevance"]
    assert whole.model_calls > unwritten.model_calls > 0
    assert (whole.cost_usd or 0) > (unwritten.cost_usd or 0) > 0
    offline = expected()
    assert (offline.model_calls, offline.cost_usd) == (0, 0)
    assert offline.counts["literature_requests"] > 0


def test_a_dry_run_leaves_nothing_behind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warehouse = tmp_path / "warehouse"
    options = SurveyOptions(warehouse=warehouse, engine="litellm:openai/gpt-5", dry_run=True)
    assert run("survey", (["Why bats?"],), options, None, as_json=True) == 0
    assert "survey_reading" in capsys.readouterr().out
    assert not warehouse.exists()


def asked(folder: Path, question: str = "Why bats?", **options: Any) -> SurveyRequest:
    asked = AskOptions(warehouse=folder, **options)
    return request_of(ASK, ((question,),), asked, Settings())


def test_an_answer_is_a_survey_by_searches_alone_under_a_name_of_its_own(tmp_path: Path) -> None:
    request = asked(tmp_path, papers_read=30)
    bounds = request.parameters
    assert (bounds.depth, bounds.written, bounds.papers_read) == (0, Written.ANSWER, 30)
    assert bounds.maximum_judged >= 3 * bounds.papers_read
    name = run_id(ASK, request, "snapshot:a", Settings())
    assert name.startswith("ask-")
    assert name != run_id(ASK, asked(tmp_path), "snapshot:a", Settings())
    with pytest.raises(ConfigurationError, match="question"):
        asked(tmp_path, " ")


def test_what_an_answer_asks_is_known_before_it_is_paid_for(tmp_path: Path) -> None:
    model = "litellm:openai/gpt-5"
    found = estimate(ASK, asked(tmp_path, engine=model), Settings())
    assert [step.step for step in found.steps] == [
        *("survey_plan", "survey_relevance", "survey_reading"),
        *("survey_answer", "verify_citations"),
    ]
    review = estimate(SURVEY, resolved(tmp_path, "Why bats?", engine=model), Settings())
    assert (found.cost_usd or 0) < (review.cost_usd or 0) / 4
