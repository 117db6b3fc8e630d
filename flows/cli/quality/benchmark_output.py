"""What `assay benchmark` prints: every score with its interval, published figures beside it and
marked as such.
"""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from dashboards.render import figures
from dashboards.views.benchmark_page import PUBLISHED, BenchmarkPage, Difference, ScoreLine
from flows.benchmarks.expected import BenchmarkEstimate
from flows.cli.answer import Answer, answer_of, print_answer, write_answer
from flows.cli.output import print_engine_note, print_table, stdout_console
from flows.cli.talk import print_note
from flows.cli.terminal import safe

COLUMNS = ("metric", "part", "system", "value", "95 % interval", "items", "unscored")


def print_benchmarks(
    page: BenchmarkPage, report_paths: Sequence[Path], failed: Sequence[str], *, as_json: bool
) -> None:
    """A table per suite on stdout, or one JSON object; what made the scores on stderr.

    Args:
        failed: what kept other suites from being published.
    """
    if as_json:
        write_answer(scores_answer(page, failed, report_paths))
    else:
        for part in page.suites:
            stdout_console().print(_table(page, part.suite, part.lines))
        if page.differences:
            stdout_console().print(_difference_table(page))
    for head in page.heads:
        limited = (
            f", {head.item_limit} items drawn by the seed" if head.item_limit is not None else ""
        )
        judged = (
            f", and those of {_first_named(head.evaluated_run_ids)}"
            if head.evaluated_run_ids
            else ""
        )
        print_note(
            f"{head.run_id}: engine {head.engine}, profile {head.profile}{limited},"
            f" {head.llm_calls:,} calls of its own{judged}"
        )
        if head.incomplete_reason is not None:
            print_note(
                f"not complete ({head.incomplete_reason.replace('_', ' ')}): the same command goes"
                " on from there"
            )
    for note in page.training_notes:
        print_note(note)
    for engine in {head.engine for head in page.heads}:
        print_engine_note(engine)
    for path in report_paths:
        print_note(f"report: {path}")


def scores_answer(
    page: BenchmarkPage, warnings: Sequence[str] = (), report_paths: Sequence[Path] = ()
) -> Answer:
    """Benchmarks as `--json` prints them: a row a score."""
    early = [
        f"{head.run_id} is not complete ({head.incomplete_reason.replace('_', ' ')})"
        for head in page.heads
        if head.incomplete_reason is not None
    ]
    return answer_of(
        "incomplete" if early or warnings else "measured",
        [
            {"suite": part.suite, "benchmark": _id(page, line), **line.score.model_dump()}
            for part in page.suites
            for line in part.lines
        ],
        run=None if page.several else page.heads[0],
        warnings=[*warnings, *early],
        benchmarks=page.heads,
        differences=[_plain(page, line) for line in page.differences],
        reports=report_paths,
    )


def _first_named(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _id(page: BenchmarkPage, line: ScoreLine) -> str | None:
    return page.heads[line.number - 1].run_id if line.number else None


def _plain(page: BenchmarkPage, line: Difference) -> dict[str, object]:
    score = line.score.model_dump(
        include={
            "metric",
            "system",
            "value",
            "lower",
            "upper",
            "interval_method",
            "count",
            "unscored_count",
        }
    )
    pair = {
        "benchmark": page.heads[line.first - 1].run_id,
        "less": page.heads[line.second - 1].run_id,
        "task": line.score.slice,
    }
    return {**pair, **score, "undefined_reason": line.score.undefined_reason}


def _table(page: BenchmarkPage, suite: str, lines: Sequence[ScoreLine]) -> Table:
    table = Table(
        box=SIMPLE_HEAD, header_style="bold", pad_edge=False, title=suite, title_justify="left"
    )
    for name in COLUMNS:
        table.add_column(
            name,
            justify="right" if name in ("value", "items", "unscored") else "left",
            overflow="fold",
        )
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
        return (
            line.metric,
            line.part,
            f"{line.system} (published)",
            figures.measure(score.value),
            "",
            "",
            "",
        )
    system = f"{line.system} ({line.number})" if page.several else line.system
    interval = score.undefined_reason or ""
    if score.lower is not None and score.upper is not None:
        interval = f"{figures.measure(score.lower)} … {figures.measure(score.upper)}"
    return (
        line.metric,
        line.part,
        system,
        figures.measure(score.value),
        interval,
        f"{score.count:,}",
        f"{score.unscored_count:,}",
    )


def _difference_table(page: BenchmarkPage) -> Table:
    table = Table(
        box=SIMPLE_HEAD,
        header_style="bold",
        pad_edge=False,
        title="differences, paired by items",
        title_justify="left",
    )
    for name in (
        "benchmarks",
        "metric",
        "task",
        "system",
        "difference",
        "95 % interval",
        "items",
        "unscored",
    ):
        table.add_column(name, overflow="fold")
    for line in page.differences:
        score = line.score
        interval = score.undefined_reason or ""
        if score.lower is not None and score.upper is not None:
            interval = f"{figures.measure(score.lower)} … {figures.measure(score.upper)}"
        named = (
            f"{line.first} less {line.second}",
            score.metric,
            score.slice,
            safe(score.system),
            figures.measure(score.value),
        )
        table.add_row(*named, interval, f"{score.count:,}", f"{score.unscored_count:,}")
    return table


def print_expected(estimates: Sequence[BenchmarkEstimate], *, as_json: bool) -> None:
    """What suites would ask, one line each."""
    if as_json:
        print_answer("expected", estimates)
        return
    print_table(
        [
            "suite",
            "items",
            "ideas evaluated first",
            "model calls",
            "prompt tokens",
            "completion tokens",
            "cost",
        ],
        [
            [
                one.suite,
                *(f"{count:,}" for count in _counts(one)),
                figures.usd(one.cost_usd) if one.model_calls else "none",
            ]
            for one in estimates
        ],
    )
    print_note(
        "nothing was asked; expected for what has no answer yet, sizes of answers may differ by"
        " half"
    )


def _counts(one: BenchmarkEstimate) -> tuple[int, ...]:
    return one.items, one.evaluated_ideas, one.model_calls, one.prompt_tokens, one.completion_tokens
