"""Untrusted text as Markdown, for templates: strings of a page's values, escaped by its renderer."""

from dashboards.render import page
from dashboards.render import prose as reading
from dashboards.render.formats.markdown import markdown, markdown_line


class Markdown(str):
    """Text that is Markdown of our own making: the templates print it as it is, and escape every
    other string.
    """

    __slots__ = ()


def plain(text: str) -> Markdown:
    """`text` on one line, every character of it shown as itself."""
    return Markdown(markdown_line(page.line(text)))


def prose(text: str) -> Markdown:
    """`text` as paragraphs and flat lists."""
    return Markdown(markdown(reading.prose(text)))


def prose_line(text: str) -> Markdown:
    """`text` as one line of prose, for table cells and list items."""
    return Markdown(markdown_line(reading.prose_line(text)))


def code(text: str) -> Markdown:
    """`text` as a code span, or as plain text where a span could not hold it."""
    return Markdown(markdown_line(page.line(page.code(text))))


def link(text: str, url: str) -> Markdown:
    """A link to `url`, or the text alone unless `url` is an http(s) address."""
    return Markdown(markdown_line(page.line(page.link(text, url))))
