"""A report's Markdown as headings, paragraphs and tables, for formats that are not HTML."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from markdown_it.tree import SyntaxTreeNode

from dashboards.render.html_page import markdown_parser
from schemas.literature.naming import safe_url


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text of one appearance; `url` is an http(s) address or empty."""

    text: str
    bold: bool = False
    italic: bool = False
    url: str = ""


class ParagraphKind(StrEnum):
    """Where a paragraph stands."""

    TEXT = "text"
    QUOTE = "quote"
    BULLET = "bullet"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Heading:
    """Level 1 is the title of the report."""

    level: int
    runs: tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """`number` is that of a numbered item, else 0."""

    kind: ParagraphKind
    runs: tuple[Run, ...]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """The first row holds the headings; all rows are equally long."""

    rows: tuple[tuple[tuple[Run, ...], ...], ...]


Block = Heading | Paragraph | Table


def blocks_of(markdown: str) -> list[Block]:
    """The blocks of a report in order; HTML in it stays text, and links lead to the web alone."""
    root = SyntaxTreeNode(markdown_parser().parse(markdown))
    return list(_blocks(root.children, ParagraphKind.TEXT))


def plain_text(runs: Sequence[Run]) -> str:
    return "".join(run.text for run in runs)


def _blocks(
    nodes: Sequence[SyntaxTreeNode], kind: ParagraphKind, number: int = 0
) -> Iterator[Block]:
    for node in nodes:
        if node.type == "heading":
            yield Heading(int(node.tag[1:]), _runs(node))
        elif node.type == "paragraph":
            yield Paragraph(kind, _runs(node), number)
        elif node.type in ("fence", "code_block"):
            yield Paragraph(kind, (Run(node.content.rstrip("\n")),), number)
        elif node.type == "table":
            rows = [row for part in node.children for row in part.children]
            yield Table(tuple(tuple(_runs(cell) for cell in row.children) for row in rows))
        elif node.type == "ordered_list":
            first = int(node.attrs.get("start", 1))
            for place, item in enumerate(node.children, start=first):
                yield from _blocks(item.children, ParagraphKind.NUMBER, place)
        elif node.type == "bullet_list":
            for item in node.children:
                yield from _blocks(item.children, ParagraphKind.BULLET)
        elif node.type == "blockquote":
            yield from _blocks(node.children, ParagraphKind.QUOTE)


def _runs(node: SyntaxTreeNode, run: Run = Run("")) -> tuple[Run, ...]:
    found: list[Run] = []
    for child in node.children:
        if child.type in ("text", "code_inline"):
            found.append(replace(run, text=child.content))
        elif child.type in ("softbreak", "hardbreak"):
            found.append(replace(run, text=" "))
        elif child.type == "strong":
            found += _runs(child, replace(run, bold=True))
        elif child.type == "em":
            found += _runs(child, replace(run, italic=True))
        elif child.type == "link":
            found += _runs(child, replace(run, url=safe_url(str(child.attrs.get("href"))) or ""))
        else:
            found += _runs(child, run)
    return tuple(each for each in found if each.text)
