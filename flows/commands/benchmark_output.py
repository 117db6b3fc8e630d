"""What `assay benchmark` prints: every score with its interval, published figures beside it and marked as such."""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from dashboards.reports.benchmark_page import PUBLISHED, BenchmarkPage, ScoreLine
from flows.commands.output import print_json, print_note, safe, stdout_console

COLUMNS = ("metric", "part", "system", "value", "95 % interval", "items", "unscored")


def print_benchmarks(page: BenchmarkPage, report_paths: Sequence[Path], *, as_json: bool) -> None:
    """A table per suite on stdout, or one JSON object; what made the scores on stderr."""
    if as_json:
        scores = [
            {"suite": part.suite, "benchmark": _id(page, line), **line.score.model_dump()} for part in page.suites for line in part.lines
        ]
        print_json({"benchmarks": list(page.heads), "scores": scores, "differences": [_plain(line) for line in page.differences]})
    else:
        for part in page.suites:
            stdout_console().print(_table(page, part.suite, part.lines))
        if page.differences:
            stdout_console().print(_difference_table(page))
    for head in page.heads:
        limited = f", {head.item_limit} items drawn by the seed" if head.item_limit is not None else ""
        print_note(f"{head.run_id}: engine {head.engine}, profile {head.profile}{limited}, {head.llm_calls:,} calls")
        if head.incomplete_reason is not None:
            print_note(f"not complete ({head.incomplete_reason.replace('_', ' ')}): the same command goes on from there")
    if any(head.engine == "extractive" for head in page.heads):
        print_note("engine: extractive, an offline baseline without a language model; use --engine litellm:MODEL for real judgement")
    for path in report_paths:
        print_note(f"report: {path}")


def _id(page: BenchmarkPage, line: ScoreLine) -> str | None:
    return page.heads[line.number - 1].run_id if line.number else None


def _plain(line: object) -> dict[str, object]:
    return {name: getattr(line, name) for name in ("number", "task", "system", "value", "lower", "upper", "count", "reason")}


def _table(page: BenchmarkPage, suite: str, lines: Sequence[ScoreLine]) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, title=suite, title_justify="left")
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in ("value", "items", "unscored") else "left", overflow="fold")
    before: object = None
    for line in lines:
        if before is not None and before != line.metric:
            table.add_section()
        before = line.metric
        style = "dim" if line.origin == PUBLISHED else ""
        table.add_row(*(Text(safe(cell)) for cell in _cells(page, line)), style=style)
    return table


def _cells(page: BenchmarkPage, line: ScoreLine) -> tuple[str, ...]:
    score = line.score
    if line.origin == PUBLISHED:
        return line.metric, line.part, f"{line.system} (published)", _figure(score.value), "", "", ""
    system = f"{line.system} ({line.number})" if page.several else line.system
    interval = score.undefined_reason or ""
    if score.lower is not None and score.upper is not None:
        interval = f"{_figure(score.lower)} … {_figure(score.upper)}"
    return line.metric, line.part, system, _figure(score.value), interval, f"{score.count:,}", f"{score.unscored_count:,}"


def _difference_table(page: BenchmarkPage) -> Table:
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False, title="differences: the first less another", title_justify="left")
    for name in ("against", "task", "system", "difference", "95 % interval", "items"):
        table.add_column(name)
    for line in page.differences:
        interval = line.reason or ("" if line.lower is None else f"{_figure(line.lower)} … {_figure(line.upper)}")
        table.add_row(str(line.number), line.task, safe(line.system), _figure(line.value), interval, f"{line.count:,}")
    return table


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4g}"
