"""Report on benchmarks: measured scores next to published ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dashboards.render import figures, wording
from dashboards.render import page as pg
from dashboards.render.charts.reliability_chart import reliability_charts
from dashboards.views.benchmark_lines import (
    PUBLISHED,
    WHOLE,
    ScoreLine,
    ScoreRow,
    SuitePart,
    lines_of,
    training_note,
)
from dashboards.views.published_page import PublishedPage
from schemas.identifiers import RunId
from schemas.judgement.benchmark import BenchmarkHead, BenchmarkRun, Difference
from warehouse.kinds.benchmarks import BENCHMARKS
from warehouse.units.published_work import published_head, published_units
from warehouse.warehouse import Warehouse


@dataclass(frozen=True)
class BenchmarkPage(PublishedPage):
    """Benchmarks of the report, numbered from 1, the run's own first.

    Attributes:
        warehouse: warehouse of all of them.
        others: the compared ones, with their suites.
        differences: differences between them.
    """

    warehouse: Warehouse
    head: BenchmarkHead
    runs: tuple[BenchmarkRun, ...]
    others: tuple[tuple[BenchmarkHead, tuple[BenchmarkRun, ...]], ...] = ()
    differences: tuple[Difference, ...] = ()

    @property
    def heads(self) -> tuple[BenchmarkHead, ...]:
        return (self.head, *(head for head, _ in self.others))

    @property
    def several(self) -> bool:
        return bool(self.others)

    @property
    def run(self) -> BenchmarkHead | None:
        return None if self.several else self.head

    @cached_property
    def suites(self) -> tuple[SuitePart, ...]:
        benchmarks = ((self.head, self.runs), *self.others)
        names = dict.fromkeys(head.suite for head in self.heads)
        return tuple(SuitePart(name, lines_of(name, benchmarks)) for name in names)

    @property
    def units(self) -> tuple[ScoreRow, ...]:
        """Every score of the suites, as the tables show them."""
        return tuple(
            ScoreRow(**line.score.model_dump(), benchmark=self._run_id(line.number))
            for part in self.suites
            for line in part.lines
        )

    def _run_id(self, number: int) -> RunId | None:
        return self.heads[number - 1].run_id if number else None

    def json_fields(self) -> dict[str, Any]:
        differences = [
            {
                "benchmark": self._run_id(each.first),
                "less": self._run_id(each.second),
                "task": each.score.slice,
                **each.score.model_dump(include=_OF_A_DIFFERENCE),
            }
            for each in self.differences
        ]
        return {"benchmarks": self.heads, "differences": differences}

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings about judges whose training data may contain the answers."""
        return tuple(dict.fromkeys(filter(None, map(training_note, self.heads))))

    @property
    def faults(self) -> tuple[str, ...]:
        return tuple(f"{each.subject}: {each.detail}" for run in self.runs for each in run.failures)

    def page(self) -> pg.Page:
        """Return the results, then every figure and its source."""
        name = f"Benchmark {' and '.join(dict.fromkeys(head.suite for head in self.heads))}"
        title = "Benchmarks held against each other" if self.several else name
        return pg.Page(pg.line(title), tuple(_blocks(self)), name)

    def short_page(self) -> pg.Page:
        """Return every score with its interval, next to published ones."""
        return pg.Page((), tuple(_short_blocks(self)))


_OF_A_DIFFERENCE = {
    *("metric", "system", "value", "lower", "upper", "interval_method"),
    *("count", "unscored_count", "undefined_reason"),
}


def benchmark_page(warehouse: Warehouse, run_id: RunId) -> BenchmarkPage:
    """Return a published benchmark; raise UnknownNameError without any."""
    with warehouse.reader() as connection:
        head = published_head(connection, BENCHMARKS, run_id)
        return BenchmarkPage(warehouse, head, published_units(connection, BENCHMARKS, run_id))


def _short_blocks(page: BenchmarkPage) -> Iterator[pg.Block]:
    for part in page.suites:
        yield from (pg.heading(part.suite), _table(part, page.several, whole=False))
    if page.differences:
        yield from (pg.heading("Differences, paired by items"), _differences(page.differences))
    yield pg.numbered_list(map(_provenance_line, page.heads))


def _blocks(page: BenchmarkPage) -> Iterator[pg.Block]:
    first = page.heads[0]
    yield from (pg.text(pg.strong(part.answer)) for part in page.suites)
    yield from map(pg.note, wording.banners(first.engine, first.literature))
    yield from map(pg.note, page.notes)
    for head in page.heads:
        if head.incomplete_reason is not None:
            reason = wording.reason(head.incomplete_reason)
            hint = "What is missing is unscored, not zero; the same command resumes it."
            yield pg.note(pg.code(head.run_id), f" is not complete: {reason}. {hint}")
    if page.differences:
        yield from (
            pg.heading("Differences"),
            pg.text(_DIFFERENCES),
            _differences(page.differences),
        )
    for part in page.suites:
        if part.headline:
            yield from _headline(part, several=page.several)
    yield pg.numbered_list(map(_provenance_line, page.heads))
    yield pg.text("Rows marked ", pg.emphasis("published"), _PUBLISHED_NOTE)
    for part in page.suites:
        yield from (pg.heading(f"Every figure of {part.suite}"), _figures(part, page.several))
    charts = reliability_charts(each.score for part in page.suites for each in part.measured_lines)
    if charts:
        yield pg.heading("Reliability")
        yield from charts
    yield from (pg.heading("Provenance"), _provenance(page.heads))


_DIFFERENCES = (
    "The first benchmark less the other, over the items that both answered; an interval without 0"
    " tells the two apart at 5 %. Above 0 the first has more of the metric: better for accuracy and"
    " macro_f1, worse for mean_absolute_error."
)
_PUBLISHED_NOTE = (
    " are figures printed in a paper, not measured here: other models, other splits and other"
    " judges made them. Intervals cover 95 %. Unscored items had no answer and are no part of a"
    " value."
)


def _differences(differences: Sequence[Difference]) -> pg.Table:
    rows = []
    for each in differences:
        score = each.score
        value = f"undefined: {score.undefined_reason}"
        if score.value is not None:
            value = figures.difference(score.value)
        interval = figures.between(score.lower, score.upper, figures.difference)
        if score.lower is not None:
            interval += f" ({score.interval_method})"
        pair = f"{each.first} less {each.second}"
        counts = (score.count, score.unscored_count)
        rows.append((pair, score.metric, score.slice, score.system, value, interval, *counts))
    columns = ("Benchmarks", "Metric", "Task", "System", "Difference:", "95 % interval")
    return pg.table((*columns, "Items:", "Unscored:"), rows)


def _headline(part: SuitePart, *, several: bool) -> Iterator[pg.Block]:
    line = part.headline[0]
    part_text = "" if line.part == WHOLE else f", {line.part}"
    yield pg.heading(f"{part.suite}: {line.metric.replace('_', ' ')}{part_text}")
    if part.meaning is not None:
        better = part.meaning.better
        yield pg.text(part.meaning.meaning, f" {better.capitalize()} is better." * bool(better))
    columns = ("System", "Value:", "95 % interval", "Items:", "Unscored:", "Origin")
    yield pg.table(columns, (_cells(each, several) for each in part.headline))


def _figures(part: SuitePart, several: bool) -> pg.Fold:
    meanings = [(one.name, one.meaning, one.better or None) for one in part.meanings]
    return pg.Fold(
        f"{figures.plural(len(part.lines), 'figure')}, and what their metrics say",
        (
            _table(part, several),
            pg.heading(f"What the metrics of {part.suite} say", level=3),
            pg.table(("Metric", "Says", "Better"), meanings),
        ),
    )


def _table(part: SuitePart, several: bool, *, whole: bool = True) -> pg.Table:
    columns = ("Metric", "Part", "System", "Value:", "95 % interval", "Items:", "Unscored:")
    rows = [(one.metric, one.part, *_cells(one, several, whole=whole)) for one in part.lines]
    return pg.table((*columns, "Origin"), rows)


def _cells(each: ScoreLine, several: bool, *, whole: bool = False) -> tuple[pg.Part, ...]:
    """Return system, value, interval, items, unscored items and origin of a score.

    Args:
        whole: with the interval's method and the source.
    """
    score, is_published, more = each.score, each.origin == PUBLISHED, ""
    interval = figures.between(score.lower, score.upper, figures.measure)
    if whole and score.lower is not None:
        interval += f" ({score.interval_method})"
    if whole and is_published:
        more = f": {score.published_source}"
    elif score.undefined_reason is not None:
        more = f"; undefined: {score.undefined_reason}"
    return (
        f"{each.system} ({each.number})" if several and each.number else each.system,
        figures.measure(score.value),
        interval,
        None if is_published and not score.count else score.count,
        None if is_published else score.unscored_count,
        pg.line(pg.emphasis("published") if is_published else "measured", more),
    )


def _provenance_line(head: BenchmarkHead) -> pg.Line:
    model_note = (
        (" (answered by ", pg.code(head.model_answered), ")") if head.model_answered else ()
    )
    sample_note = (
        f"{figures.plural(head.item_limit or 0, 'item')} drawn by the seed, not the whole set"
    )
    return pg.facts(
        pg.strong(head.suite),
        pg.line("engine ", pg.code(head.engine), *model_note),
        pg.line("profile ", pg.code(head.profile)),
        f"seed {head.seed}",
        "judge asked as in the published work" if head.judge == "published" else "",
        pg.strong(sample_note) if head.item_limit is not None else "",
        head.finished_at,
        pg.code(head.run_id),
    ).line


def _provenance(heads: Sequence[BenchmarkHead]) -> pg.Fold:
    rows = [
        (
            place,
            pg.code(head.run_id),
            wording.literature(head.literature) if head.literature else "–",
            head.llm_calls,
            head.prompt_tokens + head.completion_tokens,
            figures.usd(head.cost_usd),
            ", ".join(head.evaluated_run_ids) or "–",
            pg.code(head.data_sha256[:12]),
            pg.code(head.prompt_sha256[:12]),
            head.assay_version,
        )
        for place, head in enumerate(heads, start=1)
    ]
    columns = (":", "Benchmark", "Literature", "Calls:", "Tokens:", "Cost:", "Judged runs", "Data")
    booking_note = (
        "Calls and cost are those of the suite itself; evaluations that it judges are booked on"
        " their runs."
    )
    content = (pg.table((*columns, "Prompts", "Version"), rows), pg.text(booking_note))
    return pg.Fold("Data, prompts, calls and cost", content)
