"""`survey_plan`: the sub-questions of a question, and searches for each.

Baseline: the question's own sentences, and its key phrases as queries.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.reasons import Reason
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.phrases import filled, meaningful_words, phrase_queries
from tasks.text.words import sentences

WHOLE_QUERY_WORDS = 10
"""Of the query that holds the whole question: what a search by relevance still answers well."""


class PlanInput(Noun):
    """Input of `survey_plan`."""

    question: str = Field(min_length=1)
    maximum_sub_questions: int = Field(ge=1)
    maximum_queries: int = Field(ge=1, description="Per sub-question.")


class PlannedSubQuestion(Reply):
    sub_question: Text = Field(description="A part of the question, understandable on its own.")
    queries: Annotated[list[Text], Field(min_length=1)] = Field(description="Short search queries.")


class PlanReply(Reply):
    sub_questions: Annotated[list[PlannedSubQuestion], SoundEntries]


async def baseline_plan(inputs: PlanInput, tools: BaselineTools) -> PlanReply | NoAnswer:
    """Each sentence of the question: first all its telling words, then its key phrases one by
    one.
    """
    del tools
    asked = (sentences(inputs.question) or [inputs.question])[: inputs.maximum_sub_questions]
    made = phrase_queries(inputs.question, asked, inputs.maximum_queries)
    plan = []
    for sentence, queries in zip(asked, made, strict=True):
        whole = filled(meaningful_words(sentence), WHOLE_QUERY_WORDS)
        listed = list(dict.fromkeys(query for query in (whole, *queries) if query))
        if listed:
            chosen = listed[: inputs.maximum_queries]
            plan.append(PlannedSubQuestion(sub_question=sentence, queries=chosen))
    if not plan:
        detail = "the question names nothing specific to search for"
        return NoAnswer(Reason.NOTHING_TO_JUDGE, detail)
    return PlanReply(sub_questions=plan)


SURVEY_PLAN = Step(
    name="survey_plan",
    version=1,
    package="tasks.survey",
    input_model=PlanInput,
    output_model=PlanReply,
    baseline=baseline_plan,
)
