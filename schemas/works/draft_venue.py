"""Nouns of a venue: the template of a draft, as its file says, and the rules that it brings."""

from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.works.draft_neighbour import SectionPart


class VenueRules(Noun):
    """Rules of a venue for a text."""

    venue: str = Field(min_length=1)
    most_words: int = Field(
        default=4_000, ge=200, le=100_000, description="Planned for all sections together."
    )
    most_pages: int | None = Field(
        default=None, ge=1, le=1_000, description="Of the PDF, references too; None: no limit."
    )
    abstract_words: int | None = Field(
        default=None, ge=20, le=2_000, description="Most of an abstract; None: there is none."
    )
    headings: dict[SectionPart, str] = Field(
        default={}, description="What sections are called; others as the outline calls them."
    )
    required: tuple[SectionPart, ...] = Field(
        default=(), description="Sections that must be there."
    )


class Venue(VenueRules):
    """A template: its rules, and how it is set.

    Its folder holds `venue.toml`; where they are there, `venue.typ` sets the PDF, `preamble.tex` is
    put into the LaTeX, and all other files are laid beside it.
    """

    folder: Path
    title: str = Field(min_length=1, description="What it is, in a few words.")
    columns: int = Field(default=1, ge=1, le=2)
    latex: dict[str, str | tuple[str, ...]] = Field(
        default={}, description="Variables of Pandoc's template for LaTeX, such as classoption."
    )

    @property
    def rules(self) -> VenueRules:
        return VenueRules.model_validate(self.model_dump(include=set(VenueRules.model_fields)))
