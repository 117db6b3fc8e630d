"""Nouns of a venue: the template of a draft, and its rules."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.works.draft_neighbour import SectionPart


class VenueRules(Noun):
    """Rules of a venue for a text."""

    venue: str = Field(min_length=1)
    most_words: int = Field(
        default=4_000, ge=200, le=100_000, description="Maximum of all sections together."
    )
    most_pages: int | None = Field(
        default=None, ge=1, le=1_000, description="Of the PDF with references; None: no limit."
    )
    abstract_words: int | None = Field(
        default=None, ge=20, le=2_000, description="Maximum of the abstract; None: no abstract."
    )
    headings: dict[SectionPart, str] = Field(
        default={}, description="Headings by part; others are from the outline."
    )
    required: tuple[SectionPart, ...] = Field(default=(), description="Required sections.")


class Venue(VenueRules):
    """Template of a draft: its rules and layout.

    Its folder has `venue.toml`, and optionally `venue.typ` for the PDF, `preamble.tex` for the
    LaTeX source, and other files, which are copied.
    """

    folder: Path
    title: str = Field(min_length=1, description="Short description.")
    columns: int = Field(default=1, ge=1, le=2)
    latex: dict[str, str | tuple[str, ...]] = Field(
        default={}, description="Variables of Pandoc's template for LaTeX, such as classoption."
    )

    @property
    def rules(self) -> VenueRules:
        return VenueRules.model_validate(self.model_dump(include=set(VenueRules.model_fields)))
