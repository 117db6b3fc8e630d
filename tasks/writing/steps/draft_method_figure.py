"""`draft_method_figure`: the method as boxes and arrows.

Baseline: none. Without a model the figure shows how every experiment goes, or what the idea plans.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose, SoundEntries, Text
from tasks.judging.step import Step, no_baseline


class MethodFigureInput(Noun):
    """Input of `draft_method_figure`."""

    title: str
    method: str
    tried: str


class ToldBox(Reply):
    """One box."""

    id: Text
    label: Text = Field(description="At most five words.")
    group: Prose = ""


class ToldArrow(Reply):
    """One arrow."""

    source: Text
    target: Text
    label: Prose = Field(default="", description="One or two words, or empty.")


class MethodFigureReply(Reply):
    """Reply to `draft_method_figure`."""

    caption: Text = Field(description="Two or three short sentences.")
    boxes: Annotated[list[ToldBox], Field(min_length=1), SoundEntries] = Field(
        description="Four to ten, in two to four groups."
    )
    arrows: Annotated[list[ToldArrow], SoundEntries, Field(default_factory=list)]


DRAFT_METHOD_FIGURE = Step(
    name="draft_method_figure",
    version=2,
    package="tasks.writing",
    input_model=MethodFigureInput,
    output_model=MethodFigureReply,
    baseline=no_baseline("a method is drawn with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)
