"""What readers ask about curated sets. Only published ones are seen."""

import duckdb

from schemas.base import Noun
from schemas.curation import (
    CuratedDrop,
    CuratedReview,
    CuratedSentence,
    CuratedStatement,
    Curation,
)
from schemas.curation_run import CurationHead
from schemas.errors import UnknownNameError
from schemas.failure import Failure
from schemas.identifiers import RunId
from warehouse.lake import rows_in
from warehouse.rows import Row, noun_of
from warehouse.statements import statement, table_statement

_PARTS: dict[str, tuple[str, type[Noun]]] = {
    "reviews": ("curated_reviews", CuratedReview),
    "sentences": ("curated_sentences", CuratedSentence),
    "statements": ("curated_statements", CuratedStatement),
    "drops": ("curated_drops", CuratedDrop),
    "failures": ("failures", Failure),
}


def curation_heads(connection: duckdb.DuckDBPyConnection) -> tuple[CurationHead, ...]:
    """Published runs that curated papers, newest first."""
    rows = rows_in(connection, statement("queries", "curation_runs"))
    return tuple(noun_of(CurationHead, row) for row in rows)


def curation_head(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> CurationHead:
    """One of them. Raises UnknownNameError when it is not published."""
    for head in curation_heads(connection):
        if head.run_id == run_id:
            return head
    raise UnknownNameError(
        f"curation {run_id} is not published; the table curation_runs lists those that are"
    )


def curations_of(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> tuple[Curation, ...]:
    """Every paper of a run as it was landed, calls apart, by the papers' ids."""
    tables = {name for name, _ in _PARTS.values()}
    rows = {name: _rows(connection, name, run_id) for name in ("curated_ideas", *sorted(tables))}
    papers = sorted(rows["curated_ideas"], key=lambda row: str(row["paper_id"]))
    return tuple(_curation(row, rows) for row in papers)


def _rows(connection: duckdb.DuckDBPyConnection, table: str, run_id: RunId) -> list[Row]:
    sql = table_statement("rows_of_run", table=table)
    return rows_in(connection, sql, {"run_id": run_id})


def _curation(row: Row, rows: dict[str, list[Row]]) -> Curation:
    paper_id = row["paper_id"]
    parts = {
        field: tuple(
            noun_of(noun, each)
            for each in rows[table]
            if each.get("paper_id", each.get("idea_id")) == paper_id
        )
        for field, (table, noun) in _PARTS.items()
    }
    return noun_of(Curation, row | parts)
