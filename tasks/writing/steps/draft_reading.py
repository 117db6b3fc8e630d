"""`draft_reading`: what a reader of the whole draft would have changed, section by section.

Baseline: none. Without a model the sentences of a draft are fixed.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import Step, no_baseline


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
    point: Text = Field(description="One sentence.")


class DraftReadingReply(Reply):
    """Reply to `draft_reading`; no points: nothing is to be changed."""

    points: Annotated[list[ReaderPoint], SoundEntries] = Field(description="At most eight.")


DRAFT_READING = Step(
    name="draft_reading",
    version=2,
    package="tasks.writing",
    input_model=DraftReadingInput,
    output_model=DraftReadingReply,
    baseline=no_baseline("a draft is read over with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)
