"""`survey_section`: one section of a review, from the passages of its works, cited by key.

Baseline: none. The extractive engine gives the evidence, and writes no review.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Text
from tasks.judging.step import Step, no_baseline
from tasks.survey.steps.shown import ShownJoin, ShownWork


class SectionInput(Noun):
    """Input of `survey_section`."""

    question: str = Field(min_length=1)
    heading: str
    about: str
    other_headings: tuple[str, ...]
    papers: tuple[ShownWork, ...] = Field(min_length=1)
    joins: tuple[ShownJoin, ...] = ()
    words: int = Field(ge=1)


class SectionReply(Reply):
    """Reply to `survey_section`."""

    section: Text = Field(description="Paragraphs without a heading; every sentence cites by key.")


SURVEY_SECTION = Step(
    name="survey_section",
    version=1,
    package="tasks.survey",
    input_model=SectionInput,
    output_model=SectionReply,
    baseline=no_baseline("a review is written with --engine litellm:MODEL; this is evidence"),
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
)
