"""Summaries of quality checker outputs, as in its Tables 2 and 3.

The source is a release (Parquet) or check runs of the lake.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import duckdb
from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId
from warehouse.catalogue.connection import Connection, in_memory
from warehouse.lake import rows_in
from warehouse.statements import quoted, statement
from warehouse.warehouse import Warehouse

RELEASE_TABLES: tuple[str, ...] = ("checks", "papers", "problems", "votes")
RowT = TypeVar("RowT", bound=Noun)
Source = Path | Connection
"""Folder of a release, or a connection from `release_views`."""


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; thinking tokens are priced as output."""

    input_usd_per_million: float
    output_usd_per_million: float


class CheckerUsage(Noun):
    """Problems and tokens per paper of one checker (Table 2). None: no check has the figure."""

    model: str
    approach: str = Field(description="pdf, ocr or latex.")
    paper_count: int
    mean_problems: float | None
    first_quartile_problems: float | None
    third_quartile_problems: float | None
    nothing_found_share: float | None = Field(
        description="Share of papers without a reported problem, 0 to 1."
    )
    mean_input_tokens: float | None
    mean_thinking_tokens: float | None
    mean_output_tokens: float | None
    without_tokens_count: int = Field(
        description=(
            "Checks that lack a token figure; each mean of tokens is over those that have it."
        )
    )


class CheckerCost(Noun):
    """Dollars per paper of one checker. None: no price was given for it."""

    model: str
    approach: str
    paper_count: int
    mean_cost_usd: float | None


class JudgeHits(Noun):
    """Papers that one judge called hit by one checker (Table 3)."""

    model: str
    approach: str
    judge: str
    paper_count: int
    hit_count: int
    undecided_count: int


class JointHits(Noun):
    """Papers that the judges together called hit by one checker (Table 2, "Hit Rate")."""

    model: str
    approach: str
    paper_count: int
    all_hit_count: int
    majority_hit_count: int
    any_hit_count: int
    same_problem_hit_count: int = Field(
        description=(
            "All judges on one and the same problem; a lower bound, judges stop at their first hit."
        )
    )
    undecided_count: int


@contextmanager
def open_release(source: Source) -> Iterator[Connection]:
    """Yield a connection with the tables of a release.

    Raises:
        ConfigurationError: the folder lacks a table, or a table lacks a column.
    """
    if not isinstance(source, Path):
        yield source
        return
    files = {table: source / f"{table}.parquet" for table in RELEASE_TABLES}
    missing = [file.name for file in files.values() if not file.is_file()]
    if missing:
        raise ConfigurationError(
            f"{source} lacks {', '.join(missing)}: point at the release's folder"
        )
    with in_memory() as connection:
        for table, file in files.items():
            sql = f"create view {table} as from read_parquet({quoted(str(file))})"
            connection.execute(sql)
        try:
            yield connection
        except duckdb.Error as error:
            raise ConfigurationError(
                f"{source} is not the release of the quality checker: {str(error).splitlines()[0]}"
            ) from error


def _rows(
    source: Source, name: str, row: type[RowT], parameters: Mapping[str, object] | None = None
) -> tuple[RowT, ...]:
    with open_release(source) as connection:
        rows = rows_in(connection, statement("quality_checker", name), parameters)
    return tuple(row(**each) for each in rows)


def checker_usage(source: Source) -> tuple[CheckerUsage, ...]:
    """Return problems and tokens per paper, by model and approach.

    Raises:
        ConfigurationError: as `open_release`, as do the functions below.
    """
    return _rows(source, "usage", CheckerUsage)


def checker_costs(source: Source, prices: Mapping[str, Price]) -> tuple[CheckerCost, ...]:
    names = sorted(prices)
    parameters = {
        "models": names,
        "input_usd_per_million": [prices[name].input_usd_per_million for name in names],
        "output_usd_per_million": [prices[name].output_usd_per_million for name in names],
    }
    return _rows(source, "costs", CheckerCost, parameters)


def judge_hits(source: Source) -> tuple[JudgeHits, ...]:
    return _rows(source, "judge_hits", JudgeHits)


def joint_hits(source: Source) -> tuple[JointHits, ...]:
    """Return hits of the judges together, by model and approach."""
    return _rows(source, "joint_hits", JointHits)


@contextmanager
def release_views(warehouse: Warehouse, run_ids: Sequence[RunId]) -> Iterator[Connection]:
    """Yield the lake's check runs under the tables and columns of a release."""
    with warehouse.reader() as connection:
        run_list = ", ".join(quoted(run_id) for run_id in run_ids) or "null"
        for name in RELEASE_TABLES:
            sql = statement("check_views", name).replace("$run_ids", run_list)
            connection.execute(f"create or replace temporary view {name} as {sql}")
        yield connection
