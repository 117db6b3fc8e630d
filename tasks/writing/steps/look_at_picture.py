"""`look_at_picture`: whether a picture by an image model shows what it was to show. It goes along.

Baseline: none. Rules look at boxes and labels that a program drew, and cannot read pixels.
"""

from pydantic import Field

from schemas.base import Noun
from schemas.judging import StepKind
from tasks.judging.step import Step, no_baseline
from tasks.writing.steps.draw_method_figure import DrawnArrow, DrawnBox
from tasks.writing.steps.look_at_figure import LookReply


class LookAtPictureInput(Noun):
    """Input of `look_at_picture`."""

    caption: str
    boxes: tuple[DrawnBox, ...] = Field(min_length=1)
    arrows: tuple[DrawnArrow, ...]


LOOK_AT_PICTURE = Step(
    name="look_at_picture",
    version=2,
    package="tasks.writing",
    input_model=LookAtPictureInput,
    output_model=LookReply,
    baseline=no_baseline("a figure is seen with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)
