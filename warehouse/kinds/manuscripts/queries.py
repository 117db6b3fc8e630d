"""What readers ask about check runs. Only published ones are seen."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import duckdb

from schemas.identifiers import RunId
from schemas.reasons import reason_named
from schemas.works.manuscripts import (
    Attempt,
    ManuscriptCheck,
    ManuscriptForm,
    ManuscriptReview,
    PooledWork,
    Problem,
    Vote,
)
from warehouse.lake import rows_in
from warehouse.rows import Row, noun_of
from warehouse.statements import quoted, statement, table_statement
from warehouse.warehouse import Warehouse

_TABLES = (
    *("manuscripts", "attempts", "problems", "manuscript_reviews", "manuscript_evidence"),
    "votes",
)
_AS_STORED = (
    *("manuscript_id", "title", "page_count", "known_reason"),
    *("reference_count", "searched_reference_count", "unanswered_count"),
)


def manuscript_checks(
    connection: duckdb.DuckDBPyConnection, run_id: RunId
) -> tuple[ManuscriptCheck, ...]:
    """Every manuscript of a check run as it was landed, calls and failures apart, by identifier."""
    parts: dict[str, dict[str, list[Row]]] = {}
    for name in _TABLES:
        rows = rows_in(connection, table_statement("rows_of_check", table=name), {"run_id": run_id})
        for row in rows:
            parts.setdefault(row["manuscript_id"], {}).setdefault(name, []).append(row)
    return tuple(_check(found) for found in parts.values())


@contextmanager
def release_views(
    warehouse: Warehouse, run_ids: Sequence[RunId]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The check runs of the lake under the names and columns of a quality checker's release, for
    `quality_checker`.
    """
    with warehouse.reader() as connection:
        chosen = ", ".join(quoted(run_id) for run_id in run_ids) or "null"
        for name in ("checks", "papers", "problems", "votes"):
            sql = statement("check_views", name).replace("$run_ids", chosen)
            connection.execute(f"create or replace temporary view {name} as {sql}")
        yield connection


def _check(found: dict[str, list[Row]]) -> ManuscriptCheck:
    (row,) = found["manuscripts"]
    told = {name: row[name] for name in _AS_STORED}
    return ManuscriptCheck(
        **told,
        unread_reason=reason_named(row["unread_reason"]),
        form=ManuscriptForm(row["form"]),
        content_sha256=row["content_sha256"] or "",
        word_count=row["word_count"] or 0,
        missing_files=tuple(row["missing_files"]),
        missing_preamble_files=tuple(row["missing_preamble_files"]),
        attempts=tuple(noun_of(Attempt, attempt) for attempt in found.get("attempts", ())),
        problems=tuple(noun_of(Problem, problem) for problem in found.get("problems", ())),
        reviews=tuple(
            noun_of(ManuscriptReview, review) for review in found.get("manuscript_reviews", ())
        ),
        works=tuple(noun_of(PooledWork, work) for work in found.get("manuscript_evidence", ())),
        votes=tuple(noun_of(Vote, vote) for vote in found.get("votes", ())),
        failures=(),
    )
