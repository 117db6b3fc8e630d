"""`look_at_figure`: what a reader who sees a figure would have changed. The picture goes along.

Baseline: none. Rules look at every figure; to see one takes a model that reads images.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import SoundEntries, Text
from tasks.judging.step import Step, no_baseline


class LookInput(Noun):
    """Input of `look_at_figure`."""

    caption: str


class SeenPoint(Reply):
    """One point about the picture."""

    point: Text = Field(description="One sentence.")
    misleads: bool = Field(
        description="Whether a reader would take something wrong from the figure, or nothing."
    )


class LookReply(Reply):
    """Reply to `look_at_figure`; no points: it is right as it is."""

    points: Annotated[list[SeenPoint], SoundEntries] = Field(description="At most four.")


LOOK_AT_FIGURE = Step(
    name="look_at_figure",
    version=2,
    package="tasks.writing",
    input_model=LookInput,
    output_model=LookReply,
    baseline=no_baseline("a figure is seen with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)
