"""Reports on a run and on one idea, as Markdown or as one self-contained HTML page."""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Literal

from jinja2 import Environment, PackageLoader, StrictUndefined

from dashboards.render import figures, wording
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.formats.reading import read_page
from dashboards.render.page import Figure, Page
from dashboards.render.pictures import idea_bars
from dashboards.render.safe_text import Markdown, code, link, plain, prose, prose_line
from dashboards.views.idea.first_page import FirstPage
from dashboards.views.idea.idea_page import IdeaPage, idea_page
from dashboards.views.idea.plan_part import REASONING
from dashboards.views.idea.tried_part import MEASURED
from dashboards.views.ranking_page import ranking_page
from dashboards.views.run_page import run_page
from schemas.errors import UnknownNameError
from schemas.identifiers import IdeaId, RunId
from schemas.text.patterns import bounded
from warehouse.kinds.rankings.landing import RANKINGS
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
    """As `published_idea`, as text."""
    return written(published_idea(warehouse, run_id, idea_id, full=full), output_format)


def published_idea(
    warehouse: Warehouse, run_id: RunId, idea_id: IdeaId, *, full: bool = False
) -> Page:
    """The first page of one idea; with `full` further concerns, evidence, references and cost too.

    Raises:
        ConfigurationError: no such lake, published run or idea.
    """
    with warehouse.queries() as queries:
        return idea_view(idea_page(queries.idea_review(run_id, idea_id)), full=full)


def run_report(warehouse: Warehouse, run_id: RunId, output_format: OutputFormat) -> str:
    """The ranking of a run with its costs, sources, failures and validations.

    Raises:
        ConfigurationError: no such lake or published run.
    """
    with warehouse.queries() as queries:
        page = run_page(queries, run_id, {}, warehouse.settings.alarms)
    return written(page, output_format)


def written(page: Page, output_format: OutputFormat) -> str:
    """A page as text."""
    return markdown_page(page) if output_format == "md" else html_page(page)


def idea_view(page: IdeaPage, *, full: bool = False, file_name: str = "") -> Page:
    """The first page of an idea, or the full report.

    Args:
        file_name: that of the idea in the folder of the run's reports, to which the page links;
            empty: it stands alone.
    """
    idea = page.review.evaluation.idea
    return rendered_page(
        "idea.md.jinja",
        idea.title or idea.idea_id,
        idea_bars(page) if full else (),
        page=page,
        full=full,
        reasoning=REASONING,
        measured=MEASURED,
        file_name=file_name,
    )


def first_page_markdown(first: FirstPage) -> str:
    """The first page alone, without the idea's title."""
    return rendered("first_page.md.jinja", first=first)


def ranking_report(
    warehouse: Warehouse,
    run_id: RunId,
    output_format: OutputFormat,
    *,
    ranking_id: str | None = None,
) -> str:
    """As `published_ranking`, as text."""
    return written(published_ranking(warehouse, run_id, ranking_id=ranking_id), output_format)


def published_ranking(
    warehouse: Warehouse, run_id: RunId, *, ranking_id: str | None = None
) -> Page:
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
    return page


def rendered_page(
    template: str, name: str, figures: Iterable[Figure | None] = (), **context: Any
) -> Page:
    """A page of a template; an empty code block in it stands for the figure it names."""
    drawn = {each.name: each for each in figures if each is not None}
    return read_page(rendered(template, **context), name, drawn)


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
