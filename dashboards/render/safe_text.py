"""Untrusted text as Markdown, for programs that show Markdown: escaped by the renderer of pages."""

from dashboards.render import page
from dashboards.render import prose as reading
from dashboards.render.formats.markdown import markdown, markdown_line


def plain(text: str) -> str:
    """`text` on one line, every character of it shown as itself."""
    return markdown_line(page.line(text))


def prose(text: str) -> str:
    """`text` as paragraphs and flat lists."""
    return markdown(reading.prose(text))


def prose_line(text: str) -> str:
    """`text` as one line of prose, for table cells and list items."""
    return markdown_line(reading.prose_line(text))


def code(text: str) -> str:
    """`text` as a code span, or as plain text where a span could not hold it."""
    return markdown_line(page.line(page.code(text)))


def link(text: str, url: str) -> str:
    """A link to `url`, or the text alone unless `url` is an http(s) address."""
    return markdown_line(page.line(page.link(text, url)))
