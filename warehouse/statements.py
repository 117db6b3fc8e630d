"""SQL files with one statement each."""

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
"""Views over the tables, in order of dependency.

The SQL is in `sql/marts/<name>.sql`; its leading comment is the meaning.
"""


@cache
def statement(folder: str, name: str) -> str:
    """Return the text of `sql/<folder>/<name>.sql`."""
    return (
        resources.files("warehouse")
        .joinpath("sql", folder, f"{name}.sql")
        .read_text("utf-8")
        .strip()
    )


@cache
def names(folder: str) -> tuple[str, ...]:
    """Return the names of the statements in `sql/<folder>`, sorted."""
    place = resources.files("warehouse").joinpath("sql", folder)
    files = place.iterdir() if place.is_dir() else ()
    return tuple(
        sorted(file.name.removesuffix(".sql") for file in files if file.name.endswith(".sql"))
    )


def meaning(sql: str) -> str:
    """Return the leading comment of a statement as one line."""
    lines = []
    for line in sql.splitlines():
        if not line.startswith("--"):
            break
        lines.append(line.removeprefix("--").strip())
    return " ".join(lines)


def table_statement(name: str, **parts: str) -> str:
    return filled("tables", name, **parts)


def filled(folder: str, name: str, **parts: str) -> str:
    """Return `sql/<folder>/<name>.sql` with its `{parts}` filled in.

    Parts are names of tables and columns, never user input.
    """
    return statement(folder, name).format(**parts)


def quoted(text: str) -> str:
    """Return an SQL string literal, where parameters are not allowed."""
    return "'" + text.replace("'", "''") + "'"
