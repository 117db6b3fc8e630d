"""Pandoc's Markdown of a draft as blocks of a page."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from dashboards.render import page as pg
from schemas.literature.naming import safe_url
from schemas.text.patterns import IGNORECASE, bounded

_WEB_ADDRESS = bounded(r"https?://[^/]", IGNORECASE)
_ALIGNS = {"text-align:right": pg.Align.NUMBER, "text-align:center": pg.Align.MARK}


def read_blocks(markdown: str) -> tuple[pg.Block, ...]:
    """Parse Markdown into blocks; HTML and pictures become text."""
    return tuple(_blocks(SyntaxTreeNode(markdown_parser().parse(markdown)).children))


@cache
def markdown_parser() -> MarkdownIt:
    """Return a parser that reads HTML and pictures as text and allows web links only."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.validateLink = lambda url: _WEB_ADDRESS.match(url) is not None  # type: ignore[method-assign]
    return parser.disable(["image", "autolink", "html_inline", "html_block", "reference"])


def _blocks(nodes: Iterable[SyntaxTreeNode]) -> Iterator[pg.Block]:
    for node in nodes:
        if node.type == "heading":
            yield pg.Heading(_line(node), int(node.tag[1:]))
        elif node.type == "paragraph":
            yield pg.Paragraph(_line(node))
        elif node.type == "blockquote":
            yield pg.Quote(tuple(_blocks(node.children)))
        elif node.type in ("bullet_list", "ordered_list"):
            items = (tuple(_blocks(each.children)) for each in node.children)
            first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
            yield pg.Listing(tuple(each or (pg.Paragraph(()),) for each in items), first)
        elif node.type == "table":
            yield _table(node)
        elif node.type in ("fence", "code_block"):
            yield pg.Code(node.content.rstrip("\n"), node.info.strip())


def _table(node: SyntaxTreeNode) -> pg.Table:
    rows = [row.children for part in node.children for row in part.children]
    columns = (
        pg.Column(_line(cell), _ALIGNS.get(str(cell.attrs.get("style")), pg.Align.TEXT))
        for cell in rows[0]
    )
    return pg.Table(tuple(columns), tuple(tuple(map(_line, row)) for row in rows[1:]))


def _line(node: SyntaxTreeNode) -> pg.Line:
    return pg.line(*_spans(node, pg.Span("")))


def _spans(node: SyntaxTreeNode, span: pg.Span) -> Iterator[pg.Span]:
    for child in node.children:
        if child.type in ("text", "code_inline"):
            code = child.type == "code_inline"
            yield from (replace(span, text=each.text, code=code) for each in pg.line(child.content))
        elif child.type in ("softbreak", "hardbreak"):
            yield replace(span, text=" ")
        elif child.type == "link":
            url = safe_url(str(child.attrs.get("href"))) or ""
            yield from _spans(child, replace(span, url=url))
        else:
            strong, emphasis = child.type == "strong", child.type == "em"
            inner_span = replace(
                span, strong=span.strong or strong, emphasis=span.emphasis or emphasis
            )
            yield from _spans(child, inner_span)
