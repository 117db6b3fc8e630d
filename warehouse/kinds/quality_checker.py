"""Outputs of the quality checker: summaries as in its Tables 2 and 3, and import as check runs.

The source of summaries is a release (Parquet) or check runs of the lake.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import duckdb
from pydantic import Field

from schemas.base import Noun
from schemas.errors import ConfigurationError
from schemas.identifiers import RunId, content_hash
from schemas.judging import Wording
from schemas.reasons import Reason
from schemas.works.check_run import CHECKS, CheckHead
from schemas.works.manuscripts import Attempt, ManuscriptCheck, ManuscriptForm, Problem, Vote
from warehouse.catalogue.connection import Connection, in_memory
from warehouse.lake import rows_in
from warehouse.row_models import Publication
from warehouse.rows import Row
from warehouse.statements import quoted, statement
from warehouse.units.kind import kind_of
from warehouse.units.landing import read_head, write_head
from warehouse.units.publish import publish
from warehouse.units.unit_rows import land_unit
from warehouse.warehouse import Warehouse

RELEASE_TABLES: tuple[str, ...] = ("checks", "papers", "problems", "votes")
DATASET = "withdrarxiv-check"
_FORMS = {"pdf": ManuscriptForm.PDF, "latex": ManuscriptForm.LATEX, "ocr": ManuscriptForm.TEXT}
_MOST_PROBLEMS = 5
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


def import_release(folder: Path, warehouse: Warehouse) -> tuple[Publication, ...]:
    """Land, validate and publish the release in `folder`.

    The folder holds `papers`, `checks`, `problems` and `votes` as Parquet. A problem's position in
    its list becomes its rank. A vote that the release lacks is absent, not a no; its "no" votes
    about papers without problems concern no problem and follow from the counts. A repeated import
    changes nothing.

    Raises:
        ConfigurationError: the folder lacks a table, or a table lacks a column.
        PublicationError, TransientError: as `publish`.
    """
    tables = _read(folder)
    votes, problems = _by_paper(tables["votes"]), _by_paper(tables["problems"])
    papers = {row["entry_id"]: row for row in tables["papers"]}
    digest = content_hash(
        DATASET,
        *(content_hash((folder / f"{name}.parquet").read_bytes().hex()) for name in RELEASE_TABLES),
        length=12,
    )
    checkers: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in tables["checks"]:
        checkers[row["model"], row["approach"]].append(row)
    publications = []
    for (model, approach), rows in sorted(checkers.items()):
        checks = [_check(row, papers, problems, votes) for row in rows]
        run_id = RunId(f"import-{digest}-{approach}-{model}")
        head = _head(warehouse, run_id, checks, rows[0])
        if read_head(warehouse, kind_of(CHECKS), head.run_id) is None:
            for check in checks:
                now = datetime.now(UTC)
                land_unit(warehouse, kind_of(CHECKS), head.run_id, check, head.started_at, now)
            write_head(warehouse, kind_of(CHECKS), head)
        publications.append(publish(warehouse, kind_of(CHECKS), head))
    return tuple(publications)


def _read(folder: Path) -> dict[str, list[Row]]:
    columns_of = {
        "papers": "entry_id, paper_id, title, retraction_comment, page_count",
        "checks": (
            "model, approach, entry_id, problem_count, input_tokens, thinking_tokens, output_tokens"
        ),
        "problems": "model, approach, entry_id, problem_id, problem, location, explanation",
        "votes": "model, approach, entry_id, problem_id, judge, hit",
    }
    with open_release(folder) as connection:
        return {
            name: rows_in(connection, f"from {name} select {columns}")
            for name, columns in columns_of.items()
        }


def _by_paper(rows: Sequence[Row]) -> dict[tuple[str, str, int], list[Row]]:
    groups: dict[tuple[str, str, int], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["model"], row["approach"], row["entry_id"]].append(row)
    return groups


def _head(
    warehouse: Warehouse, run_id: RunId, checks: Sequence[ManuscriptCheck], row: Row
) -> CheckHead:
    existing = read_head(warehouse, kind_of(CHECKS), run_id)
    now = datetime.now(UTC)
    return CheckHead(
        run_id=run_id,
        engine=row["model"],
        judges=tuple(sorted({vote.judge for check in checks for vote in check.votes})),
        form=row["approach"],
        dataset=DATASET,
        maximum_problems=_MOST_PROBLEMS,
        wording=Wording.PUBLISHED,
        attempt_count=1,
        repetition_count=1,
        seed=0,
        manuscript_count=len(checks),
        started_at=existing.started_at if existing is not None else now,
        finished_at=existing.finished_at if existing is not None else now,
    )


def _check(
    row: Row,
    papers: dict[int, Row],
    problems: dict[tuple[str, str, int], list[Row]],
    votes: dict[tuple[str, str, int], list[Row]],
) -> ManuscriptCheck:
    key, paper = (row["model"], row["approach"], row["entry_id"]), papers[row["entry_id"]]
    ranks = {
        each["problem_id"]: rank
        for rank, each in enumerate(sorted(problems[key], key=_order), start=1)
    }
    problem_votes = [vote for vote in votes[key] if vote["problem_id"] is not None]
    is_unanswered = row["problem_count"] is None
    attempt = Attempt(
        attempt=1,
        problem_count=row["problem_count"],
        unscored_reason=Reason.REPLY_EMPTY if is_unanswered else None,
        unscored_detail="the release has no answer" if is_unanswered else "",
        input_tokens=row["input_tokens"],
        thinking_tokens=row["thinking_tokens"],
        output_tokens=row["output_tokens"],
    )
    return ManuscriptCheck(
        manuscript_id=paper["paper_id"],
        title=paper["title"] or "",
        form=_FORMS.get(row["approach"], ManuscriptForm.TEXT),
        content_sha256=None,
        word_count=None,
        page_count=paper["page_count"],
        known_reason=paper["retraction_comment"],
        attempts=(attempt,),
        problems=tuple(_problem(each, ranks) for each in sorted(problems[key], key=_order)),
        votes=tuple(
            _vote(each, ranks)
            for each in sorted(problem_votes, key=lambda vote: (vote["judge"], vote["problem_id"]))
        ),
        failures=(),
    )


def _order(row: Row) -> int:
    return int(row["problem_id"])


def _problem(row: Row, ranks: dict[int, int]) -> Problem:
    return Problem(
        problem_id=f"a1p{ranks[row['problem_id']]}",
        attempt=1,
        rank=ranks[row["problem_id"]],
        problem=row["problem"] or "(not stated)",
        location=row["location"] or "",
        explanation=row["explanation"] or "",
    )


def _vote(row: Row, ranks: dict[int, int]) -> Vote:
    reason = Reason.REPLY_EMPTY if row["hit"] is None else None
    return Vote(
        problem_id=f"a1p{ranks[row['problem_id']]}",
        judge=row["judge"],
        repetition=1,
        hit=row["hit"],
        unscored_reason=reason,
        unscored_detail="the release has no answer" if reason else "",
        provenance=None,
    )
