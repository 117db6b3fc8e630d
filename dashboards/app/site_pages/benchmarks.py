"""Page “Benchmarks”: measured and published scores, and errors by class."""

from collections.abc import Iterator

import polars

from dashboards.app.data import Lake
from dashboards.app.fields import Field, option_in_address
from dashboards.app.site import PageContent, Visit, run_path
from dashboards.app.site_pages.operate import operate_page
from dashboards.render import figures
from dashboards.render import page as pg
from dashboards.render.charts.reliability_chart import Bin, reliability_chart
from dashboards.render.charts.row_charts import Spread, spread_chart
from dashboards.render.wording import with_spaces
from dashboards.views.benchmark_lines import PUBLISHED, WHOLE, ScoreLine, SuitePart
from dashboards.views.metric_meanings import meaning_of
from dashboards.views.write_benchmark import BenchmarkPage, benchmark_page
from schemas.identifiers import RunId
from warehouse.kinds.benchmarks import BENCHMARKS

MOST_CLASSES = 12
_RELIABILITY = (
    "of answers said with a probability, how many hold. On the diagonal a probability means what it"
    " says; larger dots rest on more answers."
)


def show(visit: Visit) -> PageContent:
    """Show a suite: one metric, the report on its benchmarks, and answers of one."""
    lake = visit.lake
    heads = lake.heads(BENCHMARKS)
    if not heads:
        none = pg.text("No benchmark has been published here yet: ",
                       pg.code("assay benchmark SUITE --data DIR"), " runs one.")  # fmt: skip
        return operate_page(visit, "Benchmarks", (none,))
    suites = list(dict.fromkeys(head.suite for head in heads.values()))
    suite = option_in_address(visit, "suite", suites, suites[0])
    names = [name for name, head in heads.items() if head.suite == suite]
    pages = [lake.ask_warehouse(benchmark_page, RunId(name)) for name in names]
    first, *others = pages
    page = BenchmarkPage(first.warehouse, first.head, first.runs,
                         tuple((each.head, each.runs) for each in others))  # fmt: skip
    (suite_part,) = page.suites
    headline = suite_part.headline[0] if suite_part.headline else None
    metrics = list(dict.fromkeys(line.metric for line in suite_part.lines))
    metric = option_in_address(visit, "metric", metrics, headline.metric if headline else "")
    slices = list(dict.fromkeys(line.part for line in suite_part.lines if line.metric == metric))
    slices.sort(key=lambda name: name != WHOLE)
    default = headline.part if headline and headline.part in slices else next(iter(slices), "")
    of_data = option_in_address(visit, "slice", slices, default)
    benchmark = option_in_address(visit, "benchmark", names, names[0])
    blocks = (
        *_score_chart(suite_part, metric, of_data, several=page.several),
        *page.page().blocks,
        *_confusion(lake, benchmark),
        *_reliability(lake, benchmark),
        *pg.bullets(pg.report(f"Report on {name}", run_path(name)) for name in names),
    )
    fields = (
        ("suite", "Suite", suite, suites[0], suites),
        ("metric", "Metric", metric, headline.metric if headline else "", metrics),
        ("slice", "Part of the data", of_data, default, slices),
        ("benchmark", "Answers of", benchmark, names[0], names),
    )
    visible_fields = [
        Field(name, label, value, default, [(each, with_spaces(each)) for each in options])
        for name, label, value, default, options in fields
        if len(options) > 1
    ]
    return operate_page(visit, "Benchmarks", blocks, *visible_fields)


def _score_chart(
    suite_part: SuitePart, metric: str, of_data: str, *, several: bool
) -> Iterator[pg.Block]:
    lines = [line for line in suite_part.lines if (line.metric, line.part) == (metric, of_data)]
    rows = [row for line in lines if (row := _row(line, several=several)) is not None]
    if not rows:
        return
    yield pg.heading(
        f"{with_spaces(metric).capitalize()}{'' if of_data == WHOLE else f', {of_data}'}"
    )
    if (meaning := meaning_of(metric)) is not None:
        better = f" {meaning.better.capitalize()} is better." if meaning.better else ""
        yield pg.text(f"{meaning.meaning}{better}")
    caption = "Dots in the other color are published figures; lines are 95 % intervals."
    rows.sort(key=lambda row: -row.dots[0])
    yield from pg.optional(
        spread_chart("scores", with_spaces(metric), caption, with_spaces(metric), rows)
    )


def _row(line: ScoreLine, *, several: bool) -> Spread | None:
    score, is_published = line.score, line.origin == PUBLISHED
    if score.value is None:
        return None
    has_interval = score.lower is not None and score.upper is not None
    ends = (score.lower, score.upper) if has_interval else (score.value, score.value)
    number = f" ({line.number})" if several and line.number else ""
    value_text = figures.measure(score.value)
    return Spread(f"{line.system}{number}", (score.value,), value_text, ends, is_published)  # type: ignore[arg-type]


def _confusion(lake: Lake, benchmark: str) -> Iterator[pg.Block]:
    """Tabulate answers by right answer, task and system, with unscored ones apart."""
    counts = lake.frame("benchmark_confusion", run_id=benchmark, most_classes=MOST_CLASSES)
    if counts.is_empty():
        return
    yield pg.heading("Right answers and answers given")
    for (task, system), cells in counts.group_by("task", "system", maintain_order=True):
        item_counts = {(gold, answer): n for gold, answer, n in
                 cells.select("gold", "answer", "item_count").iter_rows()}  # fmt: skip
        answers = sorted({answer for _, answer in item_counts if answer is not None})
        classes = [*answers, *([None] if any(answer is None for _, answer in item_counts) else [])]
        rows = []
        for gold in dict.fromkeys(cells["gold"]):
            row_total = sum(item_counts.get((gold, answer), 0) for answer in classes)
            row_counts = (item_counts.get((gold, answer), 0) for answer in classes)
            rows.append((gold, *(f"{n:,} ({figures.share(n, row_total)})" for n in row_counts)))
        unscored_count = sum(n for (_, answer), n in item_counts.items() if answer is None)
        items = figures.plural(int(cells["item_count"].sum()), "item")
        yield pg.heading(f"{task} · {system}", level=3)
        yield pg.text(f"{items}, {unscored_count:,} unscored. Shares are those of a row.")
        columns = [pg.Column(pg.line(answer or "Unscored"), pg.Align.NUMBER) for answer in classes]
        yield pg.table(("Right answer", *columns), rows)


def _reliability(lake: Lake, benchmark: str) -> Iterator[pg.Block]:
    bins: polars.DataFrame = lake.frame("benchmark_reliability", run_id=benchmark)
    for number, ((task, system), group) in enumerate(
        bins.group_by("task", "system", maintain_order=True)
    ):
        points = [Bin(*row) for row in group.select("mean_said", "share_held", "item_count").rows()]
        title = f"{task} · {system}"
        yield reliability_chart(f"answers-{number}", title, _RELIABILITY, points)
