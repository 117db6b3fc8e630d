"""What readers ask about surveys. Only published ones are seen."""

import duckdb

from schemas.base import Noun
from schemas.errors import UnknownNameError
from schemas.failure import Failure
from schemas.graph import CitationEdge
from schemas.identifiers import RunId
from schemas.paper import Paper
from schemas.survey import (
    Survey,
    SurveyCluster,
    SurveyLayer,
    SurveyPaper,
    SurveyQuery,
    SurveyQuote,
)
from schemas.survey_review import RemovedSentence, SurveyJoin, SurveySection
from schemas.survey_run import SurveyHead
from warehouse.lake import rows_in
from warehouse.rows import Row, noun_of
from warehouse.statements import statement, table_statement

_PARTS: dict[str, tuple[str, type[Noun]]] = {
    "queries": ("survey_queries", SurveyQuery),
    "layers": ("survey_layers", SurveyLayer),
    "papers": ("survey_papers", SurveyPaper),
    "texts": ("survey_papers", Paper),
    "clusters": ("survey_clusters", SurveyCluster),
    "quotes": ("survey_quotes", SurveyQuote),
    "sections": ("survey_sections", SurveySection),
    "removed": ("survey_removed_sentences", RemovedSentence),
    "joins": ("survey_joins", SurveyJoin),
    "links": ("citation_edges", CitationEdge),
    "failures": ("failures", Failure),
}


def survey_heads(connection: duckdb.DuckDBPyConnection) -> tuple[SurveyHead, ...]:
    """Published runs of surveys, newest first."""
    rows = rows_in(connection, statement("queries", "survey_runs"))
    return tuple(noun_of(SurveyHead, row) for row in rows)


def survey_head(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> SurveyHead:
    """One run of surveys. Raises UnknownNameError when it is not published."""
    for head in survey_heads(connection):
        if head.run_id == run_id:
            return head
    raise UnknownNameError(
        f"survey {run_id} is not published; the table survey_runs lists those that are"
    )


def surveys_of(connection: duckdb.DuckDBPyConnection, run_id: RunId) -> tuple[Survey, ...]:
    """Every survey of a run as it was landed, calls apart, in the order of the questions' ids."""
    tables = {name for name, _ in _PARTS.values()}
    rows = {name: _rows(connection, name, run_id) for name in ("surveys", *sorted(tables))}
    return tuple(_survey(row, rows) for row in rows["surveys"])


def _rows(connection: duckdb.DuckDBPyConnection, table: str, run_id: RunId) -> list[Row]:
    sql = table_statement("rows_of_run", table=table)
    return rows_in(connection, sql, {"run_id": run_id})


def _survey(row: Row, rows: dict[str, list[Row]]) -> Survey:
    question_id = row["question_id"]
    parts = {
        field: tuple(
            noun_of(noun, each)
            for each in rows[table]
            if each.get("question_id", each.get("idea_id")) == question_id
        )
        for field, (table, noun) in _PARTS.items()
    }
    return noun_of(Survey, row | parts)
