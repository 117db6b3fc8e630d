"""Output of commands: answers on stdout, everything else on stderr."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from dashboards.render.figures import usd
from dashboards.render.formats.report_format import ReportFormat, format_or_markdown
from dashboards.render.wording import unscored_because, why_unranked
from flows.cli.answer import EXIT_DONE, Answer, print_answer
from flows.cli.terminal import print_note, print_warning, safe
from schemas.base import Noun
from schemas.choices import EXTRACTIVE
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from schemas.options.values import flag_of
from schemas.reasons import Passes, Reason
from schemas.run import Budget
from schemas.work import Summary
from tasks.accounting.budgets import SharedBudget
from warehouse.row_models import IdeaScore, RankedIdea
from warehouse.warehouse import Warehouse

if TYPE_CHECKING:  # importing a campaign would import Prefect before its server is set
    from dashboards.render.page import Page
    from flows.run.estimate import WorkEstimate

RowT = TypeVar("RowT")
NounT = TypeVar("NounT", bound=Noun)
PIPED_COLUMNS = 140
# Characters a readable column needs; narrower tables become lists of records.
NARROWEST_COLUMN = 12


def stdout_console() -> Console:
    """Return a console as wide as the terminal or COLUMNS.

    Files and pipes get `PIPED_COLUMNS`, wide enough for tables.
    """
    console = Console()
    return (
        console if console.is_terminal or "COLUMNS" in os.environ else Console(width=PIPED_COLUMNS)
    )


def print_engine_note(engine: str, judge_text: str = "an offline baseline") -> None:
    if engine == EXTRACTIVE.text:
        print_note(
            f"engine: extractive, {judge_text} without a language model; "
            "use --engine litellm:MODEL for real judgement"
        )


def print_log_note(path: Path | None) -> None:
    if path is not None:
        print_note(f"log:    {path}")


def early_end_lines(
    what: str,
    reason: Reason | None,
    warehouse: Path,
    scope: "RunId",
    budget: "Budget",
    unit: str = "idea",
) -> tuple[str, ...]:
    """Return why work ended early and how to resume it; empty if it is complete.

    Args:
        what: the work, such as `the check`.
        scope: name under which its spending is counted.
        unit: in the name of the limit per unit.
    """
    if reason is None:
        return ()
    if reason == Reason.BUDGET_EXHAUSTED:
        path = Warehouse(warehouse).budgets
        return (budget_line(SharedBudget(path, scope, budget), unit),)
    other = reason.passes is Passes.WITH_OTHER_SETTINGS
    return (
        f"{what} ended early ({reason.replace('_', ' ')}):"
        f" {'with another setting ' if other else ''}the same command resumes it",
    )


def budget_line(budget: SharedBudget, unit: str = "idea") -> str:
    """Return which limit ended the work, and how to continue."""
    bounds = {
        field: bound for field, bound in budget.budget.model_dump().items() if bound is not None
    }
    reached_fields = [field for field in budget.reached() if field in bounds] or list(bounds)
    flags = {
        field: flag_of(field.replace("maximum", "max").replace("per_idea", f"per_{unit}"))
        for field in reached_fields
    }
    bounds_in_words = " or ".join(f"{flags[field]} {bounds[field]:g}" for field in reached_fields)
    return (
        f"stopped by {bounds_in_words or 'the bound of an earlier command'}: the same command with a higher"
        " limit resumes it, and pays for nothing twice"
    )


def write_lookup(output: Path, answer: Answer, page: "Page") -> None:
    """Write found papers or resources: as JSON, else as a page.

    Unknown file extensions mean Markdown.

    Raises:
        ConfigurationError: the format is a bibliography, or Typst or Pandoc refuses.
    """
    from dashboards.render.formats.report_file import document

    form = format_or_markdown(output)
    if form is ReportFormat.BIB:
        raise ConfigurationError(f"--output {output}: end it in .md, .html, .pdf, .docx or .json")
    json_bytes = f"{answer.document()}\n".encode()
    output.write_bytes(json_bytes if form is ReportFormat.JSON else document(page, form))
    print_note(f"written: {output}")


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a table with numbers at the right; a wide one as `column: value` lines."""
    console = stdout_console()
    if len(columns) * NARROWEST_COLUMN > console.width:
        for line in _records(columns, rows) if rows else map(Text, map(safe, columns)):
            console.print(line, soft_wrap=True, highlight=False)
        return
    table = Table(header_style="bold")
    for number, name in enumerate(columns):
        table.add_column(
            Text(safe(name)), justify=_side(row[number] for row in rows), overflow="fold"
        )
    for row in rows:
        table.add_row(*(Text(_cell_text(cell)) for cell in row))
    console.print(table)


def print_columns(rows: Sequence[RowT], columns: Mapping[str, Callable[[RowT], object]]) -> None:
    """Print a table with a column for each function in `columns`."""
    print_table([*columns], [[cell(each) for cell in columns.values()] for each in rows])


def print_listed(
    rows: Sequence[NounT], columns: Mapping[str, Callable[[NounT], object]], *, as_json: bool
) -> int:
    """Print rows as a table, or whole with `--json`; return the exit code."""
    if as_json:
        print_answer("listed", rows)
    else:
        print_columns(rows, columns)
    return EXIT_DONE


def print_estimate(estimate: "WorkEstimate", *, as_json: bool) -> int:
    """Print the estimate of declared work; return the exit code."""
    if as_json:
        values = estimate.model_dump(exclude={"steps", "counts", "note", "lost"}) | estimate.counts
        print_answer("expected", estimate.steps, warnings=estimate.lost, **values)
        return EXIT_DONE
    print_columns(
        estimate.steps,
        {
            "step": lambda each: each.step,
            "calls": lambda each: round(each.calls),
            "prompt tokens": lambda each: round(each.prompt_tokens),
            "completion tokens": lambda each: round(each.completion_tokens),
            "cost": lambda each: usd(each.cost_usd),
        },
    )
    counts = {name.replace("_", " "): count for name, count in estimate.counts.items()} | {
        "model calls": estimate.model_calls,
        "prompt tokens": estimate.prompt_tokens,
        "completion tokens": estimate.completion_tokens,
    }
    cost = usd(estimate.cost_usd) if estimate.model_calls else "none"
    rows = [[name, f"{count:,}"] for name, count in counts.items()]
    print_table(["the whole run", "expected"], [*rows, ["cost", cost]])
    for line in estimate.lost:
        print_warning(safe(line))
    print_note(f"nothing was asked; {estimate.note}")
    return EXIT_DONE


def was_published(summary: "Summary[Any]", *, as_json: bool) -> bool:
    if summary.published:
        return True
    failure_lines = (f"not published: {each}" for each in summary.failed_expectations)
    lines = (*summary.remarks, *failure_lines)
    for line in lines:
        print_warning(safe(line))
    if not as_json:
        print_log_note(summary.log_path)
        return False
    print_answer(
        "not_published",
        run=summary.head,
        warnings=lines,
        published=False,
        unchanged=summary.unchanged,
        failed_expectations=summary.failed_expectations,
        reports=summary.report_paths,
        log=summary.log_path,
    )
    return False


def print_where(
    summary: "Summary[Any]", early_end: Iterable[str], reports: Iterable[Path] | None = None
) -> None:
    for path in summary.report_paths if reports is None else reports:
        print_note(f"report: {path}")
    print_log_note(summary.log_path)
    for line in early_end:
        print_warning(line)


def _records(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[Text]:
    width = max(len(name) for name in columns)
    for number, row in enumerate(rows, start=1):
        yield Text(f"─ row {number:,} of {len(rows):,}", style="bold")
        for name, cell in zip(columns, row, strict=True):
            yield Text(f"{safe(name):>{width}}: {_cell_text(cell)}")


def _side(cells: Iterator[object]) -> Literal["left", "right"]:
    values = [cell for cell in cells if cell is not None]
    return "right" if values and all(isinstance(cell, int | float) for cell in values) else "left"


def _cell_text(cell: object) -> str:
    return "" if cell is None else safe(str(cell))


def number(value: float | None, digits: int = 2) -> str:
    return "unscored" if value is None else f"{value:.{digits}f}"


def duration(hours: float) -> str:
    """Return `2 min`, `3.5 h`: few digits, as it is a prediction."""
    return f"{hours:.1f} h" if hours >= 1 else f"{max(1, round(hours * 60))} min"


def ranking_table(
    columns: Sequence[str],
    ideas: Sequence[RankedIdea],
    cells: Callable[[RankedIdea], Sequence[str | Group]],
) -> Table:
    """Return a ranking by group; identifiers are whole, titles get the rest."""
    table = Table(box=SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for name in columns:
        if name == "idea":
            table.add_column(name, overflow="fold", ratio=1)
        else:
            table.add_column(name, justify="right")
    before: object = object()
    for entry in ideas:
        if entry.group != before:
            table.add_section()
            group = Text(safe(entry.group or "no group"), style="bold")
            table.add_row(*[""] * columns.index("idea"), group)
            before = entry.group
        table.add_row(*cells(entry))
    return table


def idea_cell(entry: RankedIdea, *reasons: str) -> Group:
    """Return identifier and title of an idea, with problems of its place."""
    title = safe(" ".join(entry.title.split()))
    return Group(
        Text(safe(entry.idea_id), overflow="fold"),
        Text(title, style="dim", no_wrap=True, overflow="ellipsis"),
        *(Text(reason, style="yellow") for reason in (why_unranked(entry), *reasons) if reason),
    )


# Name, flag of a score that requested it, and text of a cell.
_COLUMNS: tuple[tuple[str, str, Callable[[RankedIdea, IdeaScore], str]], ...] = (
    ("soundness", "soundness_requested", lambda idea, _: number(idea.soundness_0_to_10)),
    (
        "unscored\nmethods",
        "soundness_requested",
        lambda _, score: f"{score.unscored_method_count} of {score.method_count}",
    ),
    ("contribution", "contribution_requested", lambda idea, _: number(idea.contribution_0_to_10)),
    (
        "unscored\ncomparisons",
        "contribution_requested",
        lambda _, score: (
            f"{score.unscored_comparison_count} of"
            f" {score.scored_comparison_count + score.unscored_comparison_count}"
        ),
    ),
    ("committee", "committee_requested", lambda _, score: number(score.committee_0_to_10)),
    (
        "unscored\nreviews",
        "committee_requested",
        lambda _, score: f"{score.unscored_persona_review_count} of {score.persona_review_count}",
    ),
    ("novelty", "novelty_requested", lambda _, score: number(score.novelty_0_to_10)),
)
_ALWAYS_SHOWN = ("soundness_requested", "contribution_requested")


def print_ranking(ranking: Sequence[RankedIdea], scores: Sequence[IdeaScore]) -> None:
    """Print a ranking with unscored counts next to every score."""
    score_of = {score.idea_id: score for score in scores}
    columns = [
        column
        for column in _COLUMNS
        if column[1] in _ALWAYS_SHOWN or any(getattr(score, column[1]) for score in scores)
    ]

    def cells(entry: RankedIdea) -> tuple[str | Group, ...]:
        score = score_of[entry.idea_id]
        reason = score.state_reason if score.score is None else None
        return (
            "–" if entry.rank is None else str(entry.rank),
            idea_cell(entry, "" if reason is None else unscored_because(reason)),
            number(entry.score),
            *(text(entry, score) if getattr(score, flag) else "–" for _, flag, text in columns),
        )

    names = ("rank", "idea", "score", *(name for name, _, _ in columns))
    stdout_console().print(ranking_table(names, ranking, cells))
