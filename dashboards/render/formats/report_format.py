"""Report formats, and the choice of one by file name."""

from enum import StrEnum
from pathlib import Path

from schemas.errors import ConfigurationError


class ReportFormat(StrEnum):
    """Formats of a report; each value is the file extension."""

    MD = "md"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    BIB = "bib"
    JSON = "json"

    @property
    def media_type(self) -> str:
        """The MIME type."""
        return _MEDIA_TYPES[self]


_MEDIA_TYPES = {
    ReportFormat.MD: "text/markdown; charset=utf-8",
    ReportFormat.HTML: "text/html; charset=utf-8",
    ReportFormat.BIB: "application/x-bibtex; charset=utf-8",
    ReportFormat.JSON: "application/json",
    ReportFormat.PDF: "application/pdf",
    ReportFormat.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}


def format_or_markdown(path: Path) -> ReportFormat:
    """Return the format of a file's extension; Markdown for others."""
    ending = path.suffix.removeprefix(".").lower()
    return ReportFormat(ending) if ending in list(ReportFormat) else ReportFormat.MD


def format_of(name: str) -> ReportFormat:
    """Return the format of a file name's extension.

    Raises:
        ConfigurationError: no format has this extension.
    """
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    formats = {each.value: each for each in ReportFormat}
    if ending not in formats:
        raise ConfigurationError(
            f"{name}: its ending names no format; use one of"
            f" {', '.join(f'.{each}' for each in formats)}, or say --format"
        )
    return formats[ending]
