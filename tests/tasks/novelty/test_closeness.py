"""How close ideas come to works, statement by statement, and ranked by facet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.profile import NoveltyParameters
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.novelty.closeness import MAXIMUM_STATEMENTS, closeness_of, key_statements, measure
from tasks.novelty.related_works import Facet, facet_texts, given_works
from tasks.novelty.steps.judge_novelty import (
    THRESHOLDS,
    ExemplarShown,
    NoveltyInput,
    WorkShown,
    baseline_judgement,
    score_percent,
)
from tasks.novelty.steps.novelty_queries import StatementsInput, baseline_queries
from tests.support.contribution_fakes import WordEmbedder, paper

IDEA = """# Bats

## Background

Nobody has yet listened to bats in winter caves.

## Method

We propose a small recorder for the echo calls of bats. It separates overlapping calls by a learned mask.

## Experiments

Baselines are the usual commercial recorders of bats. We measure the error over five caves in winter.
"""


def test_statements_are_the_ideas_claims_in_their_order() -> None:
    statements = key_statements(IDEA)
    assert "We propose a small recorder for the echo calls of bats." in statements
    assert list(statements) == sorted(statements, key=IDEA.index)


def test_of_many_sentences_claims_stay_and_protocol_goes() -> None:
    many = IDEA + "\n".join(
        f"We propose a new device number {name} for bat caves."
        for name in ("ear", "eye", "nose", "wing", "claw", "tail")
    )
    statements = key_statements(many.replace("## Experiments", "## Experiments\n\n"))
    assert len(statements) == MAXIMUM_STATEMENTS
    assert "We propose a small recorder for the echo calls of bats." in statements


async def test_a_works_own_words_are_closest_and_the_work_is_named() -> None:
    works = [
        ("Tax law", "The history of tax law."),
        ("A recorder", "We propose a small recorder for the echo calls of bats."),
    ]
    found = await closeness_of(
        ["We propose a small recorder for the echo calls of bats."], works, WordEmbedder()
    )
    assert found.places == (1,)
    assert found.values[0] > 0.9


@pytest.mark.parametrize(
    ("idea", "works"), [("", [("a", "b")]), ("Too short.", [("a", "b")]), (IDEA, [])]
)
async def test_nothing_to_measure_is_none_not_zero(idea: str, works: list[tuple[str, str]]) -> None:
    assert await measure(idea, works, WordEmbedder()) is None


@given(
    st.text(max_size=300),
    st.lists(st.tuples(st.text(max_size=40), st.text(max_size=200)), min_size=1, max_size=3),
)
async def test_any_text_is_measured_or_declined(idea: str, works: list[tuple[str, str]]) -> None:
    found = await measure(idea, works, WordEmbedder())
    assert found is None or all(0 <= value <= 1 for value in found.values)


def test_the_score_falls_with_closeness_over_the_whole_scale_and_gaps_never_raise_it() -> None:
    levels = [0.0, *(threshold + 0.02 for threshold in THRESHOLDS)]
    assert [likeliest(score_percent(level, 0)) for level in levels] == [5, 4, 3, 2, 1]
    assert [likeliest(score_percent(level, 2)) for level in levels] == [4, 4, 3, 2, 1]
    assert all(sum(score_percent(level, 1)) == 100 for level in levels)


def test_labelled_ideas_pull_towards_their_labels_and_near_ones_more() -> None:
    exemplars = [
        ExemplarShown(idea="a", label="1", scores=(1,), similarity_0_to_1=0.9),
        ExemplarShown(idea="b", label="5", scores=(4, 5), similarity_0_to_1=0.5),
    ]
    alone, pulled = score_percent(0.58, 0), score_percent(0.58, 0, exemplars)
    assert pulled[0] > alone[0] + 20
    assert pulled[4] - alone[4] < 5
    assert sum(pulled) == 100


def likeliest(percent: tuple[int, ...]) -> int:
    return 1 + percent.index(max(percent))


async def test_an_idea_without_a_sentence_is_declined_by_both_baselines() -> None:
    tools = BaselineTools(WordEmbedder())
    work = WorkShown(key="P1", title="A", year=None, abstract="B")
    for answer in (
        await baseline_judgement(
            NoveltyInput(idea="Bats!", works=(work,), unanswered_searches=0), tools
        ),
        await baseline_queries(
            StatementsInput(idea="Bats!", maximum_statements=3, maximum_queries=2), tools
        ),
    ):
        assert isinstance(answer, NoAnswer)


async def test_every_known_aspect_cites_a_work_and_queries_are_short() -> None:
    tools = BaselineTools(WordEmbedder())
    work = WorkShown(
        key="P1",
        title="Recorder",
        year=2020,
        abstract="We propose a small recorder for the echo calls of bats.",
    )
    judged = await baseline_judgement(
        NoveltyInput(idea=IDEA, works=(work,), unanswered_searches=0), tools
    )
    assert not isinstance(judged, NoAnswer)
    assert judged.known_aspects
    assert all("[P1]" in aspect for aspect in judged.known_aspects)
    searched = await baseline_queries(
        StatementsInput(idea=IDEA, maximum_statements=2, maximum_queries=2), tools
    )
    assert not isinstance(searched, NoAnswer)
    assert len(searched.statements) <= 2
    assert all(len(query.split()) <= 7 for one in searched.statements for query in one.queries)


FACETED = """## Problem

Nobody knows how bats share caves in winter.

## Method

A graph network is trained over echo calls. We measure recall beside a baseline.

## Applications

Wind farms could stop their rotors."""
OF_THE_WHOLE = "bats share caves winter echo calls wind farms stop rotors nobody knows"


def test_sentences_belong_to_the_facet_of_their_heading_or_else_of_their_wording() -> None:
    assert facet_texts(FACETED) == {
        Facet.PURPOSE: "Nobody knows how bats share caves in winter.",
        Facet.MECHANISM: (
            "A graph network is trained over echo calls. We measure recall beside a baseline."
        ),
        Facet.APPLICATION: "Wind farms could stop their rotors.",
    }
    plain = "A graph network is trained. We evaluate it beside a baseline. It is used by farmers."
    assert set(facet_texts(plain)) == {Facet.MECHANISM, Facet.EVALUATION, Facet.APPLICATION}
    assert facet_texts("") == {}


async def test_a_work_with_the_same_mechanism_is_read_though_the_whole_idea_is_far_from_it() -> (
    None
):
    works = [
        paper("a", f"{OF_THE_WHOLE} sleep"),
        paper("b", f"{OF_THE_WHOLE} food"),
        paper("c", f"{OF_THE_WHOLE} noise"),
        paper("mechanism", "Graph network trained, recall beside baseline measure."),
    ]
    idea = Idea(idea_id=IdeaId("bats"), title="Bats", text=FACETED)
    read = {}
    for by_facet in (False, True):
        parameters = NoveltyParameters(related_works=3, rerank_by_facet=by_facet)
        found = await given_works(idea, works, parameters, WordEmbedder())
        read[by_facet] = {work.paper_id for work in found.works}
    assert read[False] == {"a", "b", "c"}
    assert "mechanism" in read[True]
    assert len(read[True]) == 3
