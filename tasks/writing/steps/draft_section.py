"""`draft_section`: one section of a draft, out of claims that are named by key.

Baseline: none. Without a model the sentences of a section are fixed.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose
from tasks.judging.step import Step, no_baseline


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


DRAFT_SECTION = Step(
    name="draft_section",
    version=3,
    package="tasks.writing",
    input_model=DraftSectionInput,
    output_model=DraftSectionReply,
    baseline=no_baseline("a section is written with --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)
