"""The SQL files: one statement each, named for what it makes or answers."""

from functools import cache
from importlib import resources

MARTS: tuple[str, ...] = (
    "idea_scores",
    "ranked_ideas",
    "group_rankings",
    "run_costs",
    "module_costs",
    "latency_by_step",
    "source_health",
    "authors",
    "concepts",
    "data_sets",
    "attempt_hits",
    "judge_agreement",
)
"""Views over the tables, each after those it reads.

The SQL is `sql/marts/<name>.sql`; its leading comment is its meaning.
"""


@cache
def statement(folder: str, name: str) -> str:
    """Text of `sql/<folder>/<name>.sql`."""
    return (
        resources.files("warehouse")
        .joinpath("sql", folder, f"{name}.sql")
        .read_text("utf-8")
        .strip()
    )


@cache
def names(folder: str) -> tuple[str, ...]:
    """Names of the statements in `sql/<folder>`, in alphabetical order; none without a folder."""
    place = resources.files("warehouse").joinpath("sql", folder)
    files = place.iterdir() if place.is_dir() else ()
    return tuple(
        sorted(file.name.removesuffix(".sql") for file in files if file.name.endswith(".sql"))
    )


def meaning(sql: str) -> str:
    """The leading comment lines of a statement as one text, without its `-- key: value` lines."""
    lines = []
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)


def table_statement(name: str, **parts: str) -> str:
    """`filled("tables", name)`."""
    return filled("tables", name, **parts)


def filled(folder: str, name: str, **parts: str) -> str:
    """`sql/<folder>/<name>.sql` with its `{parts}` filled in: names of tables and columns, never
    what a user wrote.
    """
    return statement(folder, name).format(**parts)


def quoted(text: str) -> str:
    """`text` as an SQL string literal, for the places that take no parameter."""
    return "'" + text.replace("'", "''") + "'"
