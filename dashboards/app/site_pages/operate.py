"""Pages “Operate”: cost, sources, quality of runs, and reliability of judges."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import polars
from markupsafe import Markup
from starlette.responses import Response

from dashboards.app.data import Lake
from dashboards.app.fields import (
    NO_RUN,
    Field,
    comparable_runs,
    form,
    number_in_address,
    option_in_address,
    run_facts,
    run_field,
    run_in_address,
)
from dashboards.app.site import (
    PageContent,
    Visit,
    attachment,
    controls,
    idea_link,
    run_path,
    with_query,
)
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.bar_chart import Bar, bar_chart, scale_to
from dashboards.render.charts.spread_charts import (
    Panel,
    Spread,
    histogram,
    nights_chart,
    round_bins,
    spread_chart,
)
from dashboards.views.drift import distances
from dashboards.views.model_prices import PRESETS, ModelPrice, read_prices
from dashboards.views.nightly_page import About, NightFigures, night_figures
from dashboards.views.run_cost import cost_blocks
from dashboards.views.run_page import failure_blocks, models_blocks, validation_blocks
from schemas.errors import UnknownNameError
from schemas.identifiers import RunId
from schemas.literature.naming import unturned
from schemas.run import Run
from schemas.tables import TABLES
from schemas.works.curation_run import CURATIONS
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.progress import read_refusals
from warehouse.queries import Queries
from warehouse.row_models import RunCost
from warehouse.statements import MARTS
from warehouse.units.kind import kind_of

NIGHTS, DEAREST, REFUSED, RUNS_DRIFTING = 30, 50, 10, 8
EVERYTHING = "Everything"
_NOTHING = Markup()
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


def _of_runs(run_id: RunId) -> Mapping[str, object]:
    return {"run_ids": [run_id]}


_STEPS = FrameTable(
    "Latency of model calls",
    "latency_of_steps",
    {
        "step": ("Step", wording.step),
        "model": ("Model", str),
        "calls": ("Calls:", int),
        "timed_out_calls": ("Timed out:", int),
        "p50_seconds": ("Median:", figures.duration),
        "p95_seconds": ("95 % within:", figures.duration),
        "p99_seconds": ("99 % within:", figures.duration),
        "p95_queue_seconds": ("Own queue, 95 % within:", figures.duration),
        "saved_usd": ("Saved by Assay's cache, about:", figures.usd),
    },
)
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
_BIAS = FrameTable(
    "Position bias",
    "position_bias",
    {
        "ranking_id": ("Ranking", str),
        "engine": ("Engine", str),
        "group": ("Group", wording.with_spaces),
        "match_count": ("Verdicts:", int),
        "unscored_match_count": ("Unscored:", int),
        "position_bias": ("Bias:", figures.decimals),
        "order_agreement_0_to_1": ("Alike in both orders:", figures.percent),
    },
    _of_runs,
    "The share won by the idea shown first, minus that by the second.",
)
_UNANSWERED = FrameTable(
    "Steps without a usable answer",
    "unanswered_steps",
    {
        "step": ("Step", wording.step),
        "questions": ("Questions:", int),
        "unanswered": ("Unanswered:", int),
        "failure": ("Most often", wording.with_spaces),
    },
    _of_runs,
)
_BY_TABLE = FrameTable(
    "Checks by table",
    "checks_by_table",
    {
        "table_name": ("Table", str),
        "checks": ("Checks:", int),
        "broken": ("Broken:", int),
        "rows_checked": ("Rows looked at:", int),
        "unexpected_rows": ("Rows that broke one:", int),
    },
)
_BY_RUN = FrameTable(
    "Checks of earlier runs",
    "checks_by_run",
    {
        "run_id": ("Run", str),
        "started_at": ("Started", figures.moment),
        "checks": ("Checks:", int),
        "answered": ("By Great Expectations:", int),
        "broken_critical": ("Broken, critical:", int),
        "broken_warnings": ("Broken, warnings:", int),
        "unexpected_rows": ("Rows that broke one:", int),
    },
    lambda _: {"limit": NIGHTS},
)


def operate_page(
    visit: Visit,
    title: str,
    blocks: Iterable[pg.Block],
    *fields: Field | None,
    form_below: Markup = _NOTHING,
) -> PageContent:
    """Return a page of Operate with the links to its parts.

    Args:
        form_below: a form below the fields.
    """
    ways = controls("parts", whole="Operate", ways=[*_parts(visit)], here=visit.request.url.path)
    return PageContent(title, tuple(blocks), ways + form(*fields) + form_below)


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
        (night,) = _nights_of(lake, [run])
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
    return operate_page(visit, "Operate", pg.bullets(lines) or (NO_RUN,), run_field(visit, run))


def _nights_of(lake: Lake, runs: Sequence[Run]) -> tuple[NightFigures, ...]:
    run_ids = [run.run_id for run in runs]
    return lake.ask(night_figures, run_ids, thresholds=lake.thresholds)


def show_cost(visit: Visit) -> PageContent:
    """Show what a run cost: by step, over nights, by idea, and with other models."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return operate_page(visit, "Cost", (NO_RUN,))
    cost = lake.ask(Queries.run_cost, run.run_id)
    has_calls = cost.llm_calls > 0
    blocks = [*run_facts(run), *lake.ask(_blocks, _cost, run.run_id)]
    if has_calls:
        blocks += [*_call_outcomes(lake, run, "model"), *_latency(lake, run)]
    blocks += _over_nights(lake, run)
    if has_calls:
        blocks += [*_per_idea(lake, run), *_with_other_models(visit, run, cost)]
    prices = (
        Field("model", "Compare with the model", visit.query.get("model", ""), attributes={"placeholder": "openai/o3"}),
        Field("prompt_price", "Own price of a million prompt tokens",
              visit.query.get("prompt_price", ""), attributes={"placeholder": "USD"}),
        Field("completion_price", "Of completion tokens",
              visit.query.get("completion_price", ""), attributes={"placeholder": "USD"}),
    )  # fmt: skip
    return operate_page(
        visit, "Cost", blocks, run_field(visit, run), *(prices if has_calls else ())
    )


def _blocks(queries: Queries, view: View, run_id: RunId) -> tuple[pg.Block, ...]:
    """Return the blocks of a view as a cacheable value."""
    return tuple(view(queries, run_id))


def _cost(queries: Queries, run_id: RunId) -> Iterator[pg.Block]:
    return cost_blocks(queries, queries.run_cost(run_id))


def _call_outcomes(lake: Lake, run: Run, *kinds: str) -> Iterator[pg.Block]:
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
        "ended": ("Ended", _outcome_label),
        "calls": ("Calls:", int),
        "share": ("Share:", figures.percent),
        "said": ("In its own words, most often", str),
    }
    yield table_of(calls, columns)


def _outcome_label(status: str) -> str:
    return {"ok": "answered", "cached": "answered by a cache"}.get(
        status, wording.with_spaces(status)
    )


def _latency(lake: Lake, run: Run) -> Iterator[pg.Block]:
    latencies = lake.frame("latency_of_steps", run_id=run.run_id)
    several = latencies["model"].n_unique() > 1
    rows = []
    for row in latencies.drop_nulls("p50_seconds").to_dicts():
        dots = (row["p50_seconds"], row["p95_seconds"], row["p99_seconds"])
        name = wording.step(row["step"]) + (f", {row['model']}" if several else "")
        rows.append(Spread(name, dots, " · ".join(map(figures.duration, dots[::2]))))
    caption = "Dots are the median and the times within which 95 % and 99 % of the calls ended."
    heading, *table = _STEPS.blocks(lake, run.run_id)
    yield heading
    yield from pg.optional(spread_chart("latency", "Latency by step", caption, "Seconds", rows))
    yield from table


def _over_nights(lake: Lake, run: Run) -> Iterator[pg.Block]:
    """Yield small multiples over the comparable runs up to this one."""
    comparable = comparable_runs(lake, run)[:NIGHTS]
    if len(comparable) < 2:
        return
    nights = _nights_of(lake, comparable)[::-1]
    costs, times = [night.cost for night in nights], [night.run for night in nights]
    each_idea, totals = (
        [cost.cost_usd_per_idea for cost in costs],
        [cost.cost_usd for cost in costs],
    )
    minutes = [each.duration_seconds / 60 for each in times]
    calls = [cost.llm_calls for cost in costs]
    panels = (
        Panel("Cost of an idea, USD", each_idea, [*map(figures.usd, each_idea)]),
        Panel("Cost, USD", totals, [*map(figures.usd, totals)]),
        Panel("Model calls", calls, [*map(figures.count, calls)]),
        Panel("Time, minutes", minutes, [figures.duration(60 * each) for each in minutes]),
    )
    chart = nights_chart("nights", "Cost and time over nights", _days(times), panels)
    if chart is not None:
        yield from (pg.heading(f"The last {len(comparable)} comparable runs"), chart)


def _days(runs: Sequence[Run]) -> list[str]:
    return [f"{run.started_at:%Y-%m-%d}" for run in runs]


def _per_idea(lake: Lake, run: Run) -> Iterator[pg.Block]:
    costs = lake.frame("cost_per_idea", run_id=run.run_id)
    priced_costs = costs.filter(polars.col("unknown_price_calls") == 0)
    unknown = len(costs) - len(priced_costs)
    yield pg.heading("Cost by idea")
    if priced_costs["cost_usd"].sum() > 0:
        caption = f"In no bar: {figures.plural(unknown, 'idea')} with a call of unknown price."
        edges, counts = round_bins(priced_costs["cost_usd"].to_list())
        yield from pg.optional(
            histogram("ideas", "Ideas by cost", caption if unknown else "", "USD", edges, counts)
        )
    else:
        yield pg.text(f"No idea has a known cost: {figures.plural(unknown, 'idea')} with a call"
                      " of unknown price.")  # fmt: skip
    titles = polars.struct("idea_id", "title").alias("idea")

    columns: Columns = {
        "idea": ("Idea", lambda idea: idea_link(run.run_id, idea["idea_id"], idea["title"])),
        "group": ("Group", wording.with_spaces),
        "cost_usd": ("Cost:", figures.usd),
        "unknown_price_calls": ("Calls without a price:", int),
        "calls": ("Calls:", int),
        "tokens": ("Tokens:", int),
        "latency_seconds": ("Time in calls:", figures.duration),
    }
    dearest = costs.head(DEAREST).with_columns(titles)
    yield pg.Fold(f"The dearest {len(dearest):,}", (table_of(dearest, columns),))


def _with_other_models(visit: Visit, run: Run, cost: RunCost) -> Iterator[pg.Block]:
    prices = read_prices(visit.lake.prices) if visit.lake.prices else {}
    model_name = visit.query.get("model", "").strip()
    compared_models = {name: prices[name] for name in (*PRESETS, model_name) if name in prices}
    if reader_price := _own_price(visit):
        compared_models["your prices"] = reader_price
    yield pg.heading("With another model")
    if model_name and model_name not in prices:
        close_names = get_close_matches(model_name, prices, 3, 0.4)
        hint = f": perhaps {', '.join(close_names)}" if close_names else ""
        yield pg.note(f"The price list has no model “{unturned(model_name[:100])}”{hint}.")
    tokens = cost.prompt_tokens, cost.completion_tokens
    rows: list[tuple[str, float, float | None]] = [
        (name, price.of(*tokens, cost.cached_tokens), price.by_batch(*tokens))
        for name, price in compared_models.items()
    ]
    rows.sort(key=lambda row: row[1])
    if cost.cost_usd is not None:
        without = cost.unknown_price_calls
        note = f" ({figures.plural(without, 'call')} without a price)" if without else ""
        rows.insert(0, (f"this run{note}", cost.cost_usd, None))
    if not rows:
        yield pg.text("No price list is known: give your own prices above.")
        return
    values = [Bar(name, value, figures.usd(value)) for name, value, _ in rows]
    scale = scale_to(max(value for _, value, _ in rows), "USD")
    caption = (
        "The tokens this run sent and received, at the prices of other models. Another model"
        " counts and answers differently: read it as an order of magnitude."
    )
    yield from pg.optional(
        bar_chart("models", "The same tokens with other models", caption, scale, values)
    )
    ideas = run.evaluated_count
    yield pg.table(
        ("Model", "Cost:", "An idea:", "By the provider's batch:"),
        ((name, figures.usd(value), figures.usd(value / ideas) if ideas else "–",
          "–" if batch is None else figures.usd(batch)) for name, value, batch in rows),
    )  # fmt: skip


def _own_price(visit: Visit) -> ModelPrice | None:
    prompt, completion = (
        number_in_address(visit, name, 1e9, "dollars as a number")
        for name in ("prompt_price", "completion_price")
    )
    if prompt is None or completion is None:
        return None
    return ModelPrice(prompt, completion, prompt)


def show_sources(visit: Visit) -> PageContent:
    """Show how sources and models answered a run, and what stayed unanswered."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return operate_page(visit, "Sources", (NO_RUN,))
    blocks = (
        *run_facts(run),
        *_SOURCES.blocks(lake, run.run_id),
        *_call_outcomes(lake, run, "source", "model"),
        *lake.ask(_blocks, failure_blocks, run.run_id),
    )
    return operate_page(visit, "Sources", blocks, run_field(visit, run))


def show_quality(visit: Visit) -> PageContent:
    """Show unscored judgements, checks, judges and drift of a run."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return operate_page(visit, "Quality", tuple(_refusals(lake)) or (NO_RUN,))
    kinds = sorted(set(_bins(lake, [run])["what"]) - {"score"})
    what = option_in_address(visit, "what", ["score", *kinds], "score")
    views: dict[str, Callable[[], Iterator[pg.Block]]] = {
        "Unscored": lambda: _unscored_judgements(lake, run),
        "Checks": lambda: _checks(lake, run),
        "Judges": lambda: _judges(lake, run),
        "Drift": lambda: _drift(lake, run, what),
    }
    view = option_in_address(visit, "view", list(views), EVERYTHING)
    sections = views.values() if view == EVERYTHING else (views[view],)
    (night,) = _nights_of(lake, [run])
    alarms = pg.bullets(each.sentence for each in night.alarms if each.about is not About.COST)
    blocks = [
        *run_facts(run),
        *_refusals(lake),
        *((pg.heading("Alarms"),) if alarms else ()),
        *alarms,
    ]
    for each in sections:
        blocks += each()
    options = [(each, each) for each in (EVERYTHING, *views)]
    scores = [(each, wording.with_spaces(each)) for each in ("score", *kinds)]
    return operate_page(
        visit, "Quality", blocks, run_field(visit, run),
        Field("view", "Show", view, EVERYTHING, options),
        Field("what", "Drift of", what, "score", scores) if kinds else None,
    )  # fmt: skip


def _refusals(lake: Lake) -> Iterator[pg.Block]:
    """Yield the runs kept out of the lake, newest first."""
    published_ids = {run.run_id for run in lake.runs()}
    refusals = [each for each in read_refusals(lake.warehouse) if each.run_id not in published_ids]
    for each in refusals[:REFUSED]:
        yield pg.heading(f"Run {each.run_id} was not published: it broke a critical check")
        yield pg.table(
            ("Severity", "Table", "Column", "Check", "Rows that broke it:", "Examples"),
            ((row.severity.value, row.table_name, row.column_name, row.expectation,
              row.unexpected_count, row.detail) for row in each.broken),
        )  # fmt: skip


def _unscored_judgements(lake: Lake, run: Run) -> Iterator[pg.Block]:
    reasons = lake.frame("unscored_reasons", run_ids=[run.run_id])
    if reasons.is_empty():
        return
    yield pg.heading("Unscored")
    rows, bars = [], []
    for (kind,), group in reasons.group_by("judgement", maintain_order=True):
        counts = dict(group.select("reason", "judgements").iter_rows())
        scored_count, total = counts.pop(None, 0), int(group["judgements"].sum())
        why = "; ".join(f"{wording.reason(each)} ({count:,})" for each, count in counts.items())
        rows.append((wording.with_spaces(kind), scored_count, total - scored_count, why or "–"))
        if total > scored_count:
            share = figures.share(total - scored_count, total)
            bars.append(Bar(wording.with_spaces(kind), 100 * (total - scored_count) / total, share))
    most = scale_to(max((each.value or 0.0 for each in bars), default=0.0), "% without a score")
    if bars:
        yield from pg.optional(bar_chart("unscored", "Judgements without a score", "", most, bars))
    yield pg.table(("Judgement", "Scored:", "Unscored:", "Because"), rows)
    yield from _UNANSWERED.blocks(lake, run.run_id)


def _checks(lake: Lake, run: Run) -> Iterator[pg.Block]:
    yield from lake.ask(_blocks, validation_blocks, run.run_id)
    by_table = lake.frame("checks_by_table", run_id=run.run_id)
    if by_table["answered"].sum():
        place = with_query("/operate/quality/data-docs", run=run.run_id)
        yield pg.text(pg.report("Download Data Docs", place),
                      ": every result of Great Expectations about this run, in one file.")  # fmt: skip
    yield from _BY_TABLE.blocks(lake, run.run_id, folded=True)
    if len(lake.frame("checks_by_run", limit=NIGHTS)) > 1:
        yield from _BY_RUN.blocks(lake, run.run_id, folded=True)


def send_data_docs(visit: Visit) -> Response:
    """Send the Great Expectations results of a run as a file."""
    from dashboards.render.data_docs import (
        data_docs,
    )  # late: Great Expectations takes seconds to import

    run = run_in_address(visit)
    if run is None:
        raise UnknownNameError("no run has been published here yet")
    docs = data_docs(visit.lake.warehouse, run.run_id)
    return attachment(docs, f"data-docs-{run.run_id}", "html", "text/html")


def _judges(lake: Lake, run: Run) -> Iterator[pg.Block]:
    yield from lake.ask(_blocks, models_blocks, run.run_id)
    labels = lake.frame("label_shares", run_ids=[run.run_id])
    if labels.is_empty():
        return
    yield pg.heading("How judges score")
    others = []
    for (kind,), group in labels.group_by("judgement", maintain_order=True):
        if "0–10" not in str(kind):
            others.append(group)
            continue
        counts = [0] * 10
        for label, count in group.select("label", "judgements").iter_rows():
            counts[min(int(float(label)), 9)] += count
        name = f"scores-{len(str(kind))}"
        title = str(kind).capitalize()
        caption = f"{title}: {sum(counts):,} scored judgements."
        yield from pg.optional(
            histogram(name, title, caption, "Points", [*map(float, range(11))], counts)
        )
    if others:
        columns: Columns = {
            "judgement": ("Judgement", str),
            "label": ("Label", str),
            "judgements": ("Judgements:", int),
            "share": ("Share:", figures.percent),
        }
        yield table_of(polars.concat(others), columns)
    yield pg.text(
        f"An alarm is raised when one label takes {figures.percent(lake.thresholds.collapsed_share)}"
        f" of at least {lake.thresholds.enough} judgements."
    )
    yield from _BIAS.blocks(lake, run.run_id)


def _bins(lake: Lake, runs: Sequence[Run]) -> polars.DataFrame:
    return lake.frame("score_bins", run_ids=[str(run.run_id) for run in runs])


def _drift(lake: Lake, run: Run, what: str) -> Iterator[pg.Block]:
    """Yield mean scores up to this run, and how far each distribution moved."""
    earlier = [one for one in lake.runs() if one.started_at <= run.started_at][:RUNS_DRIFTING]
    if len(earlier) < 2:
        return
    bins = _bins(lake, earlier).filter(polars.col("what") == what)
    rows = distances([str(one.run_id) for one in earlier], bins)
    yield pg.heading(f"Drift of {wording.with_spaces(what)}")
    means = [row["mean"] for row in rows][::-1]
    panel = Panel(
        f"Mean {wording.with_spaces(what)}, points of 10", means, [*map(figures.mean, means)]
    )
    yield from pg.optional(
        nights_chart("drift", "Mean score by run", _days(earlier[::-1]), [panel])
    )
    if any(row["moved"] for row in rows):
        yield pg.note("The scores moved from one run to the next: other ideas, another model, or a"
                      " judge that changed.")  # fmt: skip
    columns: Columns = {
        "run_id": ("Run", lambda name: pg.report(name, run_path(name))),
        "mean": ("Mean:", figures.mean),
        "scored": ("Scored:", int),
        "unscored": ("Unscored:", int),
        "standard_deviation": ("Standard deviation:", figures.decimals),
        "psi": ("Distance from the run before:", figures.decimals),
        "moved": ("Moved", lambda moved: "yes" if moved else "no"),
    }
    yield table_of(polars.DataFrame(rows, infer_schema_length=None), columns)
    yield pg.text("The distance is the population stability index; above 0.25 the scores moved.")
