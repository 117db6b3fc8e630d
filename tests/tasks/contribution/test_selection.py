"""Which papers go on never depends on the order in which they came."""

import asyncio
import math
import random

from hypothesis import given
from hypothesis import strategies as st

from flows.profiles import load_profile
from schemas.base import replace
from schemas.identifiers import PaperId
from tasks.contribution.evaluate import most_relevant, second_pass
from tasks.embeddings.similarity import (
    MAXIMUM_PASSAGES,
    Nearness,
    idea_passages,
    nearest,
)
from tasks.judging.packing import even_batches
from tasks.judging.relevance import Judgement
from tests.support.contribution_fakes import WordEmbedder, paper

PAPERS = [
    paper(f"p{number:02}", f"bats calls {'echo ' * (number % 4)} {number % 3}")
    for number in range(24)
]
IDEA = "# Bats\n\nWe record the echo calls of bats."


@given(
    st.randoms(use_true_random=False),
    st.lists(st.integers(0, 5), min_size=24, max_size=24),
    st.integers(1, 24),
)
def test_the_most_relevant_do_not_depend_on_order(
    shuffler: random.Random, scores: list[int], limit: int
) -> None:
    judgements = {one.paper_id: Judgement(score) for one, score in zip(PAPERS, scores, strict=True)}
    similarity = {one.paper_id: (index % 5) / 5 for index, one in enumerate(PAPERS)}
    shuffled = list(PAPERS)
    shuffler.shuffle(shuffled)
    chosen = [most_relevant(papers, judgements, similarity, limit) for papers in (PAPERS, shuffled)]
    assert chosen[0] == chosen[1]


@given(st.randoms(use_true_random=False), st.integers(1, 24), st.booleans())
def test_the_nearest_do_not_depend_on_order(
    shuffler: random.Random, limit: int, lexical_prefilter: bool
) -> None:
    shuffled = list(PAPERS)
    shuffler.shuffle(shuffled)
    chosen = [
        {
            one.paper_id
            for one in asyncio.run(
                nearest(
                    IDEA,
                    papers,
                    limit,
                    Nearness(IDEA, WordEmbedder()),
                    lexical_prefilter=lexical_prefilter,
                )
            )[0]
        }
        for papers in (PAPERS, shuffled)
    ]
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == limit


def test_ties_go_to_similarity_and_then_to_the_smaller_identifier() -> None:
    papers = [paper(name) for name in ("c", "a", "b")]
    judgements = {one.paper_id: Judgement(4) for one in papers}
    ordered = most_relevant(
        papers, judgements, {PaperId("c"): 0.1, PaperId("a"): 0.1, PaperId("b"): 0.9}, 3
    )
    assert [one.paper_id for one in ordered] == ["b", "a", "c"]


async def test_a_list_that_fits_is_kept_whole_and_nothing_embedded() -> None:
    embedder = WordEmbedder()
    kept, similarity = await nearest(
        IDEA, PAPERS, len(PAPERS), Nearness(IDEA, embedder), lexical_prefilter=True
    )
    assert (kept, similarity, embedder.texts) == (PAPERS, {}, [])


@given(st.lists(st.integers(), max_size=60), st.integers(1, 25))
def test_batches_keep_order_fit_and_are_even(items: list[int], largest: int) -> None:
    batches = even_batches(items, largest)
    assert [item for batch in batches for item in batch] == items
    assert all(0 < len(batch) <= largest for batch in batches)
    assert not batches or max(map(len, batches)) - min(map(len, batches)) <= 1


@given(st.text(max_size=4000))
def test_any_idea_has_passages(text: str) -> None:
    passages = idea_passages(text)
    assert 1 <= len(passages) <= MAXIMUM_PASSAGES


PROFILE = load_profile("economy").contribution


@given(st.lists(st.integers(0, 5), max_size=80))
def test_the_second_pass_judges_no_less_than_a_third_and_no_more_than_it_may(
    scores: list[int],
) -> None:
    judged = [Judgement(score) for score in scores]
    most = PROFILE.embedding_top
    assert most / 3 <= second_pass(judged, PROFILE) <= most
    assert second_pass(judged, replace(PROFILE, second_pass_margin=None)) == most


def test_the_share_found_relevant_sets_how_many_the_second_pass_judges() -> None:
    few = [Judgement(5)] * 10 + [Judgement(0)] * 10
    rare = [Judgement(5)] * 2 + [Judgement(0)] * 18
    assert second_pass(few, PROFILE) == math.ceil(1.5 * (PROFILE.papers_compared - 10) * 20 / 10)
    assert second_pass(rare, PROFILE) == PROFILE.embedding_top
    assert second_pass([Judgement(0)] * 20, PROFILE) == PROFILE.embedding_top
    assert second_pass([Judgement(5)] * 70, PROFILE) == math.ceil(PROFILE.embedding_top / 3)
