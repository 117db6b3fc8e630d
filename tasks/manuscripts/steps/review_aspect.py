"""`review_aspect`: objections of one reviewer of novelty, rigor, clarity or consistency.

Input are notes on the whole text and works looked up beforehand. Baseline: no objections, because
rules do not understand text.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import SoundEntries
from tasks.judging.step import BaselineTools, Step
from tasks.manuscripts.steps.read_section import CandidateReply
from tasks.manuscripts.steps.reading import Rating, Words


class Aspect(StrEnum):
    """What a reviewer looks at."""

    NOVELTY = "novelty"
    RIGOR = "rigor"
    CLARITY = "clarity"
    CONSISTENCY = "consistency"


class AspectInput(Noun):
    """What each reviewer is shown.

    Attributes:
        abstract: empty where none is marked off.
        notes: on all sections, in order.
        passages: sentences of the text that bear on the aspect, with their places.
        works: what was looked up, each under its key; empty: nothing.
        raised: problems that the reading of the sections raised.
        least_percent: how sure a point has to be.
    """

    aspect: Aspect
    title: str
    abstract: str
    notes: str
    passages: str
    works: tuple[str, ...]
    raised: tuple[str, ...]
    least_percent: int
    maximum_candidates: int


class AspectReply(Reply):
    assessment: Words = Field(default="", description="The aspect in at most three sentences.")
    rating_1_to_5: Rating = Field(default=None, description="1 poor, 5 excellent.")
    candidates: Annotated[list[CandidateReply], SoundEntries] = Field(
        description="The gravest first; may be empty."
    )


async def baseline_aspect(_: AspectInput, __: BaselineTools) -> AspectReply:
    """Rate nothing and object to nothing."""
    return AspectReply(candidates=[])


REVIEW_ASPECT = Step(
    name="review_aspect",
    version=5,
    package="tasks.manuscripts",
    input_model=AspectInput,
    output_model=AspectReply,
    baseline=baseline_aspect,
    kind=StepKind.JUDGEMENT,
)
