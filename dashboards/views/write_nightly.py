"""Summary of a night as files, and as Markdown to post or mail."""

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.views.nightly_page import NightlyPage, NightRun, nightly_page
from schemas.identifiers import RunId
from schemas.run import Run
from warehouse.catalogue.catalogue_file import has_catalogue
from warehouse.parquet import read_bytes, replace_bytes
from warehouse.row_models import RunCost
from warehouse.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class NightlySummary:
    """The summary; `markdown` has no links to files, as it is read elsewhere."""

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
) -> NightlySummary:
    """Write the summary of a night and the index of its day.

    Files: `reports/nightly/<day>T<time>Z` and `<day>`, each as `.md` and `.html`.

    Args:
        at: end of the night, UTC. A second summary in the same second replaces the first.

    Raises:
        ConfigurationError: one of the runs is not published.
    """
    with ExitStack() as stack:
        queries = (
            stack.enter_context(warehouse.queries())
            if run_ids or (warehouse.postgres is None and has_catalogue(warehouse))
            else None
        )
        page = nightly_page(queries, at.date(), outcomes, run_ids)
    folder = warehouse.reports / "nightly"
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{at:%Y-%m-%dT%H%M%S}Z"
    view = _view(page, f"Night of {at:%Y-%m-%d}, {at:%H:%M}", has_links=True)
    markdown_path, html_path = _write(folder, name, view)
    day_paths = _write(folder, f"{at:%Y-%m-%d}", _day_page(folder, at.date()))
    return NightlySummary(
        markdown_page(_view(page, "", has_links=False)),
        page.alarm_count,
        html_path,
        markdown_path,
        day_paths,
    )


def _write(folder: Path, name: str, page: pg.Page) -> tuple[Path, Path]:
    markdown_path, html_path = folder / f"{name}.md", folder / f"{name}.html"
    replace_bytes(markdown_path, markdown_page(page).encode("utf-8", "replace"))
    replace_bytes(html_path, html_page(page).encode("utf-8", "replace"))
    return markdown_path, html_path


def _day_page(folder: Path, day: date) -> pg.Page:
    """List time and first sentence of every summary of a day, oldest first."""
    rows = []
    for path in sorted(folder.glob(f"{day:%Y-%m-%d}T*Z.md")):
        try:
            lines = read_bytes(path).decode("utf-8", "replace").splitlines()
            moment = datetime.strptime(path.stem, "%Y-%m-%dT%H%M%SZ").replace(tzinfo=UTC)
        except (OSError, ValueError):  # not one of our files, such as a link
            continue
        time = pg.report(f"{moment:%H:%M:%S}", path.stem)
        rows.append((time, next(filter(None, lines[1:]), "")))
    table = pg.table(("Ended, UTC", "What came of it"), rows)
    return pg.Page(pg.line("Nights of ", day), (table,))


def _view(page: NightlyPage, name: str, *, has_links: bool) -> pg.Page:
    """Return the summary, with links to the reports if `has_links`."""
    return pg.Page(pg.line("Night of ", page.day), tuple(_blocks(page, has_links=has_links)), name)


def _blocks(page: NightlyPage, *, has_links: bool) -> Iterator[pg.Block]:
    if page.outcomes:
        yield pg.text(
            f"{figures.plural(len(page.outcomes), 'file')},"
            f" {figures.plural(len(page.runs), 'published run')},"
            f" {figures.plural(page.alarm_count, 'alarm')}."
        )
        yield pg.table(("File", "Outcome"), page.outcomes)
    else:
        yield pg.text("No new file was waiting.")
    for night in page.runs:
        yield from _run(night, has_links=has_links)
    if page.ledger is not None and page.ledger.sequence:
        yield pg.heading("Ledger")
        yield pg.text(
            f"{figures.plural(page.ledger.sequence, 'row')}. The last one has the hash ",
            pg.code(page.ledger.entry_sha256),
            *(": as long as ", pg.code("assay ledger verify --head")),
            " finds it, nothing up to here was changed or cut off.",
        )


def _run(night: NightRun, *, has_links: bool) -> Iterator[pg.Block]:
    run, before, ideas = night.run, night.before, night.ideas
    yield pg.heading(f"Run {run.run_id}")
    yield pg.text(pg.strong(night.status), f" {run.states_in_words.capitalize()}.")
    taken_over = ", the others taken over" if ideas["evaluated_anew"] < ideas["ideas"] else ""
    report_link = pg.report("The report in full", f"../{run.run_id}/index")
    yield pg.text(
        f"{figures.plural(ideas['ideas'], 'idea')}: {ideas['never_seen']:,} never seen before,"
        f" {ideas['evaluated_anew']:,} evaluated in this run{taken_over}. Engine ",
        *(pg.code(run.engine), ", profile ", pg.code(run.profile), "."),
        *((" ", report_link) if has_links else ()),
    )
    yield pg.heading("Alarms", level=3)
    alarms = pg.bullets(alarm.sentence for alarm in night.alarms)
    yield from alarms or (pg.text("None."),)
    yield pg.heading("Top ideas", level=3)
    if night.top:
        top = [
            (idea.title.strip() or idea.idea_id, idea.group, idea.rank, figures.mean(idea.score))
            for idea in night.top
        ]
        yield pg.table(("Idea", "Group", "Rank in it:", "Score:"), top)
        yield pg.text(
            f"{night.what_leads} Ideas of the same rank in their groups are ordered by score."
        )
    else:
        yield pg.text("No idea has a rank.")
    yield pg.heading("Cost", level=3)
    columns, runs = ["", "This run:"], [(run, night.cost)]
    if before is not None and night.cost_before is not None:
        columns.append(f"Run {before.run_id}:")
        runs.append((before, night.cost_before))
    costs = [(name, *(show(*each) for each in runs)) for name, show in _ROWS]
    yield pg.table(columns, costs)
