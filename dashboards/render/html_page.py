"""One self-contained HTML page from Markdown: no script, no outside asset, no HTML that the
Markdown brought along.
"""

from collections.abc import Mapping, MutableMapping, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from markupsafe import Markup, escape

from dashboards.render.charts.bar_chart import BarChart
from dashboards.render.charts.chart import Chart
from dashboards.render.charts.citation_map import CitationMap
from dashboards.render.charts.interval_chart import IntervalChart
from dashboards.render.charts.lineage import Lineage
from dashboards.render.charts.reliability_chart import ReliabilityChart
from dashboards.render.charts.search_chart import SearchChart
from schemas.literature.naming import one_space, unturned
from schemas.text.patterns import IGNORECASE, bounded, linear

_WEB_ADDRESS = bounded(r"https?://[^/]", IGNORECASE)
_OWN_PAGE = linear(
    r"(?:ideas/[a-z0-9_-]+|\.\./full/[a-z0-9_-]+|(?:\.\./)?ranking|(?:\.\./(?:[A-Za-z0-9][\w-]*/)?)?index"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z)\.(?:html|md)"
)
_MARK_CLASSES = {"+": "mark more", "0": "mark even", "\u2212": "mark less", "?": "mark none"}

INTERVALS_FENCE = "intervals"
RELIABILITY_FENCE = "reliability"
BARS_FENCE = "bars"
MAP_FENCE = "map"
LINEAGE_FENCE = "lineage"
SEARCH_FENCE = "search"
_DRAWN_FENCES = (
    INTERVALS_FENCE,
    RELIABILITY_FENCE,
    BARS_FENCE,
    MAP_FENCE,
    LINEAGE_FENCE,
    SEARCH_FENCE,
)
FOLD_FENCE, UNFOLD_FENCE = "fold", "unfold"
BESIDE_FENCES = {
    "beside": '<div class="beside">\n<div>\n',
    "against": "</div>\n<div>\n",
    "unbeside": "</div>\n</div>\n",
}
CHART_FENCE = "chart"
"""Language of the empty code block that stands for the chart; only our own templates can write a
code block.
"""


def html_page(
    markdown: str,
    *,
    title: str,
    chart: Chart | None = None,
    intervals: Mapping[int, IntervalChart] = {},
    reliability: Mapping[int, ReliabilityChart] = {},
    bars: Mapping[int, BarChart] = {},
    maps: Mapping[int, CitationMap] = {},
    lineages: Mapping[int, Lineage] = {},
    searches: Mapping[int, SearchChart] = {},
) -> str:
    """Render `markdown` with its headings as navigation.

    An empty code block `intervals N`, `reliability N`, `bars N`, `map N`, `lineage N` or
    `search N` stands for the drawing of that number. What stands between `fold TITLE` and
    `unfold` is seen once a reader opens it, and what stands between `beside`, `against` and
    `unbeside` in two columns. HTML in it is shown as text; links lead to http(s) addresses or
    to the reports of the same run, nowhere else.
    """
    parser = _parser()
    environment: MutableMapping[str, Any] = {
        "chart": chart,
        "intervals": intervals,
        "reliability": reliability,
        "bars": bars,
        "map": maps,
        "lineage": lineages,
        "search": searches,
    }
    tokens = parser.parse(markdown, environment)
    sections = _number_headings(tokens)
    body = parser.renderer.render(tokens, parser.options, environment)
    template = _templates().get_template("page.html.jinja")
    safe_body = Markup(body)  # noqa: S704 rendered with HTML off
    page = template.render(title=title, sections=sections, body=safe_body)
    return unturned(page)  # names in the drawings too


def picture(kind: str, drawing: BarChart | CitationMap | Lineage | SearchChart) -> str:
    """A drawing as a file of its own, which loads nothing; `kind` is the language of its fence."""
    return unturned(_templates().get_template("picture.svg.jinja").render(kind=kind, chart=drawing))


def markdown_parser() -> MarkdownIt:
    """Reads our own Markdown: HTML and pictures in it are text."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.validateLink = _permitted  # type: ignore[method-assign]
    return parser.disable(["image", "autolink", "html_inline", "html_block", "reference"])


@cache
def _parser() -> MarkdownIt:
    parser = markdown_parser()
    parser.add_render_rule("link_open", _render_link)
    parser.add_render_rule("table_open", _render_table_open)
    parser.add_render_rule("table_close", _render_table_close)
    parser.add_render_rule("td_open", _render_cell)
    parser.add_render_rule("fence", _render_fence)
    return parser


@cache
def _templates() -> Environment:
    loader = PackageLoader("dashboards.render", "templates")
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_on_one_line,
    )


def _on_one_line(value: Any) -> Any:
    """Return a title or name without control characters."""
    # Markup, a kind of str, is the rendered body: its lines stay.
    return one_space(value) if type(value) is str else value


def _permitted(url: str) -> bool:
    return _WEB_ADDRESS.match(url) is not None or _OWN_PAGE.fullmatch(url) is not None


def _number_headings(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """Give every second-level heading an anchor; the anchors with the headings' texts."""
    sections: list[tuple[str, str]] = []
    for position, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            anchor = f"section-{len(sections) + 1}"
            token.attrSet("id", anchor)
            sections.append(
                (anchor, "".join(child.content for child in tokens[position + 1].children or ()))
            )
    return sections


def _render_link(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    _environment: MutableMapping[str, Any],
) -> str:
    if _WEB_ADDRESS.match(str(tokens[index].attrGet("href") or "")):
        tokens[index].attrSet("rel", "nofollow noopener noreferrer")
    return renderer.renderToken(tokens, index, options, _environment)


def _render_table_open(*_: object) -> str:
    return '<div class="scroll" tabindex="0" role="region" aria-label="Table">\n<table>\n'


def _render_table_close(*_: object) -> str:
    return "</table>\n</div>\n"


def _render_cell(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    _environment: MutableMapping[str, Any],
) -> str:
    """Colours the marks of the heat table, the only centred cells."""
    if "center" in str(tokens[index].attrGet("style") or "") and (
        mark := _MARK_CLASSES.get(tokens[index + 1].content)
    ):
        tokens[index].attrSet("class", mark)
    return renderer.renderToken(tokens, index, options, _environment)


def _render_fence(
    renderer: RendererHTML,
    tokens: Sequence[Token],
    index: int,
    options: OptionsDict,
    environment: MutableMapping[str, Any],
) -> str:
    kind, _, number = tokens[index].info.strip().partition(" ")
    if kind in _DRAWN_FENCES and number.isdecimal():
        drawing = environment[kind].get(int(number))
        return (
            ""
            if drawing is None
            else _templates().get_template(f"{kind}.svg.jinja").render(chart=drawing)
        )
    if kind == FOLD_FENCE:
        return f"<details>\n<summary>{escape(number)}</summary>\n"
    if kind == UNFOLD_FENCE:
        return "</details>\n"
    if kind in BESIDE_FENCES:
        return BESIDE_FENCES[kind]
    if tokens[index].info.strip() != CHART_FENCE:
        return renderer.fence(tokens, index, options, environment)
    chart = environment["chart"]
    return "" if chart is None else _templates().get_template("chart.svg.jinja").render(chart=chart)
