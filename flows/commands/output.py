"""What commands print: answers on stdout, everything else on stderr."""

import sys
from collections.abc import Sequence
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

from warehouse.answers import IdeaScore, RankedIdea


def print_json(value: Any) -> None:
    """One JSON document on stdout; dates as ISO 8601, models as objects."""
    sys.stdout.write(orjson.dumps(value, default=_plain, option=orjson.OPT_INDENT_2).decode() + "\n")


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return str(value)


def stdout_console() -> Console:
    """Wide enough for tables when the output is a file or a pipe."""
    console = Console()
    return console if console.is_terminal else Console(width=140)


def print_note(text: str) -> None:
    """A line for the person at the terminal, on stderr."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(text, markup=False)


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """A table on stdout."""
    table = Table(*columns, header_style="bold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    stdout_console().print(table)


def number(value: float | None, digits: int = 2) -> str:
    """A score as people read it; `unscored` where there is none."""
    return "unscored" if value is None else f"{value:.{digits}f}"


def print_ranking(ranking: Sequence[RankedIdea], scores: Sequence[IdeaScore]) -> None:
    """The ranking by group, unscored counts beside every score."""
    score_of = {score.idea_id: score for score in scores}
    columns = ["group", "rank", "idea", "score", "soundness", "unscored methods", "contribution", "unscored comparisons"]
    rows = []
    for entry in ranking:
        score = score_of[entry.idea_id]
        comparisons = score.scored_comparison_count + score.unscored_comparison_count
        rows.append(
            [
                entry.group or "–",
                "–" if entry.rank is None else str(entry.rank),
                f"{entry.idea_id}: {entry.title}",
                number(entry.score),
                number(entry.soundness_0_to_10),
                f"{score.unscored_method_count} of {score.method_count}",
                number(entry.contribution_0_to_10),
                f"{score.unscored_comparison_count} of {comparisons}",
            ]
        )
    print_table(columns, rows)
