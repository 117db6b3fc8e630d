"""Markdown of the templates as a page, until each kind builds its page of values."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from dashboards.render.page import (
    Align,
    Beside,
    Block,
    Code,
    Column,
    Figure,
    Fold,
    Heading,
    Line,
    Listing,
    Page,
    Paragraph,
    Quote,
    Span,
    Table,
    line,
)
from schemas.literature.naming import safe_url
from schemas.text.patterns import IGNORECASE, bounded, linear

_WEB_ADDRESS = bounded(r"https?://[^/]", IGNORECASE)
_OWN_PAGE = linear(
    r"(?:ideas/[a-z0-9_-]+|\.\./full/[a-z0-9_-]+|(?:\.\./)?ranking|(?:\.\./(?:[A-Za-z0-9][\w-]*/)?)?index"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z)\.(?:html|md)"
)
_ALIGNS = {"text-align:right": Align.NUMBER, "text-align:center": Align.MARK}


def read_page(markdown: str, name: str = "", figures: Mapping[str, Figure] = {}) -> Page:
    """The page that Markdown of our own describes.

    An empty code block `map 1` stands for the figure `map-1`, where there is one. What stands
    between `fold TITLE` and `unfold` is folded, and what stands between `beside`, `against` and
    `unbeside` is in two columns. HTML in it is text.
    """
    nodes = SyntaxTreeNode(markdown_parser().parse(markdown)).children
    blocks = list(_blocks(iter(nodes), figures, lambda _: False))
    first = blocks[0] if blocks else None
    if isinstance(first, Heading) and first.level == 1:
        return Page(first.line, tuple(blocks[1:]), name)
    return Page((), tuple(blocks), name)


@cache
def markdown_parser() -> MarkdownIt:
    """Reads our own Markdown: HTML and pictures in it are text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.validateLink = _permitted  # type: ignore[method-assign]
    return parser.disable(["image", "autolink", "html_inline", "html_block", "reference"])


def _permitted(url: str) -> bool:
    return _WEB_ADDRESS.match(url) is not None or _OWN_PAGE.fullmatch(url) is not None


def _blocks(
    nodes: Iterator[SyntaxTreeNode], figures: Mapping[str, Figure], ends: Callable[[str], bool]
) -> Iterator[Block]:
    """Blocks up to the code block whose language ends them."""
    for node in nodes:
        inner = iter(node.children)
        if node.type == "heading":
            yield Heading(_line(node), int(node.tag[1:]))
        elif node.type == "paragraph":
            yield Paragraph(_line(node))
        elif node.type == "blockquote":
            yield Quote(tuple(_blocks(inner, figures, ends)))
        elif node.type in ("bullet_list", "ordered_list"):
            items = (tuple(_blocks(iter(each.children), figures, ends)) for each in inner)
            first = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
            yield Listing(tuple(each or (Paragraph(()),) for each in items), first)
        elif node.type == "table":
            yield _table(node)
        elif node.type in ("fence", "code_block"):
            language, _, words = node.info.strip().partition(" ")
            if ends(language):
                return
            yield from _fenced(node, nodes, figures, language, words)


def _fenced(
    node: SyntaxTreeNode,
    nodes: Iterator[SyntaxTreeNode],
    figures: Mapping[str, Figure],
    language: str,
    words: str,
) -> Iterator[Block]:
    """A figure, code, or what stands up to the code block that ends a fold or columns."""
    if language == "fold":
        yield Fold(words, tuple(_blocks(nodes, figures, lambda word: word == "unfold")))
    elif language == "beside":
        left = tuple(_blocks(nodes, figures, lambda word: word == "against"))
        right = tuple(_blocks(nodes, figures, lambda word: word == "unbeside"))
        yield Beside(left, right)
    elif figure := figures.get(node.info.strip().replace(" ", "-")):
        yield figure
    elif node.content.strip():
        yield Code(node.content.rstrip("\n"), language)


def _table(node: SyntaxTreeNode) -> Table:
    rows = [row.children for part in node.children for row in part.children]
    columns = (
        Column(_line(cell), _ALIGNS.get(str(cell.attrs.get("style")), Align.TEXT))
        for cell in rows[0]
    )
    return Table(tuple(columns), tuple(tuple(map(_line, row)) for row in rows[1:]))


def _line(node: SyntaxTreeNode) -> Line:
    return line(*_spans(node, Span("")))


def _spans(node: SyntaxTreeNode, span: Span) -> Iterator[Span]:
    for child in node.children:
        if child.type in ("text", "code_inline"):
            yield replace(span, text=child.content, code=child.type == "code_inline")
        elif child.type in ("softbreak", "hardbreak"):
            yield replace(span, text=" ")
        elif child.type == "link":
            href = str(child.attrs.get("href"))
            place = href.rpartition(".")[0] if _OWN_PAGE.fullmatch(href) else ""
            yield from _spans(child, replace(span, url=safe_url(href) or "", place=place))
        else:
            strong, emphasis = child.type == "strong", child.type == "em"
            changed = replace(
                span, strong=span.strong or strong, emphasis=span.emphasis or emphasis
            )
            yield from _spans(child, changed)
