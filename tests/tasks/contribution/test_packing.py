"""What economy packs: searches, recommendations, queries, and the order of calls."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import replace
from schemas.idea import Idea
from schemas.judgement.contribution import CandidateOrigin, ContributionEvaluation
from schemas.profile import Ranking, RecommendationKind, SearchKind
from tasks.contribution.evaluate import evaluate_contribution
from tasks.contribution.searching import PACKED_WORDS, best_of_each, packed_query
from tasks.contribution.steps.compare_paper import COMPARE_PAPER
from tasks.contribution.steps.contribution_queries import CONTRIBUTION_QUERIES, QueriesReply
from tasks.contribution.steps.contribution_review import CONTRIBUTION_REVIEW
from tasks.contribution.steps.extract_dimensions import DimensionsReply
from tasks.contribution.steps.relevance import RELEVANCE
from tasks.judging.findings import Findings
from tasks.judging.packing import Beginning, first_alone
from tests.support.contribution_fakes import (
    FakeEngine,
    FakeLiterature,
    WordEmbedder,
    judged_alike,
    paper,
    parameters,
)

IDEA = Idea(
    idea_id="i1",
    title="Bats",
    text="# Bats\n\nWe record the echo calls of bats and count roosts from drones.",
)
PAPERS = tuple(
    paper(f"bats-{number}", f"Echo calls of bats, {'roost drones ' * (number % 3)}number {number}.")
    for number in range(12)
)
DIMENSIONS = {
    "dimensions": [
        {"name": "Calls", "statements": ["Echo calls are recorded.", "They are compared."]},
        {"name": "Roosts", "statements": ["Roosts are counted from drones."]},
    ]
}
QUERIES = {
    "statements": [
        {"statement": 1, "queries": ["echo calls bats", "bats recordings"]},
        {"statement": 3, "queries": ["roost counts drones"]},
    ]
}


async def evaluated(
    source: FakeLiterature, idea: Idea = IDEA, **changes: Any
) -> tuple[Findings[ContributionEvaluation], FakeEngine]:
    embedder = WordEmbedder()
    answers = {
        "extract_dimensions": lambda _: DimensionsReply.model_validate(DIMENSIONS),
        "contribution_queries": lambda _: QueriesReply.model_validate(QUERIES),
        "relevance": judged_alike(4),
    }
    engine = FakeEngine(embedder, answers)
    packed = parameters(**{"dimensions_per_query_call": 5, "search": SearchKind.PACKED, **changes})
    return await evaluate_contribution(idea, packed, engine, source, embedder), engine


async def test_queries_of_all_dimensions_come_from_one_call_and_go_to_their_own_dimension() -> None:
    findings, engine = await evaluated(FakeLiterature(PAPERS))
    assert len(engine.inputs_of(CONTRIBUTION_QUERIES)) == 1
    calls, roosts = findings.evaluation.dimensions
    assert calls.queries == ("echo calls bats", "bats recordings")
    assert roosts.queries == ("roost counts drones",)
    assert [
        (one.subject, one.detail) for one in findings.evaluation.failures if one.subject == "d1"
    ] == [("d1", "the reply has no query for statement 2, so nothing was searched for it")]


async def test_a_packed_search_is_one_request_a_dimension_and_thin_answers_are_completed_in_bulk() -> (
    None
):
    plenty, thin = FakeLiterature(PAPERS), FakeLiterature(PAPERS[:2])
    await evaluated(plenty, papers_per_query=4)
    assert plenty.queries == ["echo calls bats", "roost counts drones"]
    assert plenty.bulk_queries == []
    await evaluated(thin, papers_per_query=4)
    assert thin.bulk_queries == [("echo calls bats", "bats recordings", "roost counts drones")]


async def test_papers_of_a_bulk_search_belong_to_the_query_that_fits_them_best() -> None:
    source = FakeLiterature(PAPERS)
    findings, _ = await evaluated(source, search=SearchKind.BULK, papers_per_query=3)
    found = {
        one.paper_id: one.found_by
        for one in findings.evaluation.candidates
        if one.origin is CandidateOrigin.SEARCH
    }
    assert set(found.values()) <= {"echo calls bats", "bats recordings", "roost counts drones"}
    assert all(
        "roost" in PAPERS[int(name.split("-")[1])].abstract
        for name, by in found.items()
        if by == "roost counts drones"
    )


async def test_pooled_recommendations_travel_in_groups_and_stand_under_the_groups_first_seed() -> (
    None
):
    like = {f"bats-{number}": (paper(f"like-{number}", "Bats again."),) for number in range(12)}
    source = FakeLiterature(PAPERS, recommended=like)
    pooled = {
        "recommendations": RecommendationKind.POOLED,
        "seeds_per_recommendation_request": 2,
        "maximum_seeds": 4,
    }
    findings, _ = await evaluated(source, **pooled)
    seeds = [one.paper_id for one in findings.evaluation.candidates if one.seed]
    assert sorted(map(len, source.pooled_seeds)) == [2, 2]
    assert {seed for group in source.pooled_seeds for seed in group} == set(seeds)
    recommended = [
        one
        for one in findings.evaluation.candidates
        if one.origin is CandidateOrigin.RECOMMENDATION
    ]
    assert len(recommended) == 4
    assert {one.found_by for one in recommended} == {group[0] for group in source.pooled_seeds}


async def test_what_the_first_pass_left_over_is_judged_in_the_second() -> None:
    findings, engine = await evaluated(
        FakeLiterature(PAPERS),
        maximum_judged_papers=3,
        embedding_top=20,
        papers_per_relevance_call=20,
    )
    assert all(one.relevance_0_to_5 == 4 for one in findings.evaluation.candidates)
    assert len(engine.inputs_of(RELEVANCE)[0].papers) == 3


async def test_long_abstracts_are_cut_in_sight_where_the_profile_says_so() -> None:
    source = FakeLiterature([paper("bats-long", "echo calls bats " * 60)])
    _, engine = await evaluated(source, abstract_word_limit=20, words_per_rationale=7)
    (question,) = engine.inputs_of(RELEVANCE)
    assert question.papers[0].abstract.endswith("[…]")
    assert "at most 7 words" in RELEVANCE.messages(question)[1]["content"]


async def test_the_second_pass_shows_less_of_an_abstract_than_the_first() -> None:
    told = "We sell tax forms to bats at night. " * 5 + "Roosts are counted from drones."
    papers = [replace(each, abstract=f"{each.abstract} {told}") for each in PAPERS]
    _, engine = await evaluated(
        FakeLiterature(papers),
        maximum_judged_papers=3,
        papers_per_relevance_call=20,
        abstract_word_limit=30,
        second_pass_word_limit=20,
    )
    lengths = [
        max(len(paper.abstract.split()) for paper in question.papers)
        for question in engine.inputs_of(RELEVANCE)
    ]
    assert 20 < lengths[0] <= 31
    assert lengths[1] <= 21


async def test_prompts_about_papers_show_what_a_long_idea_claims_and_say_that_it_is_a_part() -> (
    None
):
    filler = "Weather was fair and nobody complained about it. " * 40
    idea = replace(IDEA, text=f"{filler}{IDEA.text} {filler}")
    findings, engine = await evaluated(FakeLiterature(PAPERS), idea=idea, idea_word_limit=100)
    assert findings.evaluation.reviews
    asked = [
        (step, question)
        for step in (RELEVANCE, COMPARE_PAPER, CONTRIBUTION_REVIEW)
        for question in engine.inputs_of(step)
    ]
    assert len({question.idea for _, question in asked}) == 1, "prompts begin alike"
    for step, question in asked:
        assert "echo calls of bats" in question.idea
        assert len(question.idea.split()) <= 100
        note = f"({question.idea_words_left_out} words of the plan are left out"
        assert note in step.messages(question)[1]["content"]
    assert engine.inputs_of(CONTRIBUTION_QUERIES)[0].idea == idea.text


@given(st.lists(st.text(alphabet="abc ", max_size=20), max_size=12))
def test_a_packed_query_is_short_and_holds_every_word_once(queries: list[str]) -> None:
    words = packed_query(queries).split()
    assert (
        len(words)
        == len(set(words))
        == min(PACKED_WORDS, len({word for query in queries for word in query.split()}))
    )


def test_each_query_keeps_its_best_papers_and_no_stranger() -> None:
    papers = [
        paper("roosts", "Drones count roosts."),
        paper("calls", "Echo calls."),
        paper("tax", "Tax law."),
    ]
    found = best_of_each(["echo calls", "drones roosts"], papers, 1)
    assert [(one.paper.paper_id, one.found_by) for one in found] == [
        ("calls", "echo calls"),
        ("roosts", "drones roosts"),
    ]


async def test_words_and_embeddings_can_choose_together() -> None:
    findings, _ = await evaluated(
        FakeLiterature(PAPERS),
        ranking=Ranking.EMBEDDING_AND_WORDS,
        maximum_judged_papers=4,
        embedding_top=1,
    )
    judged = [one for one in findings.evaluation.candidates if one.relevance_0_to_5 is not None]
    assert len(judged) == 5


async def test_the_first_call_is_answered_before_the_others_set_out() -> None:
    events: list[str] = []

    async def ask(number: int) -> int:
        events.append(f"sent {number}")
        await asyncio.sleep(0.001 * (4 - number))
        events.append(f"answered {number}")
        return number

    answers = await first_alone([lambda number=number: ask(number) for number in range(4)])  # type: ignore[misc]
    assert answers == [0, 1, 2, 3]
    assert events[:5] == ["sent 0", "answered 0", "sent 1", "sent 2", "sent 3"]


async def test_a_first_call_that_fails_lets_the_others_set_out() -> None:
    beginning = Beginning()

    async def fail() -> int:
        raise ConnectionError("lost")

    async def answer() -> int:
        return 7

    with pytest.raises(ConnectionError):
        await beginning.ask(fail)
    assert await beginning.ask(answer) == 7
