"""What a survey asks of an engine: its searches, and the relevance of papers."""

import pytest

from schemas.literature.survey import SurveyParameters
from schemas.reasons import Reason
from tasks.judging.relevance import ShownPaper
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.survey.steps import (
    PlanInput,
    PlanReply,
    SurveyRelevanceInput,
    baseline_plan,
    baseline_relevance,
    relevance_score,
)
from tests.support.contribution_fakes import WordEmbedder

TOOLS = BaselineTools(WordEmbedder())


async def planned(question: str) -> PlanReply | NoAnswer:
    asked = PlanInput(question=question, maximum_sub_questions=3, maximum_queries=2)
    return await baseline_plan(asked, TOOLS)


async def test_the_first_search_holds_the_whole_question() -> None:
    plan = await planned("How do bats use echo calls to hunt moths at night?")
    assert isinstance(plan, PlanReply)
    assert plan.sub_questions[0].queries[0] == "bats echo calls hunt moths night"


@pytest.mark.parametrize("question", ["Why is it so?", "?", "and then what about this", "2021"])
async def test_a_question_without_a_noun_has_a_reason_and_no_search(question: str) -> None:
    plan = await planned(question)
    assert isinstance(plan, NoAnswer)
    assert plan.reason is Reason.NOTHING_TO_JUDGE


async def test_relevance_grows_with_both_signals_and_vocabulary_alone_is_not_enough() -> None:
    assert relevance_score(0.0, 1.0) < SurveyParameters().least_relevance
    assert relevance_score(0.2, 0.2) < relevance_score(0.6, 0.2) < relevance_score(0.6, 1.0)
    papers = (
        ShownPaper(key="P1", title="Echo calls of bats", abstract="Bats hunt moths by echo calls."),
        ShownPaper(key="P2", title="Tax law", abstract="Courts decide on taxes."),
    )
    asked = SurveyRelevanceInput(question="How do bats hunt moths by echo calls?", papers=papers)
    reply = await baseline_relevance(asked, TOOLS)
    near, far = reply.papers
    assert near.score >= 3 > far.score
