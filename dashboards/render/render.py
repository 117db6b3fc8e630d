"""Reports on a run and on one idea, as Markdown or as one self-contained HTML page."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from dashboards.render import figures, wording
from dashboards.render.charts.chart import score_chart
from dashboards.render.html_page import html_page
from dashboards.render.pictures import idea_bars, run_bars
from dashboards.render.safe_text import Markdown, code, link, plain, prose, prose_line
from dashboards.views.idea.first_page import FirstPage
from dashboards.views.idea.idea_page import IdeaPage, idea_page
from dashboards.views.idea.plan_part import REASONING
from dashboards.views.idea.tried_part import MEASURED
from dashboards.views.ranking_page import RankingPage, ranking_page
from dashboards.views.run_page import RunPage, run_page
from schemas.errors import UnknownNameError
from schemas.identifiers import IdeaId, RunId
from schemas.settings import AlarmSettings
from schemas.text.patterns import bounded
from warehouse.kinds.rankings.landing import RANKINGS
from warehouse.queries import Queries
from warehouse.units.reading import published_head
from warehouse.warehouse import Warehouse

OutputFormat = Literal["md", "html"]

_BLANK_LINES = bounded(r"\n{3,}")


def idea_report(
    warehouse: Warehouse,
    run_id: RunId,
    idea_id: IdeaId,
    output_format: OutputFormat,
    *,
    full: bool = False,
) -> str:
    """The first page of one idea; with `full` further concerns, evidence, references and cost too.

    Raises:
        ConfigurationError: no such lake, published run or idea.
    """
    with warehouse.queries() as queries:
        page = idea_page(queries.idea_review(run_id, idea_id))
    written = idea_markdown if output_format == "md" else idea_html
    return written(page, full=full)


def run_report(warehouse: Warehouse, run_id: RunId, output_format: OutputFormat) -> str:
    """The ranking of a run with its costs, sources, failures and validations.

    Raises:
        ConfigurationError: no such lake or published run.
    """
    with warehouse.queries() as queries:
        return run_markdown_or_html(queries, run_id, output_format, warehouse.settings.alarms)


def run_markdown_or_html(
    queries: Queries, run_id: RunId, output_format: OutputFormat, thresholds: AlarmSettings
) -> str:
    """As `run_report`, of an open lake."""
    page = run_page(queries, run_id, {}, thresholds)
    return run_markdown(page) if output_format == "md" else run_html(page)


def idea_markdown(
    page: IdeaPage, *, full: bool = False, suffix: OutputFormat = "md", file_name: str = ""
) -> str:
    """The first page of an idea, or the full report.

    Args:
        suffix: for `html` the places of the pictures are marked.
        file_name: that of the idea in the folder of the run's reports, to which the page links;
            empty: it stands alone.
    """
    return rendered(
        "idea.md.jinja",
        page=page,
        full=full,
        reasoning=REASONING,
        measured=MEASURED,
        suffix=suffix,
        file_name=file_name,
    )


def first_page_markdown(first: FirstPage) -> str:
    """The first page alone, without the idea's title."""
    return rendered("first_page.md.jinja", first=first)


def idea_html(page: IdeaPage, *, full: bool = False, file_name: str = "") -> str:
    idea = page.review.evaluation.idea
    markdown = idea_markdown(page, full=full, suffix="html", file_name=file_name)
    bars = idea_bars(page) if full else {}
    return html_page(markdown, title=idea.title or idea.idea_id, bars=bars)


def run_markdown(page: RunPage, *, suffix: OutputFormat = "md") -> str:
    """`suffix` is that of the ideas' reports linked to; for `html` the place of the chart is marked
    too.
    """
    run = page.run
    return rendered(
        "run.md.jinja",
        page=page,
        banners=wording.banners(
            run.engine, run.literature, run.literature_name, run.literature_lacks
        ),
        suffix=suffix,
    )


def run_html(page: RunPage) -> str:
    return html_page(
        run_markdown(page, suffix="html"),
        title=f"Run {page.run.run_id}",
        chart=score_chart(page.groups),
        bars=run_bars(page.steps),
    )


def ranking_report(
    warehouse: Warehouse,
    run_id: RunId,
    output_format: OutputFormat,
    *,
    ranking_id: str | None = None,
) -> str:
    """Leaderboards, dimension profiles, match matrices and reasons of a ranking.

    Args:
        ranking_id: None: the ranking that `group_rankings` shows.

    Raises:
        ConfigurationError: no such lake, published run or ranking.
    """
    with warehouse.queries() as queries:
        head = None
        if ranking_id is not None:
            head = published_head(queries.connection, RANKINGS, run_id, ranking_id)
        page = ranking_page(queries, run_id, head)
    if page is None:
        raise UnknownNameError(f"run {run_id} has no ranking by matches yet: `assay rank {run_id}`")
    return ranking_markdown(page) if output_format == "md" else ranking_html(page)


def ranking_markdown(page: RankingPage, *, suffix: OutputFormat = "md") -> str:
    return rendered(
        "ranking.md.jinja",
        page=page,
        banners=wording.banners(page.head.engine, page.run.literature, page.run.literature_name),
        suffix=suffix,
    )


def ranking_html(page: RankingPage) -> str:
    return html_page(
        ranking_markdown(page, suffix="html"),
        title=f"Ranking of run {page.run.run_id}",
        intervals=page.intervals,
    )


def rendered(template: str, **context: Any) -> str:
    """A template of `templates/` as Markdown; every value in it is escaped unless it is Markdown of
    our own.
    """
    return (
        _BLANK_LINES.sub("\n\n", _templates().get_template(template).render(context)).strip() + "\n"
    )


@cache
def _templates() -> Environment:
    # Markdown, not HTML: `_printed` escapes what is not Markdown of our own.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("dashboards.render", "templates"),
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters.update(_FILTERS)
    return environment


def _printed(value: object) -> str:
    """Every `{{ … }}` passes here: only our own Markdown is printed as it is, and nothing missing
    prints as a number.
    """
    if isinstance(value, Markdown):
        return value
    return "unknown" if value is None else plain(str(value))


def _verbatim(text: str) -> Markdown:
    """For code blocks: one line, which cannot end the block."""
    return Markdown(" ".join(text.split()).replace("```", ""))


_FILTERS: Mapping[str, Callable[..., Any]] = {
    "code": code,
    "prose": prose,
    "prose_line": prose_line,
    "markdown": Markdown,
    "verbatim": _verbatim,
    "link": link,
    "reason": wording.reason,
    "unscored": wording.unscored,
    "baseline_mark": lambda engine: Markdown(wording.baseline_mark(engine)),
    "placed_by_score": wording.placed_by_score,
    "stage": wording.stage,
    "literature": wording.literature,
    "count": figures.count,
    "counted": figures.counted,
    "score": figures.score,
    "mean": figures.mean,
    "signed": figures.signed,
    "measure": figures.measure,
    "usd": figures.usd,
    "duration": figures.duration,
    "share": figures.share,
    "percent": figures.percent,
    "thinking": figures.thinking,
    "day": figures.day,
    "moment": figures.moment,
}
