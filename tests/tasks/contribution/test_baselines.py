"""The extractive answers: deterministic, within bounds, and about the papers they cite."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.contribution.steps.compare_paper import ComparisonInput, baseline_comparison
from tasks.contribution.steps.contribution_queries import (
    QueriesInput,
    QueriesReply,
    baseline_queries,
)
from tasks.contribution.steps.contribution_review import (
    ReviewInput,
    ShownComparison,
    baseline_review,
)
from tasks.contribution.steps.extract_dimensions import (
    DimensionsInput,
    DimensionsReply,
    baseline_dimensions,
)
from tasks.contribution.steps.relevance import RelevanceInput, baseline_relevance, relevance_score
from tasks.contribution.steps.shown import ShownDimension, ShownPaper
from tasks.contribution.steps.wording import Contrast, read, worded
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.text.queries import QUERY_WORD_LIMIT
from tasks.text.wording import quotable
from tasks.text.words import sentences
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
@settings(max_examples=60, deadline=None)
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
    together = asyncio.run(
        baseline_relevance(RelevanceInput(idea=IDEA, papers=tuple(papers)), TOOLS)
    ).papers
    alone = [
        asyncio.run(baseline_relevance(RelevanceInput(idea=IDEA, papers=(one,)), TOOLS)).papers[0]
        for one in papers
    ]
    assert together == alone
    stranger, twin, cousin = (entry.score for entry in together)
    assert stranger == 0
    assert twin > cousin >= stranger
    assert twin >= 4
    assert "*" in together[1].rationale


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


def test_a_paper_that_says_the_same_is_ahead_and_its_sentence_is_quoted() -> None:
    method = compared(TWIN)["Methodology"]
    assert method.score == -1
    assert "“We present an acoustic localisation algorithm" in method.comparison
    assert "*thermal cameras*" in compared(TWIN)["Evaluation"].comparison


def test_a_paper_on_the_subject_that_lacks_what_the_idea_names_leaves_it_the_novelty() -> None:
    method = compared(
        "Bat flight differs between forests and caves. We track bat colonies by radio telemetry for"
        " two years."
    )["Methodology"]
    assert method.score == 1
    assert "*microphone arrays*" in method.comparison


def test_a_paper_about_something_else_does_not_make_the_idea_novel() -> None:
    assert {one.score for one in compared(STRANGER).values()} == {0}


PHRASE = st.from_regex(r"[a-z][a-z-]{2,9}( [a-z]{3,9}){0,2}", fullmatch=True)


@given(
    st.text(max_size=300),
    st.lists(PHRASE, max_size=3, unique=True),
    st.lists(PHRASE, max_size=3, unique=True),
    st.sampled_from([-1, 0, 1]),
)
def test_what_a_comparison_rests_on_can_be_read_back(
    sentence: str, shared: list[str], missing: list[str], score: int
) -> None:
    contrast = Contrast(quotable(sentence), tuple(shared), tuple(missing))
    assert read(worded(contrast, score)) == contrast


@given(st.text(max_size=300))
def test_any_text_can_be_read_as_a_comparison(text: str) -> None:
    read(text)


def test_a_review_cites_in_every_sentence_names_every_paper_ahead_and_repeats_nothing() -> None:
    comparisons = [
        ShownComparison(
            key=f"P{n}",
            title=f"Paper {n}",
            year=2020,
            score=(-1, 0, 1)[n % 3],
            comparison=worded(
                Contrast(
                    f"Quotation number {n} of a paper",
                    ("flight paths",),
                    (f"thing {n % 4}", "echo maps"),
                ),
                (-1, 0, 1)[n % 3],
            ),
        )
        for n in range(1, 16)
    ]
    dimension = ShownDimension(dimension_id="d1", name="Methodology", statements=("One.",))
    answer = asyncio.run(
        baseline_review(
            ReviewInput(idea=IDEA, dimension=dimension, comparisons=tuple(comparisons)), TOOLS
        )
    )
    assert answer.suggestions == ()
    for text in (answer.strengths, answer.weaknesses):
        parts = sentences(text)
        assert parts
        assert all(re.search(r"\[P\d+\]", part) for part in parts)
        assert len(parts) == len(set(parts))
    assert {f"P{n}" for n in range(1, 16) if n % 3 == 0} <= set(
        re.findall(r"P\d+", answer.weaknesses)
    )


def test_a_review_of_bare_comparisons_still_says_something() -> None:
    comparisons = tuple(
        ShownComparison(key=f"P{n}", title="T", year=None, score=s, comparison="Plain.")
        for n, s in ((1, 1), (2, 0), (3, -1))
    )
    dimension = ShownDimension(dimension_id="d1", name="Data", statements=("One.",))
    answer = asyncio.run(
        baseline_review(
            ReviewInput(idea="An idea.", dimension=dimension, comparisons=comparisons), TOOLS
        )
    )
    assert "[P3]" in answer.weaknesses
