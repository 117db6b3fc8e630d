"""`draft_reading`: what a reader of the whole draft would have changed, section by section.

Baseline: none. Without a model the sentences of a draft are fixed.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.judging.reply_fields import Prose, SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step


class WrittenSection(Noun):
    """A section as it was written."""

    heading: str
    purpose: str
    text: str


class DraftReadingInput(Noun):
    """Input of `draft_reading`."""

    title: str
    form: str
    sections: tuple[WrittenSection, ...] = Field(min_length=1)


class ReaderPoint(Reply):
    """One point about one section."""

    heading: Text
    point: Text


class DraftReadingReply(Reply):
    """Reply to `draft_reading`; no points: nothing is to be changed."""

    summary: Prose = Field(min_length=1, description="What the draft says, in a sentence.")
    points: Annotated[list[ReaderPoint], SoundEntries, Field(default_factory=list)]


async def baseline_draft_reading(
    _inputs: DraftReadingInput, _tools: BaselineTools
) -> DraftReadingReply | NoAnswer:
    """NoAnswer(offline_engine), whatever was written."""
    return NoAnswer(Reason.OFFLINE_ENGINE, "a draft is read over with --engine litellm:MODEL")


DRAFT_READING = Step(
    name="draft_reading",
    version=1,
    package="tasks.writing",
    input_model=DraftReadingInput,
    output_model=DraftReadingReply,
    baseline=baseline_draft_reading,
    kind=StepKind.JUDGEMENT,
)
