"""Page “Quality”: unscored judgements, checks, judges and drift of a run."""

from collections.abc import Callable, Iterator, Sequence
from math import log, sqrt
from typing import Any

import polars
from starlette.responses import Response

from dashboards.app.data import Lake
from dashboards.app.fields import (
    NO_RUN,
    Field,
    option_in_address,
    run_facts,
    run_field,
    run_in_address,
)
from dashboards.app.site import PageContent, Visit, attachment, run_path, with_query
from dashboards.app.site_pages.operate import (
    NIGHTS,
    Columns,
    FrameTable,
    cached_blocks,
    days,
    nights_of,
    of_runs,
    operate_page,
    table_of,
)
from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.row_charts import Bar, bar_chart, scale_to
from dashboards.render.charts.spread_charts import Panel, histogram, nights_chart
from dashboards.views.alarms import COLLAPSED_SHARE, ENOUGH_JUDGEMENTS
from dashboards.views.nightly_page import About
from dashboards.views.run_page import models_blocks, validation_blocks
from schemas.errors import UnknownNameError
from schemas.run import Run
from warehouse.progress import read_refusals

REFUSED, RUNS_DRIFTING = 10, 8
EVERYTHING = "Everything"
# The distance of score distributions is the population stability index over ten bins of one point,
# PSI = Σ (p − q) · ln(p / q), with half an idea added to every bin. By convention, below 0.1 is
# stable and above 0.25 has moved. Small samples move by chance: no distance below `ENOUGH` ideas.
BINS, ENOUGH, MOVED = 10, 50, 0.25


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
    of_runs,
    "The share won by the idea shown first, minus that by the second.",
)


_UNANSWERED_TABLE = FrameTable(
    "Steps without a usable answer",
    "unanswered_steps",
    {
        "step": ("Step", wording.step),
        "questions": ("Questions:", int),
        "unanswered": ("Unanswered:", int),
        "failure": ("Most often", wording.with_spaces),
    },
    of_runs,
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


def show(visit: Visit) -> PageContent:
    """Show unscored judgements, checks, judges and drift of a run."""
    lake, run = visit.lake, run_in_address(visit)
    if run is None:
        return operate_page(visit, "Quality", tuple(_refusals(lake)) or (NO_RUN,))
    kinds = sorted(set(_bins(lake, [run])["what"]) - {"score"})
    quantity = option_in_address(visit, "what", ["score", *kinds], "score")
    views: dict[str, Callable[[], Iterator[pg.Block]]] = {
        "Unscored": lambda: _unscored_judgements(lake, run),
        "Checks": lambda: _checks(lake, run),
        "Judges": lambda: _judges(lake, run),
        "Drift": lambda: _drift(lake, run, quantity),
    }
    view = option_in_address(visit, "view", list(views), EVERYTHING)
    sections = views.values() if view == EVERYTHING else (views[view],)
    (night,) = nights_of(lake, [run])
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
        Field("what", "Drift of", quantity, "score", scores) if kinds else None,
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
        reasons_text = "; ".join(
            f"{wording.reason(each)} ({count:,})" for each, count in counts.items()
        )
        rows.append(
            (wording.with_spaces(kind), scored_count, total - scored_count, reasons_text or "–")
        )
        if total > scored_count:
            share = figures.share(total - scored_count, total)
            bars.append(Bar(wording.with_spaces(kind), 100 * (total - scored_count) / total, share))
    most = scale_to(max((each.value or 0.0 for each in bars), default=0.0), "% without a score")
    if bars:
        yield from pg.optional(bar_chart("unscored", "Judgements without a score", "", most, bars))
    yield pg.table(("Judgement", "Scored:", "Unscored:", "Because"), rows)
    yield from _UNANSWERED_TABLE.blocks(lake, run.run_id)


def _checks(lake: Lake, run: Run) -> Iterator[pg.Block]:
    yield from lake.ask(cached_blocks, validation_blocks, run.run_id)
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
    yield from lake.ask(cached_blocks, models_blocks, run.run_id)
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
        f"An alarm is raised when one label takes {figures.percent(COLLAPSED_SHARE)}"
        f" of at least {ENOUGH_JUDGEMENTS} judgements."
    )
    yield from _BIAS.blocks(lake, run.run_id)


def _bins(lake: Lake, runs: Sequence[Run]) -> polars.DataFrame:
    return lake.frame("score_bins", run_ids=[str(run.run_id) for run in runs])


def _drift(lake: Lake, run: Run, what: str) -> Iterator[pg.Block]:
    earlier_runs = [one for one in lake.runs() if one.started_at <= run.started_at][:RUNS_DRIFTING]
    if len(earlier_runs) < 2:
        return
    bins = _bins(lake, earlier_runs).filter(polars.col("what") == what)
    rows = distances([str(one.run_id) for one in earlier_runs], bins)
    yield pg.heading(f"Drift of {wording.with_spaces(what)}")
    means = [row["mean"] for row in rows][::-1]
    panel = Panel(
        f"Mean {wording.with_spaces(what)}, points of 10", means, [*map(figures.mean, means)]
    )
    yield from pg.optional(
        nights_chart("drift", "Mean score by run", days(earlier_runs[::-1]), [panel])
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
        "moved": ("Moved", lambda is_moved: "yes" if is_moved else "no"),
    }
    yield table_of(polars.DataFrame(rows, infer_schema_length=None), columns)
    yield pg.text("The distance is the population stability index; above 0.25 the scores moved.")


def distances(run_ids: list[str], bins: polars.DataFrame) -> list[dict[str, Any]]:
    """Return mean, spread, counts and PSI of each run, newest first.

    PSI is the distance from the run before; None with too few ideas.
    """
    summaries = [
        _summary(run_id, bins.filter(polars.col("run_id") == run_id)) for run_id in run_ids
    ]
    for row, before in zip(summaries, [*summaries[1:], None], strict=True):
        enough = before is not None and min(row["scored"], before["scored"]) >= ENOUGH
        row["psi"] = (
            stability_index(row["counts"], before["counts"])
            if before is not None and enough
            else None
        )
        row["moved"] = row["psi"] is not None and row["psi"] > MOVED
    return [{name: value for name, value in row.items() if name != "counts"} for row in summaries]


def stability_index(now: list[int], before: list[int]) -> float:
    """Return the PSI of two histograms over the same bins."""
    shares, other_shares = (
        [(count + 0.5) / (sum(counts) + 0.5 * len(counts)) for count in counts]
        for counts in (now, before)
    )
    return sum((p - q) * log(p / q) for p, q in zip(shares, other_shares, strict=True))


def _summary(run_id: str, bins: polars.DataFrame) -> dict[str, Any]:
    scored_bins = bins.filter(polars.col("bin").is_not_null())
    count = int(scored_bins["ideas"].sum())
    mean = float(scored_bins["points"].sum()) / count if count else None
    variance = (
        None if mean is None else float(scored_bins["squared_points"].sum()) / count - mean * mean
    )
    by_bin = dict(zip(scored_bins["bin"].to_list(), scored_bins["ideas"].to_list(), strict=True))
    return {
        "run_id": run_id,
        "mean": mean,
        "scored": count,
        "unscored": int(bins.filter(polars.col("bin").is_null())["ideas"].sum()),
        "standard_deviation": None if variance is None else sqrt(max(variance, 0.0)),
        "counts": [by_bin.get(number, 0) for number in range(BINS)],
    }
