"""Pages as Pandoc's tree, the source of Word and PDF; every string is data."""

import base64
import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pypandoc
import vl_convert

from dashboards.render import page as pg
from dashboards.render.charts.drawing import picture
from dashboards.render.drafts.programs import run_typst
from schemas.errors import ConfigurationError
from warehouse.scrubbing import one_line

Node = dict[str, Any]
_Drawn = Callable[[pg.Figure], str]
_VERSION = [1, 23, 1]
_NO_ATTRIBUTES: list[Any] = ["", [], []]
# As many as fit across a sheet of paper.
_MOST_COLUMNS = 10
_ALIGNS = {
    pg.Align.TEXT: {"t": "AlignLeft"},
    pg.Align.NUMBER: {"t": "AlignRight"},
    pg.Align.MARK: {"t": "AlignCenter"},
}
_PRINT_SCALE = 2.0


def word_file(page: pg.Page) -> bytes:
    """Return a page as a Word document; Pandoc runs in its sandbox.

    Raises:
        ConfigurationError: Pandoc refuses, in its words.
    """

    def png(figure: pg.Figure) -> str:
        image = vl_convert.svg_to_png(picture(figure, printed=True), scale=_PRINT_SCALE)
        return f"data:image/png;base64,{base64.b64encode(image).decode()}"

    with tempfile.TemporaryDirectory(prefix="assay-word-") as folder:
        path = Path(folder) / "page.docx"
        try:
            pypandoc.convert_text(
                json.dumps(tree(page, png)),
                "docx",
                format="json",
                outputfile=str(path),
                extra_args=["--sandbox"],
            )
        except RuntimeError as error:
            raise ConfigurationError(
                f"Pandoc cannot make the document: {one_line(error)}"
            ) from error
        return path.read_bytes()


def tree(page: pg.Page, picture_address: _Drawn) -> Node:
    """Return a page as Pandoc's JSON; sections are headings of level 1.

    Args:
        picture_address: maps a figure to the address of its picture.
    """
    title = page.title or pg.line(page.document_name)
    blocks, last = _blocks(page.blocks, picture_address), 0
    for node in blocks:
        if node["t"] == "Header":  # screen readers need headings without skipped levels
            node["c"][0] = last = min(node["c"][0], last + 1)
    return {
        "pandoc-api-version": _VERSION,
        "meta": {"title": {"t": "MetaInlines", "c": _inlines(title)}},
        "blocks": blocks,
    }


def _blocks(blocks: Iterable[pg.Block], picture_address: _Drawn) -> list[Node]:
    return [node for block in blocks for node in _nodes(block, picture_address)]


def _nodes(block: pg.Block, picture_address: _Drawn) -> list[Node]:
    if isinstance(block, pg.Heading):
        return [_node("Header", max(block.level - 1, 1), _NO_ATTRIBUTES, _inlines(block.line))]
    if isinstance(block, pg.Paragraph):
        return [{"t": "Para", "c": _inlines(block.line)}]
    if isinstance(block, pg.Quote):
        return [{"t": "BlockQuote", "c": _blocks(block.blocks, picture_address)}]
    if isinstance(block, pg.Listing):
        box = [{"t": "Str", "c": "☐ "}] if block.to_do else []
        items = [_blocks(item, picture_address) for item in block.items]
        for first, *_ in items if box else ():
            first["c"] = [*box, *first["c"]]
        if block.first is None:
            return [{"t": "BulletList", "c": items}]
        return [_node("OrderedList", [block.first, {"t": "Decimal"}, {"t": "Period"}], items)]
    if isinstance(block, pg.Table):
        wide = len(block.columns) > _MOST_COLUMNS
        return _blocks((_stacked(block),), picture_address) if wide else [_table(block)]
    if isinstance(block, pg.Figure):
        return [_figure(block, picture_address(block))]
    if isinstance(block, pg.Code):
        return [_node("CodeBlock", _NO_ATTRIBUTES, block.text)]
    if isinstance(block, pg.Fold):
        return _blocks((pg.text(pg.strong(block.title)), *block.blocks), picture_address)
    return _blocks(block.right, picture_address)


def _stacked(block: pg.Table) -> pg.Listing:
    """Return a wide table as a list: an item per row, with headings before cells."""
    items = []
    for first, *rest in block.rows:
        parts: list[pg.Span] = [*first]
        for column, cell in zip(block.columns[1:], rest, strict=True):
            if pg.plain_text(cell).strip():
                parts += [pg.Span(f"; {pg.plain_text(column.heading)}: ", emphasis=True), *cell]
        items.append((pg.Paragraph(tuple(parts)),))
    return pg.Listing(tuple(items))


def _table(block: pg.Table) -> Node:
    widths = [[_ALIGNS[column.align], {"t": "ColWidthDefault"}] for column in block.columns]
    head = [_row([column.heading for column in block.columns])]
    body = [_NO_ATTRIBUTES, 0, [], [_row(cells) for cells in block.rows]]
    no_caption: list[Any] = [None, []]
    foot: list[Any] = [_NO_ATTRIBUTES, []]
    return _node("Table", _NO_ATTRIBUTES, no_caption, widths, [_NO_ATTRIBUTES, head], [body], foot)


def _row(cells: Sequence[pg.Line]) -> list[Any]:
    default = {"t": "AlignDefault"}
    return [
        _NO_ATTRIBUTES,
        [[_NO_ATTRIBUTES, default, 1, 1, [{"t": "Plain", "c": _inlines(cell)}]] for cell in cells],
    ]


def _figure(figure: pg.Figure, address: str) -> Node:
    alternative_text = _inlines(pg.line(f"{figure.title}. {figure.description}"))
    image = _node("Image", ["", [], [["width", "100%"]]], alternative_text, [address, ""])
    caption = [None, [{"t": "Plain", "c": _inlines(pg.line(figure.caption))}]]
    return _node("Figure", _NO_ATTRIBUTES, caption, [{"t": "Plain", "c": [image]}])


def _inlines(spans: pg.Line) -> list[Node]:
    return [_inline(span) for span in spans]


def _inline(span: pg.Span) -> Node:
    node = _node("Code", _NO_ATTRIBUTES, span.text) if span.code else {"t": "Str", "c": span.text}
    if span.emphasis:
        node = {"t": "Emph", "c": [node]}
    if span.strong:
        node = {"t": "Strong", "c": [node]}
    return _node("Link", _NO_ATTRIBUTES, [node], [span.url, ""]) if span.url else node


def _node(kind: str, *parts: Any) -> Node:
    return {"t": kind, "c": list(parts)}


_TEMPLATE = "page.typ"


def pdf_file(page: pg.Page) -> bytes:
    """Return a tagged PDF with bookmarks; PDF/UA-1 if fonts have all characters.

    Raises:
        ConfigurationError: Typst refuses, in its words.
    """
    pictures: dict[str, str] = {}

    def drawn(figure: pg.Figure) -> str:
        pictures[figure.name] = picture(figure, printed=True)
        return figure.name

    page_tree = tree(page, drawn)
    with tempfile.TemporaryDirectory(prefix="assay-pdf-") as place:
        folder = Path(place)
        template = resources.files("dashboards.render.formats").joinpath(_TEMPLATE)
        (folder / _TEMPLATE).write_bytes(template.read_bytes())
        for name, content in (("page", page_tree), ("pictures", pictures)):
            (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
        run_typst(folder / _TEMPLATE, folder / "page.pdf", accessible=True)
        return (folder / "page.pdf").read_bytes()
