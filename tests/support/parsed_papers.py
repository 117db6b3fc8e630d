"""Parsed papers made of headings and texts."""

from tasks.documents.document import HeadedSection, ParsedDocument


def parsed(*headed: tuple[int, str, str], abstract: str | None = None) -> ParsedDocument:
    """A paper of sections with level, heading and text."""
    sections = tuple(
        HeadedSection(level=level, heading=heading, text=text) for level, heading, text in headed
    )
    return ParsedDocument(title="T", abstract=abstract, sections=sections, parser="text")


def by_number(*headed: tuple[str, str], abstract: str | None = None) -> ParsedDocument:
    """A paper whose headings tell their level: `2.1 Cohort` is below `2 Methods`."""
    leveled = ((heading.count("."), heading, text) for heading, text in headed)
    return parsed(*leveled, abstract=abstract)
