"""The steps of a draft."""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.pictures import PICTURE_TOKENS, PictureReply
from tasks.judging.reply_fields import Prose, SoundEntries, Text
from tasks.judging.step import Step, no_baseline, steps_in


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


# The method as boxes and arrows.
DRAFT_METHOD_FIGURE = Step(
    name="draft_method_figure",
    version=2,
    package="tasks.writing",
    input_model=MethodFigureInput,
    output_model=MethodFigureReply,
    # Without a model the figure shows the course of every experiment, or what the idea plans.
    baseline=no_baseline("a method is drawn with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)


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


# The method figure as a picture by an image model.
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


# Changes that a reader who sees a figure asks for; the picture goes with the prompt.
LOOK_AT_FIGURE = Step(
    name="look_at_figure",
    version=2,
    package="tasks.writing",
    input_model=LookInput,
    output_model=LookReply,
    # Rules check every figure, but only a model that reads images sees it.
    baseline=no_baseline("a figure is seen with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)


class LookAtPictureInput(Noun):
    """Input of `look_at_picture`."""

    caption: str
    boxes: tuple[DrawnBox, ...] = Field(min_length=1)
    arrows: tuple[DrawnArrow, ...]


# The same of a picture by an image model, whose pixels no rule can read.
LOOK_AT_PICTURE = Step(
    name="look_at_picture",
    version=2,
    package="tasks.writing",
    input_model=LookAtPictureInput,
    output_model=LookReply,
    baseline=no_baseline("a figure is seen with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)


class ShownClaim(Noun):
    """A claim as the engine sees it."""

    key: str
    means: str
    shown: str


class ShownSource(Noun):
    """A work that may be cited, with what is stored of it."""

    key: str
    title: str
    year: int | None
    passage: str


class ShownFigure(Noun):
    """A figure that stands in the section."""

    figure_id: str
    caption: str


class DraftSectionInput(Noun):
    """Input of `draft_section`; `own` and `points` are empty when it is written first."""

    title: str
    form: str
    heading: str
    purpose: str
    words: int = Field(ge=1)
    style: str
    other_headings: tuple[str, ...]
    claims: tuple[ShownClaim, ...]
    works: tuple[ShownSource, ...]
    figures: tuple[ShownFigure, ...]
    before: str
    own: str
    points: tuple[str, ...]


class DraftSectionReply(Reply):
    """Reply to `draft_section`."""

    section: Prose = Field(min_length=1, description="Paragraphs in Markdown, without a heading.")


# One section, from claims that are named by key.
DRAFT_SECTION = Step(
    name="draft_section",
    version=3,
    package="tasks.writing",
    input_model=DraftSectionInput,
    output_model=DraftSectionReply,
    baseline=no_baseline("a section is written with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)


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


# Changes that a reader of the whole draft asks for, section by section.
DRAFT_READING = Step(
    name="draft_reading",
    version=2,
    package="tasks.writing",
    input_model=DraftReadingInput,
    output_model=DraftReadingReply,
    baseline=no_baseline("a draft is read over with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)

STEPS = steps_in(__name__)
