"""`draw_method_figure`: the method figure as an image model draws what was described.

Baseline: none. A program draws the same boxes and arrows.
"""

from pydantic import Field

from schemas.base import Noun
from schemas.judging import StepKind
from tasks.judging.pictures import PICTURE_TOKENS, PictureReply
from tasks.judging.step import Step, no_baseline


class DrawnBox(Noun):
    """One box to be drawn."""

    label: str
    group: str


class DrawnArrow(Noun):
    """One arrow to be drawn, between the labels of boxes."""

    source: str
    target: str
    label: str


class DrawMethodFigureInput(Noun):
    """Input of `draw_method_figure`."""

    caption: str
    boxes: tuple[DrawnBox, ...] = Field(min_length=1)
    arrows: tuple[DrawnArrow, ...]


class DrawMethodFigureReply(PictureReply):
    """Reply to `draw_method_figure`."""


DRAW_METHOD_FIGURE = Step(
    name="draw_method_figure",
    version=1,
    package="tasks.writing",
    input_model=DrawMethodFigureInput,
    output_model=DrawMethodFigureReply,
    baseline=no_baseline("a picture is drawn with --image-model MODEL"),
    kind=StepKind.DRAWING,
    answer_tokens=PICTURE_TOKENS,
)
