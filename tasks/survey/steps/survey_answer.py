"""`survey_answer`: a question answered in a few paragraphs from passages, cited by key.

Baseline: none. The extractive engine gives the passages, and writes no answer.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose, SoundEntries, Text
from tasks.judging.step import Step, no_baseline
from tasks.survey.steps.shown import ShownWork


class AnswerInput(Noun):
    """Input of `survey_answer`."""

    question: str = Field(min_length=1)
    papers: tuple[ShownWork, ...] = Field(min_length=1)
    words: int = Field(ge=1)


class AnswerReply(Reply):
    """Reply to `survey_answer`."""

    answer: Prose = Field(
        default="", description="Paragraphs; every sentence cites by key. Empty: nothing answers."
    )
    not_found: Annotated[tuple[Text, ...], SoundEntries] = Field(
        default=(), description="Parts of the question that nothing answers, each as a question."
    )


SURVEY_ANSWER = Step(
    name="survey_answer",
    version=1,
    package="tasks.survey",
    input_model=AnswerInput,
    output_model=AnswerReply,
    baseline=no_baseline("an answer is written with --engine litellm:MODEL; this is evidence"),
    kind=StepKind.JUDGEMENT,
)
