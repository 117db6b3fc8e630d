"""A document as a parser reads it."""

from pydantic import Field

from schemas.base import Noun


class HeadedSection(Noun):
    """Text under one heading, without what stands under its sub-headings."""

    level: int = Field(ge=0, description="0 for a top-level section, 1 for its parts, …")
    heading: str
    text: str


class PagedText(Noun):
    """The text of a PDF page by page, as printed, with the headings found in it."""

    title: str | None
    pages: tuple[str, ...]
    headings: tuple[str, ...]


class LatexSource(Noun):
    """A paper's LaTeX as one text, without preamble and comments: inclusions in place, its own
    macros written out.
    """

    title: str | None
    body: str
    bibliography: str = Field(description="Its `.bbl` files; empty where it brings none.")
    missing_files: tuple[str, ...] = Field(
        default=(), description="Names of included files that are missing or cannot be followed."
    )
    missing_preamble_files: tuple[str, ...] = Field(
        default=(), description="The same of files that the preamble includes, which hold macros."
    )


class ParsedDocument(Noun):
    """Title, abstract and sections in reading order."""

    title: str | None
    abstract: str | None
    sections: tuple[HeadedSection, ...]
    parser: str = Field(description="grobid, pdf or latex.")
    missing_files: tuple[str, ...] = Field(
        default=(), description="Names of included files that are missing or cannot be followed."
    )
    missing_preamble_files: tuple[str, ...] = Field(
        default=(), description="The same of files that the preamble includes, which hold macros."
    )
