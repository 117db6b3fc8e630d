"""Operate: what runs cost, how sources and models answered, and how far judges can be believed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import polars
from starlette.responses import Response

from dashboards.app.choosing import Field, chosen, chosen_run, form, run_field
from dashboards.app.data import Lake
from dashboards.app.site import Shown, Visit, controls, idea_path, run_path, with_query
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.bar_chart import Measured, bar_chart, scale_to
from dashboards.render.charts.spread_charts import (
    Panel,
    Spread,
    histogram,
    nights_chart,
    round_bins,
    spread_chart,
)
from dashboards.views.drift import distances
from dashboards.views.nightly_page import About, NightFigures, night_figures
from dashboards.views.other_models import PRESETS, ModelPrice, read_prices
from dashboards.views.run_cost import cost_blocks
from dashboards.views.run_page import failure_blocks, models_blocks, validation_blocks
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.literature.naming import unturned
from schemas.run import Run
from schemas.tables import TABLES
from schemas.works.curation_run import CURATIONS
from warehouse.answers import RunCost
from warehouse.kinds.benchmarks.landing import BENCHMARKS
from warehouse.queries import Queries
from warehouse.refusals import read_refusals
from warehouse.statements import MARTS
from warehouse.units.kind import kind_of

NIGHTS, DEAREST, REFUSED, RUNS_DRIFTING = 30, 50, 10, 8
EVERYTHING = "Everything"
View = Callable[[Queries, RunId], Iterator[pg.Block]]
Columns = Mapping[str, tuple[str, Callable[[Any], pg.Part]]]
"""Heading and writer of each column by its name in a frame."""


@dataclass(frozen=True, slots=True)
class FrameTable:
    """A table that a statement of `sql/pages` answers about a run.

    Attributes:
        frame: the statement.
        columns: heading and writer of each by its name there; one without any value is left out.
        parameters: of the statement; default: the run.
        note: what stands above the table.
    """

    title: str
    frame: str
    columns: Columns
    parameters: Callable[[RunId], Mapping[str, object]] = lambda run_id: {"run_id": run_id}
    note: str = ""

    def blocks(self, lake: Lake, run_id: RunId, *, folded: bool = False) -> Iterator[pg.Block]:
        """Heading and table; nothing without rows."""
        found = lake.frame(self.frame, **self.parameters(run_id))
        if found.is_empty():
            return
        inner = (*((pg.text(self.note),) if self.note else ()), table_of(found, self.columns))
        if folded:
            yield pg.Fold(self.title, inner)
        else:
            yield from (pg.heading(self.title), *inner)


def table_of(frame: polars.DataFrame, columns: Columns) -> pg.Table:
    """Rows of a frame; what is missing is “–”, and a column without any value is left out."""
    kept = {name: each for name, each in columns.items() if frame[name].is_not_null().any()}
    return pg.table(
        [heading for heading, _ in kept.values()],
        ([_cell(row[name], written) for name, (_, written) in kept.items()]
         for row in frame.to_dicts()),
    )  # fmt: skip


def _cell(value: Any, written: Callable[[Any], pg.Part]) -> pg.Part:
    return "–" if value is None or value == "" else written(value)


def spaced(name: str) -> str:
    return name.replace("_", " ")


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
        "source": ("Source", spaced),
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
        "group": ("Group", spaced),
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
        "failure": ("Most often", spaced),
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


def part(visit: Visit, title: str, blocks: Sequence[pg.Block], *fields: Field | None) -> Shown:
    """A part of Operate below the list of all that have rows."""
    run = visit.query.get("run", "")
    listed = [(with_query(path, run=run if of_run else ""), label)
              for path, label, of_run in _parts(visit.lake)]  # fmt: skip
    return Shown(title, blocks, controls("operate", parts=listed, here=title) + form(*fields))


def _parts(lake: Lake) -> Iterator[tuple[str, str, bool]]:
    """Address and name of each part that has rows, and whether it is about a run."""
    yield "/operate", "Operate", True
    if lake.runs():
        yield from (("/operate/cost", "Cost", True), ("/operate/sources", "Sources", True))
    if lake.runs() or read_refusals(lake.warehouse):
        yield "/operate/quality", "Quality", True
    if lake.exists:
        yield "/operate/sql", "SQL", False
    if lake.heads(BENCHMARKS):
        yield "/operate/benchmarks", "Benchmarks", False
    if lake.heads(kind_of(CURATIONS)):
        yield "/operate/rated", "Rated ideas", False


def show(visit: Visit) -> Shown:
    """Each part with what it comes to."""
    lake, runs = visit.lake, visit.lake.runs()
    run = chosen_run(visit, runs) if runs else None
    told = {"SQL": f"{len(TABLES):,} tables and {len(MARTS)} marts, read-only"}
    if heads := lake.heads(BENCHMARKS):
        suites = ", ".join(dict.fromkeys(head.suite for head in heads.values()))
        told["Benchmarks"] = f"{figures.counted(len(heads), 'benchmark')} of {suites}"
    if curated := lake.heads(kind_of(CURATIONS)):
        told["Rated ideas"] = figures.counted(len(curated), "set")
    if run is not None:
        (night,) = _nights_of(lake, [run])
        sources = lake.frame("sources", run_id=run.run_id)
        told["Cost"] = (
            f"{figures.usd(night.cost.cost_usd, night.cost.unknown_price_calls)},"
            f" {figures.counted(night.cost.llm_calls, 'model call')}"
        )
        told["Sources"] = (
            f"{figures.counted(round(sources['requests_worth'].sum()), 'request')} sent,"
            f" {int(sources['unanswered'].sum()):,} look-ups unanswered"
        )
        told["Quality"] = figures.counted(len(night.alarms), "alarm")
    address = visit.query.get("run", "")
    lines = [
        pg.line(pg.report(label, with_query(path, run=address if of_run else "")),
                f": {told[label]}" if label in told else "")
        for path, label, of_run in _parts(lake) if path != "/operate"
    ]  # fmt: skip
    blocks = pg.bullets(lines) or (_nothing(),)
    return part(visit, "Operate", blocks, None if run is None else run_field(runs, run))


def _nothing() -> pg.Block:
    return pg.text("No run has been published here yet: ", pg.code("assay demo"), " makes one.")


def _nights_of(lake: Lake, runs: Sequence[Run]) -> tuple[NightFigures, ...]:
    asked = [run.run_id for run in runs]
    return lake.ask(night_figures, asked, thresholds=lake.thresholds)


def _of_run(run: Run) -> Iterator[pg.Block]:
    """What every part about a run begins with."""
    if not run.in_order:
        yield pg.note(run.order_in_words)
    yield pg.facts(
        pg.report(f"Run {run.run_id}", run_path(run.run_id)),
        f"{figures.counted(run.idea_count, 'idea')}: {run.states_in_words}",
        f"engine {run.engine}",
        f"profile {run.profile}",
    )


# Cost


def show_cost(visit: Visit) -> Shown:
    """What a run cost, by step, over nights, by idea, and with other models."""
    lake, runs = visit.lake, visit.lake.runs()
    if not runs:
        return part(visit, "Cost", (_nothing(),))
    run = chosen_run(visit, runs)
    cost = lake.ask(Queries.run_cost, run.run_id)
    called = cost.llm_calls > 0
    blocks = [*_of_run(run), *lake.ask(_blocks, _cost, run.run_id)]
    if called:
        blocks += [*_ended(lake, run, "model"), *_latency(lake, run)]
    blocks += _over_nights(lake, runs, run)
    if called:
        blocks += [*_per_idea(lake, run), *_with_other_models(visit, run, cost)]
    prices = (
        Field("model", "Compare with the model", visit.query.get("model", ""), hint="openai/o3"),
        Field("prompt_price", "Own price of a million prompt tokens",
              visit.query.get("prompt_price", ""), hint="USD"),
        Field("completion_price", "Of completion tokens",
              visit.query.get("completion_price", ""), hint="USD"),
    )  # fmt: skip
    return part(visit, "Cost", blocks, run_field(runs, run), *(prices if called else ()))


def _blocks(queries: Queries, view: View, run_id: RunId) -> tuple[pg.Block, ...]:
    """What a part of the report on a run shows, as a value that is cached."""
    return tuple(view(queries, run_id))


def _cost(queries: Queries, run_id: RunId) -> Iterator[pg.Block]:
    return cost_blocks(queries, queries.run_cost(run_id))


def _ended(lake: Lake, run: Run, *kinds: str) -> Iterator[pg.Block]:
    """How calls ended, by source or model, and in whose words they failed."""
    found = lake.frame("calls_by_status", run_id=run.run_id)
    found = found.filter(polars.col("kind").is_in(kinds))
    if found.is_empty():
        return
    yield pg.heading("How calls ended")
    totals = polars.col("calls").sum().over("kind", "party", "step")
    found = found.with_columns((polars.col("calls") / totals).alias("share"))
    columns: Columns = {
        "party": ("Source or model" if len(kinds) > 1 else "Model", str),
        "step": ("Step", wording.step),
        "ended": ("Ended", _ended_as),
        "calls": ("Calls:", int),
        "share": ("Share:", figures.percent),
        "said": ("In its own words, most often", str),
    }
    yield table_of(found, columns)


def _ended_as(status: str) -> str:
    return {"ok": "answered", "cached": "answered by a cache"}.get(status, spaced(status))


def _latency(lake: Lake, run: Run) -> Iterator[pg.Block]:
    found = lake.frame("latency_of_steps", run_id=run.run_id)
    several = found["model"].n_unique() > 1
    rows = []
    for row in found.drop_nulls("p50_seconds").to_dicts():
        dots = (row["p50_seconds"], row["p95_seconds"], row["p99_seconds"])
        name = wording.step(row["step"]) + (f", {row['model']}" if several else "")
        rows.append(Spread(name, dots, " · ".join(map(figures.duration, dots[::2]))))
    caption = "Dots are the median and the times within which 95 % and 99 % of the calls ended."
    heading, *table = _STEPS.blocks(lake, run.run_id)
    yield heading
    if (chart := spread_chart("latency", "Latency by step", caption, "Seconds", rows)) is not None:
        yield chart
    yield from table


def _over_nights(lake: Lake, runs: Sequence[Run], run: Run) -> Iterator[pg.Block]:
    """Small multiples over the runs that compare with this one, up to it."""
    alike = [each for each in runs if each.started_at <= run.started_at
             and run.compares_with(each)][:NIGHTS]  # fmt: skip
    if len(alike) < 2:
        return
    nights = _nights_of(lake, alike)[::-1]
    costs, times = [night.cost for night in nights], [night.run for night in nights]
    each_idea, whole = [cost.cost_usd_per_idea for cost in costs], [cost.cost_usd for cost in costs]
    minutes = [each.duration_seconds / 60 for each in times]
    calls = [cost.llm_calls for cost in costs]
    panels = (
        Panel("Cost of an idea, USD", each_idea, [*map(figures.usd, each_idea)]),
        Panel("Cost, USD", whole, [*map(figures.usd, whole)]),
        Panel("Model calls", calls, [*map(figures.count, calls)]),
        Panel("Time, minutes", minutes, [figures.duration(60 * each) for each in minutes]),
    )
    chart = nights_chart("nights", "Cost and time over nights", _days(times), panels)
    if chart is not None:
        yield from (pg.heading(f"The last {len(alike)} comparable runs"), chart)


def _days(runs: Sequence[Run]) -> list[str]:
    return [f"{run.started_at:%Y-%m-%d}" for run in runs]


def _per_idea(lake: Lake, run: Run) -> Iterator[pg.Block]:
    found = lake.frame("cost_per_idea", run_id=run.run_id)
    known = found.filter(polars.col("unknown_price_calls") == 0)
    unknown = len(found) - len(known)
    yield pg.heading("Cost by idea")
    if known["cost_usd"].sum() > 0:
        told = f"In no bar: {figures.counted(unknown, 'idea')} with a call of unknown price."
        edges, counts = round_bins(known["cost_usd"].to_list())
        chart = histogram("ideas", "Ideas by cost", told if unknown else "", "USD", edges, counts)
        if chart is not None:
            yield chart
    else:
        yield pg.text(f"No idea has a known cost: {figures.counted(unknown, 'idea')} with a call"
                      " of unknown price.")  # fmt: skip
    titles = polars.struct("idea_id", "title").alias("idea")

    def link(idea: Mapping[str, Any]) -> pg.Part:
        title = " ".join((idea["title"] or "").split()) or idea["idea_id"]
        return pg.report(wording.shortened(title, 110), idea_path(run.run_id, idea["idea_id"]))

    columns: Columns = {
        "idea": ("Idea", link),
        "group": ("Group", spaced),
        "cost_usd": ("Cost:", figures.usd),
        "unknown_price_calls": ("Calls without a price:", int),
        "calls": ("Calls:", int),
        "tokens": ("Tokens:", int),
        "latency_seconds": ("Time in calls:", figures.duration),
    }
    dear = found.head(DEAREST).with_columns(titles)
    yield pg.Fold(f"The dearest {len(dear):,}", (table_of(dear, columns),))


def _with_other_models(visit: Visit, run: Run, cost: RunCost) -> Iterator[pg.Block]:
    """The run's cost beside that of other models, from the tokens recorded."""
    known = read_prices(visit.lake.prices) if visit.lake.prices else {}
    wanted = visit.query.get("model", "").strip()
    offered = {name: known[name] for name in (*PRESETS, wanted) if name in known}
    if own := _own_price(visit):
        offered["your prices"] = own
    yield pg.heading("With another model")
    if wanted and wanted not in known:
        near = get_close_matches(wanted, known, 3, 0.4)
        hint = f": perhaps {', '.join(near)}" if near else ""
        yield pg.note(f"The price list has no model “{unturned(wanted[:100])}”{hint}.")
    tokens = cost.prompt_tokens, cost.completion_tokens
    rows: list[tuple[str, float, float | None]] = [
        (name, price.of(*tokens, cost.cached_tokens), price.by_batch(*tokens))
        for name, price in offered.items()
    ]
    rows.sort(key=lambda row: row[1])
    if cost.cost_usd is not None:
        without = cost.unknown_price_calls
        told = f" ({figures.counted(without, 'call')} without a price)" if without else ""
        rows.insert(0, (f"this run{told}", cost.cost_usd, None))
    if not rows:
        yield pg.text("No price list is known: give your own prices above.")
        return
    values = [Measured(name, value, figures.usd(value)) for name, value, _ in rows]
    scale = scale_to(max(value for _, value, _ in rows), "USD")
    caption = (
        "The tokens this run sent and received, at the prices of other models. Another model"
        " counts and answers differently: read it as an order of magnitude."
    )
    chart = bar_chart("models", "The same tokens with other models", caption, scale, values)
    if chart is not None:
        yield chart
    ideas = run.evaluated_count
    yield pg.table(
        ("Model", "Cost:", "An idea:", "By the provider's batch:"),
        ((name, figures.usd(value), figures.usd(value / ideas) if ideas else "–",
          "–" if batch is None else figures.usd(batch)) for name, value, batch in rows),
    )  # fmt: skip


def _own_price(visit: Visit) -> ModelPrice | None:
    """Raises ConfigurationError where one of the prices is no number."""
    found = {}
    for name in ("prompt_price", "completion_price"):
        text = visit.query.get(name, "").strip()
        if not text:
            return None
        try:
            found[name] = float(text)
        except ValueError:
            found[name] = -1.0
        if not 0 <= found[name] <= 1e9:
            raise ConfigurationError(f"{name}: write dollars as a number, not “{text[:40]}”")
    prompt = found["prompt_price"]
    return ModelPrice(prompt, found["completion_price"], prompt)


# Sources


def show_sources(visit: Visit) -> Shown:
    """How sources and models answered a run, and what was left unanswered."""
    lake, runs = visit.lake, visit.lake.runs()
    if not runs:
        return part(visit, "Sources", (_nothing(),))
    run = chosen_run(visit, runs)
    blocks = (
        *_of_run(run),
        *_SOURCES.blocks(lake, run.run_id),
        *_ended(lake, run, "source", "model"),
        *lake.ask(_blocks, failure_blocks, run.run_id),
    )
    return part(visit, "Sources", blocks, run_field(runs, run))


# Quality


def show_quality(visit: Visit) -> Shown:
    """What has no score and why, what was checked, and whether judges can be believed."""
    lake, runs = visit.lake, visit.lake.runs()
    if not runs:
        return part(visit, "Quality", tuple(_refused(lake)) or (_nothing(),))
    run = chosen_run(visit, runs)
    kinds = sorted(set(_bins(lake, [run])["what"]) - {"score"})
    what = chosen(visit, "what", ["score", *kinds], "score")
    views: dict[str, Callable[[], Iterator[pg.Block]]] = {
        "Unscored": lambda: _unscored(lake, run),
        "Checks": lambda: _checks(lake, run),
        "Judges": lambda: _judges(lake, run),
        "Drift": lambda: _drift(lake, runs, run, what),
    }
    view = chosen(visit, "view", list(views), EVERYTHING)
    shown = views.values() if view == EVERYTHING else (views[view],)
    (night,) = _nights_of(lake, [run])
    alarms = pg.bullets(each.sentence for each in night.alarms if each.about is not About.COST)
    blocks = [*_of_run(run), *_refused(lake), *((pg.heading("Alarms"),) if alarms else ()), *alarms]
    for each in shown:
        blocks += each()
    options = [(each, each) for each in (EVERYTHING, *views)]
    scores = [(each, spaced(each)) for each in ("score", *kinds)]
    return part(
        visit, "Quality", blocks, run_field(runs, run),
        Field("view", "Show", view, EVERYTHING, options),
        Field("what", "Drift of", what, "score", scores) if kinds else None,
    )  # fmt: skip


def _refused(lake: Lake) -> Iterator[pg.Block]:
    """Runs kept out of the lake, newest first."""
    published = {run.run_id for run in lake.runs()}
    refused = [each for each in read_refusals(lake.warehouse) if each.run_id not in published]
    for each in refused[:REFUSED]:
        yield pg.heading(f"Run {each.run_id} was not published: it broke a critical check")
        yield pg.table(
            ("Severity", "Table", "Column", "Check", "Rows that broke it:", "Examples"),
            ((row.severity.value, row.table_name, row.column_name, row.expectation,
              row.unexpected_count, row.detail) for row in each.broken),
        )  # fmt: skip


def _unscored(lake: Lake, run: Run) -> Iterator[pg.Block]:
    judged = lake.frame("unscored_reasons", run_ids=[run.run_id])
    if judged.is_empty():
        return
    yield pg.heading("Unscored")
    rows, bars = [], []
    for (kind,), own in judged.group_by("judgement", maintain_order=True):
        counts = dict(own.select("reason", "judgements").iter_rows())
        scored, whole = counts.pop(None, 0), int(own["judgements"].sum())
        why = "; ".join(f"{wording.reason(each)} ({count:,})" for each, count in counts.items())
        rows.append((spaced(kind), scored, whole - scored, why or "–"))
        if whole > scored:
            share = figures.share(whole - scored, whole)
            bars.append(Measured(spaced(kind), 100 * (whole - scored) / whole, share))
    most = scale_to(max((each.value or 0.0 for each in bars), default=0.0), "% without a score")
    chart = bar_chart("unscored", "Judgements without a score", "", most, bars) if bars else None
    if chart is not None:
        yield chart
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
    """Great Expectations' results about a run as a file."""
    from dashboards.render.data_docs import data_docs  # imports Great Expectations: seconds

    run = chosen_run(visit, visit.lake.runs())
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in run.run_id)
    return Response(
        data_docs(visit.lake.warehouse, run.run_id),
        media_type="text/html",
        headers={"content-disposition": f'attachment; filename="data-docs-{name[:100]}.html"'},
    )


def _judges(lake: Lake, run: Run) -> Iterator[pg.Block]:
    yield from lake.ask(_blocks, models_blocks, run.run_id)
    labels = lake.frame("label_shares", run_ids=[run.run_id])
    if labels.is_empty():
        return
    yield pg.heading("How judges score")
    others = []
    for (kind,), own in labels.group_by("judgement", maintain_order=True):
        if "0–10" not in str(kind):
            others.append(own)
            continue
        counts = [0] * 10
        for label, count in own.select("label", "judgements").iter_rows():
            counts[min(int(float(label)), 9)] += count
        name = f"scores-{len(str(kind))}"
        title = str(kind).capitalize()
        caption = f"{title}: {sum(counts):,} scored judgements."
        chart = histogram(name, title, caption, "Points", [*map(float, range(11))], counts)
        if chart is not None:
            yield chart
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


def _drift(lake: Lake, runs: Sequence[Run], run: Run, what: str) -> Iterator[pg.Block]:
    """Means of the runs up to this one, and how far each distribution moved."""
    earlier = [one for one in runs if one.started_at <= run.started_at][:RUNS_DRIFTING]
    if len(earlier) < 2:
        return
    bins = _bins(lake, earlier).filter(polars.col("what") == what)
    rows = distances([str(one.run_id) for one in earlier], bins)
    yield pg.heading(f"Drift of {spaced(what)}")
    means = [row["mean"] for row in rows][::-1]
    panel = Panel(f"Mean {spaced(what)}, points of 10", means, [*map(figures.mean, means)])
    if (
        chart := nights_chart("drift", "Mean score by run", _days(earlier[::-1]), [panel])
    ) is not None:
        yield chart
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
