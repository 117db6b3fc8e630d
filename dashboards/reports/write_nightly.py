"""The summary of a night as files, and as the Markdown that is posted or mailed."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from dashboards.reports import figures
from dashboards.reports.html_page import html_page
from dashboards.reports.nightly_page import NightlyPage, nightly_page
from dashboards.reports.render import OutputFormat, rendered
from schemas.identifiers import RunId
from schemas.run import Run
from warehouse.answers import RunCost
from warehouse.layout import Layout
from warehouse.queries import open_queries


@dataclass(frozen=True, slots=True)
class NightlySummary:
    """`markdown` has no links to files, for who reads it elsewhere; the files have them."""

    markdown: str
    alarm_count: int
    html_path: Path
    markdown_path: Path


_ROWS: tuple[tuple[str, Callable[[Run, RunCost], str]], ...] = (
    ("Price", lambda _, cost: figures.usd(cost.cost_usd, cost.unknown_price_calls)),
    ("Price of an idea", lambda _, cost: figures.usd(cost.cost_usd_per_idea)),
    ("Model calls", lambda _, cost: f"{cost.llm_calls:,}, {cost.llm_cache_hits:,} from the cache"),
    ("Tokens sent", lambda _, cost: figures.count(cost.prompt_tokens)),
    ("Tokens received", lambda _, cost: figures.count(cost.completion_tokens)),
    ("Requests sent on to sources", lambda _, cost: figures.count(cost.upstream_requests)),
    ("Look-ups unanswered", lambda _, cost: figures.count(cost.failed_api_calls)),
    ("Time", lambda run, _: figures.duration(run.duration_seconds)),
)


def write_nightly(
    layout: Layout,
    day: date,
    outcomes: Mapping[str, str],
    run_ids: Collection[RunId],
    *,
    catalogue_url: str | None = None,
) -> NightlySummary:
    """Write `reports/nightly/<day>.md` and `.html`; a second summary of the same day replaces the
    first.

    Raises:
        ConfigurationError: one of the runs is not published.
    """
    with ExitStack() as stack:
        queries = (
            stack.enter_context(open_queries(layout, catalogue_url=catalogue_url))
            if run_ids
            else None
        )
        page = nightly_page(queries, day, outcomes, run_ids)
    folder = layout.reports / "nightly"
    folder.mkdir(parents=True, exist_ok=True)
    markdown_path, html_path = folder / f"{day:%Y-%m-%d}.md", folder / f"{day:%Y-%m-%d}.html"
    _replace(markdown_path, _markdown(page, "md", linked=True))
    _replace(
        html_path, html_page(_markdown(page, "html", linked=True), title=f"Night of {day:%Y-%m-%d}")
    )
    return NightlySummary(
        _markdown(page, "md", linked=False), page.alarm_count, html_path, markdown_path
    )


def _markdown(page: NightlyPage, suffix: OutputFormat, *, linked: bool) -> str:
    return rendered("nightly.md.jinja", page=page, rows=_ROWS, suffix=suffix, linked=linked)


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_bytes(text.encode("utf-8", "replace"))
    temporary.replace(path)
