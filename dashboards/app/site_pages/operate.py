"""Pages “Operate”: the overview of its parts, and sources."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars
from markupsafe import Markup

from dashboards.app.data import Lake
from dashboards.app.fields import NO_RUN, Field, form, run_facts, run_field, run_in_address
from dashboards.app.site import PageContent, Visit, controls, with_query
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.views.nightly_page import NightFigures, night_figures
from dashboards.views.run_page import failure_blocks
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.run import Run
from schemas.tables import TABLES
from schemas.works.curation_run import CURATIONS
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.progress import Activity, read_refusals
from warehouse.queries import Queries
from warehouse.source_states import GATEWAY, gateway_use, run_states
from warehouse.statements import MARTS
from warehouse.units.kind import kind_of
from warehouse.warehouse import Warehouse

NIGHTS = 30
_ENDS = {"ok": "answered", "cached": "answered by a cache"}
View = Callable[[Queries, RunId], Iterator[pg.Block]]


# Heading and cell writer by the column's name in a frame.
Columns = Mapping[str, tuple[str, Callable[[Any], pg.Part]]]


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A table of a run, from a statement of `sql/pages`.

    Attributes:
        frame: name of the statement.
        columns: heading and cell writer by column name; empty columns are left out.
        parameters: of the statement, from the run_id.
        note: text above the table.
    """

    title: str
    frame: str
    columns: Columns
    parameters: Callable[[RunId], Mapping[str, object]] = lambda run_id: {"run_id": run_id}
    note: str = ""

    def blocks(self, lake: Lake, run_id: RunId, *, folded: bool = False) -> Iterator[pg.Block]:
        """Yield heading and table; nothing without rows."""
        frame = lake.frame(self.frame, **self.parameters(run_id))
        if frame.is_empty():
            return
        inner = (*((pg.text(self.note),) if self.note else ()), table_of(frame, self.columns))
        if folded:
            yield pg.Fold(self.title, inner)
        else:
            yield from (pg.heading(self.title), *inner)


def table_of(frame: polars.DataFrame, columns: Columns) -> pg.Table:
    """Return the rows of a frame as a table, without empty columns."""
    present_columns = {
        name: each for name, each in columns.items() if frame[name].is_not_null().any()
    }
    return pg.table(
        [heading for heading, _ in present_columns.values()],
        ([_cell(row[name], write_cell) for name, (_, write_cell) in present_columns.items()]
         for row in frame.to_dicts()),
    )  # fmt: skip


def _cell(value: Any, write_cell: Callable[[Any], pg.Part]) -> pg.Part:
    return "–" if value is None or value == "" else write_cell(value)


def of_runs(run_id: RunId) -> Mapping[str, object]:
    return {"run_ids": [run_id]}


_SOURCES = FrameTable(
    "Literature and other sources",
    "sources",
    {
        "source": ("Source", wording.with_spaces),
        "endpoint": ("Asked for", str),
        "requests_worth": ("Requests sent:", round),
        "most_a_second": ("Most in a second:", round),
        "look_ups": ("Look-ups:", int),
        "cache_share": ("From a cache:", figures.percent),
        "rate_limited": ("Asked to slow down (429):", int),
        "left_alone": ("Left alone by the breaker:", int),
        "failed": ("Failed tries:", int),
        "unanswered": ("Unanswered:", int),
        "wait_seconds": ("Waited for the allowance:", figures.duration),
        "p50_seconds": ("Median:", figures.duration),
        "p95_seconds": ("95 % within:", figures.duration),
    },
    note="A failed try may have been followed by one that was answered; waiting is that of all"
    " workers together.",
)


def operate_page(
    visit: Visit,
    title: str,
    blocks: Iterable[pg.Block],
    *fields: Field | None,
    form_below: Markup = Markup(),  # noqa: B008 immutable
    live: bool = False,
) -> PageContent:
    """Return a page of Operate with the links to its parts.

    Args:
        form_below: a form below the fields.
    """
    ways = controls("parts", whole="Operate", ways=[*_parts(visit)], here=visit.request.url.path)
    return PageContent(title, tuple(blocks), ways + form(*fields) + form_below, live=live)


def _parts(visit: Visit) -> Iterator[tuple[str, str]]:
    """Yield path and name of each part that has rows; they keep the chosen run."""
    lake, run = visit.lake, visit.query.get("run", "")
    yield with_query("/operate", run=run), "Overview"
    if lake.runs():
        yield with_query("/operate/cost", run=run), "Cost"
        yield with_query("/operate/sources", run=run), "Sources"
    if lake.runs() or read_refusals(lake.warehouse):
        yield with_query("/operate/quality", run=run), "Quality"
    if lake.exists:
        yield "/operate/sql", "SQL"
    if lake.heads(BENCHMARKS):
        yield "/operate/benchmarks", "Benchmarks"
    if lake.heads(kind_of(CURATIONS)):
        yield "/operate/rated", "Rated ideas"


def show(visit: Visit) -> PageContent:
    """Show the parts of Operate, each with a summary."""
    lake, run = visit.lake, run_in_address(visit)
    summaries = {"SQL": f"{len(TABLES):,} tables and {len(MARTS)} marts, read-only"}
    if heads := lake.heads(BENCHMARKS):
        suites = ", ".join(dict.fromkeys(head.suite for head in heads.values()))
        summaries["Benchmarks"] = f"{figures.plural(len(heads), 'benchmark')} of {suites}"
    if sets := lake.heads(kind_of(CURATIONS)):
        summaries["Rated ideas"] = figures.plural(len(sets), "set")
    if run is not None:
        (night,) = nights_of(lake, [run])
        sources = lake.frame("sources", run_id=run.run_id)
        summaries["Cost"] = (
            f"{figures.usd(night.cost.cost_usd, night.cost.unknown_price_calls)},"
            f" {figures.plural(night.cost.llm_calls, 'model call')}"
        )
        summaries["Sources"] = (
            f"{figures.plural(round(sources['requests_worth'].sum()), 'request')} sent,"
            f" {int(sources['unanswered'].sum()):,} look-ups unanswered"
        )
        summaries["Quality"] = figures.plural(len(night.alarms), "alarm")
    _, *parts = _parts(visit)
    lines = [
        pg.line(pg.report(label, path), f": {summaries[label]}" if label in summaries else "")
        for path, label in parts
    ]
    blocks = (*_under_way(lake), *(pg.bullets(lines) or (NO_RUN,)))
    return operate_page(visit, "Operate", blocks, run_field(visit, run), live=True)


def _under_way(lake: Lake) -> Iterator[pg.Block]:
    """Yield the states of sources, models and workers of the runs under way."""
    runs = [run.planned for run in lake.under_way() if run.activity is Activity.RUNNING]
    try:
        for use in gateway_use(lake.warehouse) if runs else ():
            yield pg.text(
                f"In the last hour the gateway sent {figures.plural(use.sent, 'request')} to"
                f" {use.host}, of {round(3600 * use.allowed_per_second):,} that its allowance of"
                f" {figures.measure(use.allowed_per_second)} a second permits;"
                f" {use.limited:,} were asked to slow down."
            )
        for run in runs:
            yield from _run_under_way(lake.warehouse, run.run_id)
    except ConfigurationError as error:  # such as a folder that this process may not write to
        yield pg.note(f"The state of sources and workers is unknown: {error}")


def _run_under_way(warehouse: Warehouse, run_id: RunId) -> Iterator[pg.Block]:
    states, workers = run_states(warehouse, run_id)
    yield pg.heading(f"Run {run_id}: sources and workers")
    columns = ("Source or model", "State", "Until", "Last asked", "Waiting:", "In its own words")
    rows = [(each.name, each.answering.value, each.until, each.asked_at, each.in_flight, each.error)
            for each in states]  # fmt: skip
    yield pg.table(columns, rows) if rows else pg.text("Nothing has been asked yet.")
    yield from pg.bullets(
        f"{each.name}: {figures.plural(each.in_flight, 'model call')} since {figures.moment(each.since)}"
        for each in workers
    )
    if not workers:
        yield pg.text("No worker waits for a model.")


def nights_of(lake: Lake, runs: Sequence[Run]) -> tuple[NightFigures, ...]:
    run_ids = [run.run_id for run in runs]
    return lake.ask(night_figures, run_ids)


def cached_blocks(queries: Queries, view: View, run_id: RunId) -> tuple[pg.Block, ...]:
    """Return the blocks of a view as a cacheable value."""
    return tuple(view(queries, run_id))


def call_outcomes(lake: Lake, run: Run, *kinds: str) -> Iterator[pg.Block]:
    """Yield how calls ended, by source or model, with the commonest error."""
    calls = lake.frame("calls_by_status", run_id=run.run_id)
    calls = calls.filter(polars.col("kind").is_in(kinds))
    if calls.is_empty():
        return
    yield pg.heading("How calls ended")
    totals = polars.col("calls").sum().over("kind", "party", "step")
    calls = calls.with_columns((polars.col("calls") / totals).alias("share"))
    columns: Columns = {
        "party": ("Source or model" if len(kinds) > 1 else "Model", str),
        "step": ("Step", wording.step),
        "ended": ("Ended", lambda status: _ENDS.get(status) or wording.with_spaces(status)),
        "calls": ("Calls:", int),
        "share": ("Share:", figures.percent),
        "said": ("In its own words, most often", str),
    }
    yield table_of(calls, columns)


def days(runs: Sequence[Run]) -> list[str]:
    return [figures.day(run.started_at) for run in runs]


def show_sources(visit: Visit) -> PageContent:
    """Show how sources and models answered a run, and what stayed unanswered."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return operate_page(visit, "Sources", (NO_RUN,))
    blocks = (
        *run_facts(run),
        *_allowance(lake, run),
        *_SOURCES.blocks(lake, run.run_id),
        *call_outcomes(lake, run, "source", "model"),
        *lake.ask(cached_blocks, failure_blocks, run.run_id),
    )
    return operate_page(visit, "Sources", blocks, run_field(visit, run))


def _allowance(lake: Lake, run: Run) -> Iterator[pg.Block]:
    """Yield what the run might send to Semantic Scholar and what it sent."""
    if run.requests_per_second is None and run.maximum_requests is None:
        return
    ((sent, busiest),) = lake.frame(
        "requests_sent", run_id=run.run_id, source=GATEWAY.replace(" ", "_")
    ).rows()
    rate, most = run.requests_per_second, run.maximum_requests
    yield pg.heading("Allowance of Semantic Scholar")
    yield pg.table(("", "Might send:", "Sent:"), (
        ("Requests a second", None if rate is None else figures.measure(rate), f"{round(busiest):,} at most"),
        ("Requests", "no limit" if most is None else most, round(sent)),
    ))  # fmt: skip
