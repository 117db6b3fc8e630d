"""An idea evaluated on papers that cite each other in known words: the words reach the tables."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.tables import IDEA_TABLES, TABLE
from tests.support.evaluated_papers import evaluated_on
from tests.support.evaluations import rows_of
from tests.support.paper_files import write_jsonl
from tests.support.real_papers import anthology_rows
from warehouse.catalogue.connection import in_memory
from warehouse.parquet import arrow_table
from warehouse.statements import statement, table_statement

IDEA = Idea(
    idea_id=IdeaId("segmenting"),
    title="Chinese word segmentation with subwords",
    text=(
        "We will segment Chinese text into words with conditional random fields over subwords"
        " instead"
        " of characters. A finite-state segmenter with a dictionary proposes words, unknown"
        " words are"
        " recognised by their characters, and both are joined by a confidence measure. We"
        " measure F1"
        " on the corpora of the segmentation bakeoff and compare with character tagging."
    ),
    cutoff_date=date(2013, 12, 31),
)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_jsonl(tmp_path_factory.mktemp("papers") / "papers.jsonl", anthology_rows())


@pytest.fixture
def lake() -> Iterator[duckdb.DuckDBPyConnection]:
    """The tables of an idea, empty, and the mart of data sets."""
    with in_memory() as connection:
        for table in IDEA_TABLES:
            connection.execute(table.ddl)
        connection.execute(f"create view data_sets as {statement('marts', 'data_sets')}")
        yield connection


async def test_passages_and_their_sections_reach_the_tables_of_an_evaluation(
    source: Path, tmp_path: Path, lake: duckdb.DuckDBPyConnection
) -> None:
    evaluation = await evaluated_on(source, tmp_path, IDEA)
    for name, rows in rows_of(evaluation).items():
        lake.register("incoming", arrow_table(TABLE[name], rows))
        lake.execute(table_statement("insert", table=name, source="incoming"))

    def asked(sql: str) -> list[tuple[Any, ...]]:
        return lake.execute(sql).fetchall()

    ((edges, passages, sectioned),) = asked(
        "select count(*), sum(len(contexts)),"
        " count(*) filter (where list_contains(list_transform(sections, lambda s: s <> ''), true))"
        " from citation_edges"
    )
    assert edges > 20
    assert passages > edges
    assert sectioned > 0
    assert asked("select count(*) from citation_edges where len(contexts) <> len(sections)") == [
        (0,)
    ]
    ((named, texts),) = asked(
        "select count(*), count(*) filter (where contains(texts, quote)) from ("
        "  select r.quote, coalesce(p.abstract, '') || ' ' || coalesce("
        "    (select string_agg(array_to_string(e.contexts, ' '), ' ') from citation_edges e"
        "     where e.citing_paper_id = r.paper_id), '') as texts"
        "  from resources r join papers p using (paper_id)"
        ")"
    )
    assert 0.9 * named < texts <= named, "but for white space every quote stands there as it is"
    kinds = {kind for (kind,) in asked("select distinct kind from resources")}
    assert {"data_set", "metric", "baseline"} <= kinds
    assert asked("select max(used_by_count) >= 2 from data_sets") == [(True,)]
