"""`survey_synthesis`: what the sections of a review say together: an answer, where works contradict
each other, and what nobody has shown.

Baseline: none. The extractive engine gives the evidence, and writes no review.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import Step, no_baseline
from tasks.survey.steps.shown import ShownSection, ShownWork


class SynthesisInput(Noun):
    """Input of `survey_synthesis`."""

    question: str = Field(min_length=1)
    sections: tuple[ShownSection, ...] = Field(min_length=1)
    papers: tuple[ShownWork, ...] = Field(min_length=1)


class SynthesisReply(Reply):
    """Reply to `survey_synthesis`; every sentence cites by key."""

    summary: Text = Field(description="The answer to the question, in one paragraph.")
    contradictions: Annotated[tuple[Text, ...], SoundEntries] = Field(
        default=(), description="Each cites the works on both sides; empty: there is none."
    )
    gaps: Annotated[tuple[Text, ...], SoundEntries] = Field(
        default=(), description="Each cites the works that come nearest; empty: there is none."
    )


SURVEY_SYNTHESIS = Step(
    name="survey_synthesis",
    version=1,
    package="tasks.survey",
    input_model=SynthesisInput,
    output_model=SynthesisReply,
    baseline=no_baseline("a review is written with --engine litellm:MODEL; this is evidence"),
    kind=StepKind.JUDGEMENT,
)
