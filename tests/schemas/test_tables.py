"""One definition per table: what derives from it agrees, and the contract's names are there."""

from typing import Annotated

import duckdb
import pytest
from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose
from schemas.columns import Column, ColumnType, columns_of
from schemas.judgement.committee import Decision
from schemas.outcome import Provenance
from schemas.tables import SERVICE_TABLES, TABLE, TABLES

CONTRACT = {
    "runs": "run_id",
    "ideas": "run_id idea_id cutoff_date group",
    "methods": "run_id idea_id",
    "passages": "run_id idea_id paper_id",
    "papers": "run_id idea_id paper_id year publication_date url",
    "paper_sections": "run_id idea_id paper_id",
    "method_evidence": "run_id idea_id paper_id",
    "soundness_reviews": "run_id idea_id score_0_to_10",
    "dimensions": "run_id idea_id",
    "candidates": "run_id idea_id paper_id",
    "comparisons": "run_id idea_id paper_id dimension score",
    "contribution_reviews": "run_id idea_id",
    "citations": "run_id idea_id paper_id",
    "evidence": "run_id idea_id",
    "persona_reviews": "run_id idea_id dimension",
    "meta_reviews": "run_id idea_id",
    "novelty": "run_id idea_id",
    "llm_calls": "step prompt_tokens completion_tokens cached_tokens "
    "cost_usd latency_seconds queue_seconds attempt",
    "api_calls": "source endpoint status wait_seconds latency_seconds cache_hit packed",
    "failures": "run_id idea_id reason",
    "validations": "run_id",
}
PROVENANCE = {
    *("step", "step_version", "prompt_sha256", "engine", "model_requested", "model_answered"),
    *("seed", "created_at", "shortening"),
}


JUDGEMENTS = (
    *("methods", "method_evidence", "soundness_reviews", "soundness_summaries", "dimensions"),
    *("comparisons", "contribution_reviews", "claims", "knowledge_items", "evidence"),
    *("persona_reviews", "meta_reviews", "novelty"),
)


def test_tables_of_the_contract_have_the_columns_people_query() -> None:
    for name, columns in CONTRACT.items():
        assert set(columns.split()) <= set(TABLE[name].column_names), name
    for name in JUDGEMENTS:
        assert PROVENANCE | {"run_id", "idea_id"} <= set(TABLE[name].column_names), name


def test_definitions_are_consistent_in_themselves() -> None:
    for table in TABLES:
        names = table.column_names
        assert len(names) == len(set(names)), table.name
        assert set(table.key) <= set(names), table.name
        assert "run_id" in names or table in SERVICE_TABLES, table.name
        for column in table.columns:
            assert column.meaning.endswith((".", "…")), (table.name, column.name)
            if column.references:
                target, _, target_column = column.references.partition(".")
                assert target_column in TABLE[target].column_names, (table.name, column.name)


def test_parquet_written_by_the_arrow_schema_has_the_types_of_the_ddl() -> None:
    with duckdb.connect() as connection:
        for table in TABLES:
            connection.execute(table.ddl)
            connection.register("landed", table.arrow_schema.empty_table())
            made = connection.execute(f'describe "{table.name}"').fetchall()
            landed = connection.execute("describe landed").fetchall()
            assert [row[:2] for row in made] == [row[:2] for row in landed], table.name


class Bid(Noun):
    """One offer."""

    cost_usd: float | None = Field(ge=0, description="None: free.")
    decision: Decision | None = Field(description="What came of it.")
    text: Prose = Field(description="The offer.")
    idea_id: Annotated[str, ColumnInfo(references="ideas.idea_id")] = Field(description="For what.")
    seed: int = Field(description="Its own.")
    provenance: Provenance | None


def test_a_field_says_what_its_column_holds() -> None:
    cost, decision, text, idea_id, seed, *made_by = columns_of(Bid)
    assert cost == Column("cost_usd", ColumnType.FLOAT, "NULL: free.", "USD", True, 0)
    assert (decision.allowed, decision.nullable) == (tuple(Decision), True)
    assert text.type is ColumnType.TEXT
    assert idea_id.references == "ideas.idea_id"
    assert (seed.meaning, seed.nullable) == ("Its own.", False)
    assert {column.name for column in made_by} == set(Provenance.model_fields) - {"seed"}
    assert all(column.nullable for column in made_by)


def test_a_field_that_no_column_holds_is_refused_by_name() -> None:
    class Image(Noun):
        pixels: bytes

    with pytest.raises(TypeError, match=r"Image\.pixels"):
        columns_of(Image)
