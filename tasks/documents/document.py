"""A document as a parser reads it."""

from pydantic import Field

from schemas.base import Noun


class HeadedSection(Noun):
    """Text under one heading, without what stands under its sub-headings."""

    level: int = Field(ge=0, description="0 for a top-level section, 1 for its parts, …")
    heading: str
    text: str


class ParsedDocument(Noun):
    """Title, abstract and sections in reading order."""

    title: str | None
    abstract: str | None
    sections: tuple[HeadedSection, ...]
    parser: str = Field(description="grobid, pdf or latex.")
