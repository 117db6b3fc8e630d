"""Who gets through: by similarity, then by the hybrid score; and how readings are cut."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.judgement.committee import IdeaPart, KnowledgePhase
from schemas.literature.knowledge import KnowledgeItem, SourceKind
from tasks.committee.knowledge.gather import gather_knowledge
from tasks.committee.knowledge.pool import Candidate, Find, Pool, Query
from tasks.committee.knowledge.reading import within
from tasks.committee.knowledge.weighing import SIMILARITY_SHARE, score_0_to_1, select, shortlist
from tests.support.contribution_fakes import FakeEngine, WordEmbedder
from tests.support.knowledge_fakes import IDEA, Library, claims, paper, parameters, tools

UNIT = st.floats(0, 1)
WEB = (SourceKind.WEB, KnowledgePhase.BEFORE)
QUERY = Query(IdeaPart.METHODS, SourceKind.PAPERS, "q")


def pool_of(rows: list[tuple[SourceKind, KnowledgePhase, float, float | None]]) -> Pool:
    pool = Pool()
    for number, (kind, phase, semantic, judge) in enumerate(rows):
        item = KnowledgeItem(
            kind=kind, source="fake", title="", url=f"https://example.org/{number}"
        )
        candidate: Any = pool.add(Find(item, phase, QUERY, 1))
        candidate.semantic_0_to_1, candidate.judge_0_to_1 = semantic, judge
    return pool


ROWS = st.lists(
    st.tuples(st.sampled_from(SourceKind), st.sampled_from(KnowledgePhase), UNIT, st.none() | UNIT),
    max_size=40,
)


@given(ROWS, st.integers(1, 5), UNIT)
def test_no_kind_or_phase_takes_anothers_place(rows: Any, limit: int, weight: float) -> None:
    pool = pool_of(rows)
    chosen = select(shortlist(pool, limit), pool, limit, weight)
    for phase in KnowledgePhase:
        for kind in SourceKind:
            ours = [each for each in chosen if (each.phase, each.item.kind) == (phase, kind)]
            assert len(ours) == min(limit, len(pool.of(phase, kind)))
    assert [each for each in pool if each.selected] == sorted(chosen, key=pool.candidates.index)


@given(ROWS, st.integers(1, 3))
def test_what_similarity_left_out_no_judge_brings_back(rows: Any, limit: int) -> None:
    pool = pool_of(rows)
    through = shortlist(pool, limit)
    for candidate in pool:
        better = [
            each
            for each in pool.of(candidate.phase, candidate.item.kind)
            if each.semantic_0_to_1 > candidate.semantic_0_to_1
        ]  # type: ignore[operator]
        if len(better) >= SIMILARITY_SHARE * limit:
            assert candidate not in through


@given(UNIT, UNIT, UNIT, UNIT)
def test_a_better_judgement_never_lowers_the_score(
    semantic: float, low: float, high: float, weight: float
) -> None:
    low, high = sorted((low, high))
    first, second = pool_of([(*WEB, semantic, low), (*WEB, semantic, high)])
    assert (score_0_to_1(first, weight) or 0) <= (score_0_to_1(second, weight) or 0)


def test_one_that_was_not_judged_has_no_score_and_is_placed_by_similarity() -> None:
    pool = pool_of([(*WEB, 0.6, 0.1), (*WEB, 0.55, None)])
    unjudged: Candidate = pool.candidates[1]
    assert score_0_to_1(unjudged, 0.2) is None
    assert select(pool, pool, 1, 0.2) == [unjudged]
    assert score_0_to_1(unjudged, 0.0) == 0.55


@given(
    st.lists(
        st.tuples(st.just("Part"), st.lists(st.just("word"), max_size=60).map(" ".join)), max_size=6
    ),
    st.integers(1, 120),
)
def test_a_reading_keeps_what_fits_and_counts_the_rest(
    parts: list[tuple[str, str]], limit: int
) -> None:
    text = within(parts, limit)
    assert text.count("word") - text.count("words left out") <= limit
    whole = sum(len(body.split()) for _, body in parts)
    assert ("left out" in text) == (whole > limit and text != "") or (whole > limit and not text)


async def test_without_a_judges_weight_no_judge_is_asked() -> None:
    engine = FakeEngine(WordEmbedder(), {})
    literature = Library([paper("hashing", "Learned hashing improves sparse attention.")])
    knowledge = await gather_knowledge(
        IDEA, claims(), parameters(judge_weight=0.0), engine, tools(literature=literature)
    )
    assert engine.inputs_of("judge_credibility") == []
    (record,) = knowledge.records
    assert record.score_0_to_1 == record.semantic_similarity_0_to_1 is not None
