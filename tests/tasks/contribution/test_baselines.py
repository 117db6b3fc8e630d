"""The extractive answers: deterministic, within bounds, and about the papers they cite."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.judgement.contribution import Overlap
from tasks.contribution.steps.compare_paper import ComparisonInput, baseline_comparison
from tasks.contribution.steps.contribution_queries import (
    QueriesInput,
    QueriesReply,
    baseline_queries,
)
from tasks.contribution.steps.contribution_review import (
    ReviewInput,
    ReviewReply,
    ShownComparison,
    baseline_review,
)
from tasks.contribution.steps.extract_dimensions import (
    DimensionsInput,
    DimensionsReply,
    ShownDimension,
    baseline_dimensions,
)
from tasks.contribution.steps.relevance import RelevanceInput, baseline_relevance, relevance_score
from tasks.judging.relevance import ShownPaper
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.phrases import QUERY_WORD_LIMIT
from tests.support.contribution_fakes import WordEmbedder

IDEAS = Path(__file__).parents[4] / "shared" / "data" / "scholarideas.jsonl"
TOOLS = BaselineTools(embedder=WordEmbedder())
IDEA = """# Echo maps of bats

## Problem
Existing methods fail to locate bats in forests.

## Method
We propose a novel acoustic localisation algorithm that derives bat flight paths from microphone arrays.

## Experiment
We will evaluate the algorithm against thermal cameras on a benchmark of annotated flight paths.
"""
TWIN = (
    "We present an acoustic localisation algorithm that derives bat flight paths from microphone"
    " arrays. It works."
)
COUSIN = (
    "We study acoustic communication of whales with hydrophones. Calls of whales change with noise."
)
STRANGER = "The court of appeal overturned the tax ruling on corporate mergers."


def asked(idea: str, maximum: int = 4) -> DimensionsReply | NoAnswer:
    return asyncio.run(
        baseline_dimensions(DimensionsInput(idea=idea, maximum_dimensions=maximum), TOOLS)
    )


def queried(
    idea: str, dimension: str, statements: tuple[str, ...], maximum: int = 3
) -> QueriesReply | NoAnswer:
    shown = ShownDimension(dimension_id="d1", name=dimension, statements=statements)
    question = QueriesInput(idea=idea, dimensions=(shown,), maximum_queries=maximum)
    return asyncio.run(baseline_queries(question, TOOLS))


def real_ideas() -> list[str]:
    if not IDEAS.exists():
        pytest.skip("the real ideas are not at ../shared/data/scholarideas.jsonl")
    return [json.loads(line)["text"] for line in IDEAS.read_text("utf-8").splitlines()]


def test_dimensions_are_the_ideas_own_claims_and_not_its_complaints() -> None:
    answer = asked(IDEA)
    assert isinstance(answer, DimensionsReply)
    assert {"Methodology", "Evaluation"} <= {dimension.name for dimension in answer.dimensions}
    statements = [
        statement for dimension in answer.dimensions for statement in dimension.statements
    ]
    assert not any("fail to locate" in statement for statement in statements)


def test_every_real_idea_has_dimensions_and_short_distinct_queries() -> None:
    for idea in real_ideas():
        answer = asked(idea)
        assert isinstance(answer, DimensionsReply)
        assert asked(idea) == answer
        for dimension in answer.dimensions:
            queries = queried(idea, dimension.name, tuple(dimension.statements))
            assert isinstance(queries, QueriesReply)
            assert [entry.statement for entry in queries.statements] == list(
                range(1, len(dimension.statements) + 1)
            )
            for entry in queries.statements:
                assert all(2 <= len(query.split()) <= QUERY_WORD_LIMIT for query in entry.queries)
                assert len(set(entry.queries)) == len(entry.queries)


@given(st.text(min_size=1, max_size=2000))
def test_no_text_breaks_the_dimension_baseline(idea: str) -> None:
    answer = asked(idea, 2)
    if isinstance(answer, DimensionsReply):
        assert 1 <= len(answer.dimensions) <= 2
        assert not isinstance(
            queried(idea, answer.dimensions[0].name, tuple(answer.dimensions[0].statements)), str
        )


def test_an_idea_without_a_sentence_has_nothing_to_judge() -> None:
    answer = asked("Bats!")
    assert isinstance(answer, NoAnswer)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 0.5))
def test_relevance_grows_with_both_signals_and_stays_on_the_scale(
    similarity: float, share: float, more: float
) -> None:
    score = relevance_score(similarity, share)
    assert 0 <= score <= 5
    assert relevance_score(min(similarity + more, 1.0), share) >= score
    assert relevance_score(similarity, min(share + more, 1.0)) >= score


def test_relevance_uses_the_whole_scale_and_shared_words_alone_are_not_relevant() -> None:
    assert {relevance_score(step / 20, 0.2) for step in range(21)} == {0, 1, 2, 3, 4, 5}
    assert relevance_score(0.0, 1.0) < 3


def test_relevance_orders_twin_cousin_and_stranger_whatever_the_batch() -> None:
    papers = [
        ShownPaper(key=f"P{n}", title="T", abstract=text)
        for n, text in enumerate((STRANGER, TWIN, COUSIN), start=1)
    ]
    together, *alone = (
        asyncio.run(
            baseline_relevance(RelevanceInput(idea=IDEA, papers=tuple(batch)), TOOLS)
        ).papers
        for batch in (papers, *([one] for one in papers))
    )
    assert together == [entry for entries in alone for entry in entries]
    stranger, twin, cousin = (entry.score for entry in together)
    assert stranger == 0
    assert twin > cousin >= stranger
    assert twin >= 4


def compared(abstract: str) -> dict[str, Any]:
    answer = asked(IDEA)
    assert isinstance(answer, DimensionsReply)
    dimensions = tuple(
        ShownDimension(dimension_id=f"d{n}", name=one.name, statements=tuple(one.statements))
        for n, one in enumerate(answer.dimensions)
    )
    question = ComparisonInput(
        idea=IDEA,
        dimensions=dimensions,
        papers=(ShownPaper(key="P1", title="T", abstract=abstract),),
    )
    (entry,) = asyncio.run(baseline_comparison(question, TOOLS)).papers
    assert [one.dimension for one in entry.dimensions] == [one.dimension_id for one in dimensions]
    return {
        dimension.name: one for dimension, one in zip(dimensions, entry.dimensions, strict=True)
    }


def test_a_paper_that_says_the_same_is_ahead_and_stands_beside_the_statement() -> None:
    method = compared(TWIN)["Methodology"]
    assert method.score == -1
    assert method.comparison.startswith("“We present an acoustic localisation algorithm")
    assert "beside the idea's “We propose a novel acoustic localisation" in method.comparison


def test_a_paper_on_the_subject_that_lacks_what_the_idea_names_leaves_it_the_novelty() -> None:
    method = compared(
        "Bat flight differs between forests and caves. We track bat colonies by radio telemetry for"
        " two years."
    )["Methodology"]
    assert method.score == 1
    assert method.overlap is Overlap.NONE


def test_a_paper_about_something_else_does_not_make_the_idea_novel() -> None:
    assert {one.score for one in compared(STRANGER).values()} == {0}


def reviewed(*scores: int) -> ReviewReply:
    comparisons = tuple(
        ShownComparison(
            key=f"P{number}",
            title=f"Paper {number}",
            year=2020,
            score=score,
            comparison=f"“Sentence {number}” beside the idea's “One”",
        )
        for number, score in enumerate(scores, start=1)
    )
    dimension = ShownDimension(dimension_id="d1", name="Methodology", statements=("One.",))
    question = ReviewInput(idea=IDEA, dimension=dimension, comparisons=comparisons)
    answer = asyncio.run(baseline_review(question, TOOLS))
    assert isinstance(answer, ReviewReply)
    return answer


def test_a_review_shows_what_overlaps_counts_what_does_not_and_suggests_nothing() -> None:
    answer = reviewed(1, -1, 0, -1)
    assert answer.weaknesses.split("\n\n") == [
        "“Sentence 2” beside the idea's “One” [P2]",
        "“Sentence 4” beside the idea's “One” [P4]",
    ]
    assert answer.strengths.endswith("2 of 4 [P1] [P3]")
    assert answer.suggestions == ()
    assert "7 of 7 (among them [P1] [P2] [P3] [P4] [P5])" in reviewed(*[1] * 7).strengths


def test_abstracts_that_nobody_compared_are_quoted_or_give_no_answer() -> None:
    def asked_of(abstract: str) -> ReviewReply | NoAnswer:
        shown = ShownComparison(key="P1", title="T", year=None, score=None, comparison=abstract)
        dimension = ShownDimension(dimension_id="d1", name="Data", statements=("Bats fly.",))
        question = ReviewInput(idea=IDEA, dimension=dimension, comparisons=(shown,))
        return asyncio.run(baseline_review(question, TOOLS))

    found = asked_of("Bats fly at night. Courts rule by day.")
    assert isinstance(found, ReviewReply)
    assert found.weaknesses == "“Bats fly at night.” [P1]"
    assert isinstance(asked_of(STRANGER), NoAnswer)
