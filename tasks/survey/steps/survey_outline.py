"""`survey_outline`: names for the clusters of works, and the sections of a review of them.

Baseline: none. The extractive engine gives the evidence, and writes no review.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Key, Prose, SoundEntries, Text
from tasks.judging.step import Step, no_baseline
from tasks.survey.steps.shown import ShownWork


class ShownCluster(Noun):
    """Works that belong together, and the words that their titles share."""

    cluster_id: str
    words: str
    papers: tuple[ShownWork, ...] = Field(min_length=1)


class OutlineInput(Noun):
    """Input of `survey_outline`."""

    question: str = Field(min_length=1)
    sub_questions: tuple[str, ...]
    clusters: tuple[ShownCluster, ...] = Field(min_length=1)
    maximum_sections: int = Field(ge=1)


class NamedCluster(Reply):
    """A name for a cluster."""

    cluster: Text = Field(description="The cluster's identifier, exactly as shown.")
    name: Text


class PlannedSection(Reply):
    """One section, and the works that it rests on."""

    heading: Text
    about: Prose = Field(default="", description="What it answers, in a sentence.")
    keys: list[Key] = Field(description="The works it rests on.")


class OutlineReply(Reply):
    """Reply to `survey_outline`."""

    clusters: Annotated[tuple[NamedCluster, ...], SoundEntries] = ()
    sections: Annotated[list[PlannedSection], Field(min_length=1), SoundEntries]


SURVEY_OUTLINE = Step(
    name="survey_outline",
    version=1,
    package="tasks.survey",
    input_model=OutlineInput,
    output_model=OutlineReply,
    baseline=no_baseline("a review is written with --engine litellm:MODEL; this is evidence"),
    kind=StepKind.JUDGEMENT,
)
