"""Self-contained HTML: no script, no outside asset, every string escaped."""

from collections.abc import Callable, Iterable
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from dashboards.render import page as pg
from dashboards.render.formats.markdown import is_tight
from schemas.literature.naming import one_space

_STYLES = {
    pg.Align.TEXT: "",
    pg.Align.NUMBER: ' style="text-align:right"',
    pg.Align.MARK: ' style="text-align:center"',
}
_MARK_CLASSES = {"+": "mark more", "0": "mark even", "\u2212": "mark less", "?": "mark none"}


def html_page(page: pg.Page) -> str:
    """Render a page with its sections as navigation.

    Links lead to http(s) addresses or to reports in the same folder tree only.
    """
    writer = _Writer()
    title = [pg.Heading(page.title, level=1)] if page.title else []
    body = writer.blocks([*title, *page.blocks])
    return (
        templates("dashboards.render")
        .get_template("page.html.jinja")
        .render(
            title=one_space(page.document_name),
            sections=writer.sections,
            body=Markup(body),  # noqa: S704 escaped by the writer, string by string
        )
    )


def html_body(
    blocks: Iterable[pg.Block], address: Callable[[str], str]
) -> tuple[list[tuple[str, str]], str]:
    """Render blocks; return anchor and name of each section, and the markup.

    Args:
        address: maps `Span.place` to a URL of the site.
    """
    writer = _Writer(address)
    body = writer.blocks(blocks)
    return writer.sections, body


class _Writer:
    """Renderer of blocks that numbers sections."""

    def __init__(self, address: Callable[[str], str] = "{}.html".format) -> None:
        self.sections: list[tuple[str, str]] = []
        self._address = address

    def blocks(self, blocks: Iterable[pg.Block]) -> str:
        return "".join(map(self._block, blocks))

    def _block(self, block: pg.Block) -> str:
        if isinstance(block, pg.Heading):
            return self._heading(block)
        if isinstance(block, pg.Paragraph):
            return f"<p>{self._line(block.line)}</p>\n"
        if isinstance(block, pg.Quote):
            return f"<blockquote>\n{self.blocks(block.blocks)}</blockquote>\n"
        if isinstance(block, pg.Listing):
            return self._listing(block)
        if isinstance(block, pg.Table):
            return self._table(block)
        if isinstance(block, pg.Figure):
            caption = f"<figcaption>{_words(block.caption)}</figcaption>"
            return f'<figure class="chart" tabindex="0">\n{block.svg}{block.narrow_svg}\n{caption}\n</figure>\n'
        if isinstance(block, pg.Code):
            return f"<pre><code>{_words(block.text)}\n</code></pre>\n"
        if isinstance(block, pg.Fold):
            summary = f"<summary>{_words(block.title)}</summary>"
            anchor = f' id="{_words(block.name)}"' if block.name else ""
            return f"<details{anchor}>\n{summary}\n{self.blocks(block.blocks)}</details>\n"
        left, right = self.blocks(block.left), self.blocks(block.right)
        return f'<div class="beside">\n<div>\n{left}</div>\n<div>\n{right}</div>\n</div>\n'

    def _heading(self, block: pg.Heading) -> str:
        anchor = ""
        if block.level == 2:
            name = f"section-{len(self.sections) + 1}"
            self.sections.append((name, one_space(pg.plain_text(block.line))))
            anchor = f' id="{name}"'
        return f"<h{block.level}{anchor}>{self._line(block.line)}</h{block.level}>\n"

    def _listing(self, block: pg.Listing) -> str:
        tag = "ul" if block.first is None else "ol"
        start = f' start="{block.first}"' if block.first not in (None, 1) else ""
        tight = all(map(is_tight, block.items))
        box = "☐ " if block.to_do else ""
        items = (f"<li>{box}{self._item(item, tight)}</li>\n" for item in block.items)
        return f"<{tag}{start}>\n{''.join(items)}</{tag}>\n"

    def _item(self, item: tuple[pg.Block, ...], tight: bool) -> str:
        first, *rest = item
        if tight and isinstance(first, pg.Paragraph):
            return self._line(first.line) + self.blocks(rest)
        return self.blocks(item)

    def _table(self, block: pg.Table) -> str:
        aligns = [column.align for column in block.columns]
        heads = (self._cell("th", column.heading, column.align) for column in block.columns)
        rows = (
            f"<tr>{''.join(self._cell('td', *each) for each in zip(row, aligns, strict=True))}</tr>\n"
            for row in block.rows
        )
        return (
            '<div class="scroll" tabindex="0" role="region" aria-label="Table">\n<table>\n'
            f"<thead>\n<tr>{''.join(heads)}</tr>\n</thead>\n<tbody>\n{''.join(rows)}</tbody>\n"
            "</table>\n</div>\n"
        )

    def _cell(self, tag: str, words: pg.Line, align: pg.Align) -> str:
        mark = (
            _MARK_CLASSES.get(pg.plain_text(words))
            if align is pg.Align.MARK and tag == "td"
            else None
        )
        kind = f' class="{mark}"' if mark else ""
        return f"<{tag}{_STYLES[align]}{kind}>{self._line(words)}</{tag}>"

    def _line(self, spans: pg.Line) -> str:
        return "".join(map(self._span, spans))

    def _span(self, span: pg.Span) -> str:
        markup = _words(span.text)
        if span.code:
            markup = f"<code>{markup}</code>"
        if span.emphasis:
            markup = f"<em>{markup}</em>"
        if span.strong:
            markup = f"<strong>{markup}</strong>"
        if span.place:
            return f'<a href="{escape(self._address(span.place))}">{markup}</a>'
        if span.url:
            return f'<a href="{escape(span.url)}" rel="nofollow noopener noreferrer">{markup}</a>'
        return markup


def _words(text: str) -> str:
    return str(escape(text))


@cache
def templates(package: str) -> Environment:
    """Return the templates of a package, which escape every value."""
    return Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
