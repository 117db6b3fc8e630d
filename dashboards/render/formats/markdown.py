"""Markdown output; escaped strings can neither open HTML nor change structure."""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from dashboards.render import page as pg
from schemas.text.patterns import bounded

# Underscores within words need no escape: metric names stay readable on a terminal.
_SPECIAL = bounded(r"([\\`*\[\]<>&|~@]|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#)")
_BARE_ADDRESS = bounded(r"(?i)(://)|\b(www)\.")
_BLOCK_START = bounded(r"^(?:([+=-])(?=[\s=-]|$)|(\d{1,9})([.)])(?=\s|$))")
_UNFIT_FOR_A_SPAN = bounded(r"[`|]")
_FENCES = bounded(r"`+")
_RULES = {pg.Align.TEXT: "---", pg.Align.NUMBER: "--:", pg.Align.MARK: ":-:"}
# Size of the cache: many texts occur on a page twice.
_CACHE_SIZE = 4096


def markdown_page(page: pg.Page, *, pictures: bool = False) -> str:
    """Render a page as Markdown.

    Args:
        pictures: whether to link drawings, which are files next to it.
    """
    title = (pg.Heading(page.title, level=1),) if page.title else ()
    return markdown((*title, *page.blocks), pictures=pictures) + "\n"


def markdown(blocks: Iterable[pg.Block], *, pictures: bool = False) -> str:
    """Render blocks, separated by blank lines."""
    texts = (_block(block, pictures) for block in blocks)
    return "\n\n".join(each for each in texts if each)


def markdown_line(spans: pg.Line) -> str:
    """Render one line whose first character begins no block."""
    return _BLOCK_START.sub(
        lambda match: f"\\{match[1]}" if match[1] else f"{match[2]}\\{match[3]}", _spans(spans)
    )


def _block(block: pg.Block, pictures: bool) -> str:
    if isinstance(block, pg.Heading):
        return f"{'#' * block.level} {_spans(block.line)}"
    if isinstance(block, pg.Paragraph):
        return markdown_line(block.line)
    if isinstance(block, pg.Quote):
        return _indented(markdown(block.blocks, pictures=pictures), "> ", "> ")
    if isinstance(block, pg.Listing):
        return _listing(block, pictures)
    if isinstance(block, pg.Table):
        return _table(block)
    if isinstance(block, pg.Figure):
        return f"![{_escape(block.title)}]({block.name}.svg)" if pictures else ""
    if isinstance(block, pg.Code):
        longest = max(map(len, _FENCES.findall(block.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}{block.language}\n{block.text}\n{fence}"
    if isinstance(block, pg.Fold):
        return markdown((pg.text(pg.strong(block.title)), *block.blocks), pictures=pictures)
    return markdown(block.right, pictures=pictures)


def _listing(block: pg.Listing, pictures: bool) -> str:
    items = []
    for place, item in enumerate(block.items):
        mark = "- " if block.first is None else f"{block.first + place}. "
        box = "[ ] " if block.to_do else ""
        # No blank line before a nested list, else Markdown makes the item loose.
        separator = "\n" if is_tight(item) else "\n\n"
        content = separator.join(markdown((each,), pictures=pictures) for each in item)
        items.append(_indented(content, mark + box, " " * len(mark)))
    return ("\n" if all(map(is_tight, block.items)) else "\n\n").join(items)


def is_tight(item: Sequence[pg.Block]) -> bool:
    """Return whether an item is one line of text, possibly with lists below."""
    return isinstance(item[0], pg.Paragraph) and all(
        isinstance(each, pg.Listing) for each in item[1:]
    )


def _indented(content: str, first: str, rest: str) -> str:
    lines = content.split("\n")
    marks = [first, *[rest] * (len(lines) - 1)]
    return "\n".join(
        mark + each if each else mark.rstrip() for mark, each in zip(marks, lines, strict=True)
    )


def _table(block: pg.Table) -> str:
    heads = _row([column.heading for column in block.columns])
    rules = "|" + "|".join(_RULES[column.align] for column in block.columns) + "|"
    return "\n".join([heads, rules, *map(_row, block.rows)])


def _row(cells: Sequence[pg.Line]) -> str:
    return "|" + "".join(
        f" {cell_text} |" if (cell_text := _spans(cell)) else " |" for cell in cells
    )


def _spans(spans: pg.Line) -> str:
    parts: list[str] = []
    for part in filter(None, map(_span, spans)):
        if part.startswith("[") and parts and parts[-1].endswith("!"):
            parts[-1] = f"{parts[-1][:-1]}\\!"  # else the link would be a picture
        parts.append(part)
    return "".join(parts).strip()


def _span(span: pg.Span) -> str:
    if span.place:
        return f"[{_escape(span.text)}]({span.place}.md)"
    stripped_text = span.text.strip()
    fits_code_span = span.code and not _UNFIT_FOR_A_SPAN.search(stripped_text)
    text = f"`{stripped_text}`" if fits_code_span else _escape(stripped_text)
    if span.url:
        text = f"[{text}]({span.url})"
    if span.strong or span.emphasis:
        stars = "*" * (2 * span.strong + span.emphasis)
        text = f"{stars}{text}{stars}"
    before, _, after = span.text.partition(stripped_text) if stripped_text else (span.text, "", "")
    return f"{before}{text}{after}" if stripped_text else span.text


@lru_cache(_CACHE_SIZE)
def _escape(words: str) -> str:
    return _BARE_ADDRESS.sub(
        lambda match: r"\://" if match[1] else rf"{match[2]}\.", _SPECIAL.sub(r"\\\1", words)
    )
