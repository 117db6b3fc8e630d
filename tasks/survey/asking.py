"""What a survey asks of an engine: its plan, and which papers are relevant."""

from collections.abc import Sequence

from schemas.literature.paper import Paper
from schemas.literature.survey import SurveyParameters, SurveyQuery
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown
from tasks.judging.relevance import Judgements, judge_papers, shown_papers
from tasks.judging.step import Engine
from tasks.survey.expanding import STAGE, Judge
from tasks.survey.steps.survey_plan import SURVEY_PLAN, PlanInput
from tasks.survey.steps.survey_relevance import (
    SURVEY_RELEVANCE,
    SurveyRelevanceInput,
    SurveyRelevanceReply,
)


async def plan_queries(
    question: str, parameters: SurveyParameters, engine: Engine
) -> Outcome[tuple[SurveyQuery, ...]]:
    """The searches of a question, each once; a question that names nothing has a reason instead."""
    outcome = await engine.run(
        SURVEY_PLAN,
        PlanInput(
            question=question,
            maximum_sub_questions=parameters.maximum_sub_questions,
            maximum_queries=parameters.queries_per_sub_question,
        ),
    )
    if isinstance(outcome, Unscored):
        return outcome
    asked: dict[str, str] = {}
    for planned in outcome.value.sub_questions[: parameters.maximum_sub_questions]:
        for query in planned.queries[: parameters.queries_per_sub_question]:
            asked.setdefault(" ".join(query.split()), planned.sub_question)
    if not asked:
        detail = "the question asks about nothing that literature could answer"
        return Unscored(Reason.NOTHING_TO_JUDGE, detail, outcome.provenance)
    queries = (
        SurveyQuery(query_id=f"q{number}", sub_question=sub_question, query=query)
        for number, (query, sub_question) in enumerate(asked.items(), start=1)
    )
    return Scored(tuple(queries), outcome.provenance)


def relevance_to(question: str, parameters: SurveyParameters, engine: Engine) -> Judge:
    """Judges papers by whether a survey of the question would discuss them."""

    async def asked(batch: Shown) -> Outcome[SurveyRelevanceReply]:
        return await engine.run(
            SURVEY_RELEVANCE,
            SurveyRelevanceInput(question=question, papers=shown_papers(batch)),
        )

    async def judge(papers: Sequence[Paper]) -> Judgements:
        return await judge_papers(
            papers,
            parameters.papers_per_call,
            asked,
            stage=STAGE,
            subject=f"{SURVEY_RELEVANCE.name} of papers",
        )

    return judge
