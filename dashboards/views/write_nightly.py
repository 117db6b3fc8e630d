"""The summary of a night as files, and as the Markdown that is posted or mailed."""

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from dashboards.render import figures
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.page import Page
from dashboards.render.render import rendered_page
from dashboards.views.alarms import USUAL
from dashboards.views.nightly_page import NightlyPage, nightly_page
from schemas.identifiers import RunId
from schemas.run import Run
from schemas.settings import AlarmSettings
from warehouse.answers import RunCost
from warehouse.catalogue.catalogue_file import has_catalogue
from warehouse.parquet import read_bytes, write_bytes
from warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class NightlySummary:
    """`markdown` has no links to files, for who reads it elsewhere; the files have them."""

    markdown: str
    alarm_count: int
    html_path: Path
    markdown_path: Path
    day_paths: tuple[Path, Path]


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
    warehouse: Warehouse,
    at: datetime,
    outcomes: Mapping[str, str],
    run_ids: Collection[RunId],
    *,
    thresholds: AlarmSettings = USUAL,
) -> NightlySummary:
    """Write `reports/nightly/<day>T<time>Z.md` and `.html`, and `<day>.md` and `.html`, which lead
    to every summary of that day.

    Args:
        at: when the night ended, UTC. A second summary of that second replaces the first.

    Raises:
        ConfigurationError: one of the runs is not published.
    """
    with ExitStack() as stack:
        queries = (
            stack.enter_context(warehouse.queries())
            if run_ids or (warehouse.postgres is None and has_catalogue(warehouse))
            else None
        )
        page = nightly_page(queries, at.date(), outcomes, run_ids, thresholds)
    folder = warehouse.reports / "nightly"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{at:%Y-%m-%dT%H%M%S}Z"
    view = _view(page, f"Night of {at:%Y-%m-%d}, {at:%H:%M}", linked=True)
    markdown_path, html_path = _write(folder, name, view)
    day_paths = _write(
        folder,
        f"{at:%Y-%m-%d}",
        rendered_page(
            "nights.md.jinja",
            f"Nights of {at:%Y-%m-%d}",
            day=at.date(),
            summaries=_summaries_of(folder, at.date()),
        ),
    )
    return NightlySummary(
        markdown_page(_view(page, "", linked=False)),
        page.alarm_count,
        html_path,
        markdown_path,
        day_paths,
    )


def _write(folder: Path, name: str, page: Page) -> tuple[Path, Path]:
    markdown_path, html_path = folder / f"{name}.md", folder / f"{name}.html"
    _replace(markdown_path, markdown_page(page))
    _replace(html_path, html_page(page))
    return markdown_path, html_path


def _summaries_of(folder: Path, day: date) -> list[tuple[str, str, str]]:
    """Name, time of day and first sentence of every summary of a day, oldest first."""
    found = []
    for path in sorted(folder.glob(f"{day:%Y-%m-%d}T*Z.md")):
        try:
            lines = read_bytes(path).decode("utf-8", "replace").splitlines()
            moment = datetime.strptime(path.stem, "%Y-%m-%dT%H%M%SZ").replace(tzinfo=UTC)
        except (OSError, ValueError):  # such as a link that somebody put there
            continue
        found.append((path.stem, f"{moment:%H:%M:%S}", next(filter(None, lines[1:]), "")))
    return found


def _view(page: NightlyPage, name: str, *, linked: bool) -> Page:
    return rendered_page("nightly.md.jinja", name, page=page, rows=_ROWS, linked=linked)


def _replace(path: Path, text: str) -> None:
    temporary = path.with_name(f".{path.name}.new")
    write_bytes(temporary, text.encode("utf-8", "replace"))
    temporary.replace(path)
