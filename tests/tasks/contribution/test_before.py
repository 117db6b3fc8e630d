"""An idea judged again: earlier judgements of a paper stand, and only the rest is asked."""

from typing import Any

import pytest

from schemas.base import replace
from schemas.idea import Idea
from schemas.judgement.contribution import ContributionEvaluation, EarlierJudgements
from schemas.literature.paper import Paper
from tasks.contribution.context import judged_before
from tasks.contribution.evaluate import evaluate_contribution
from tasks.contribution.steps.extract_dimensions import DimensionsReply
from tasks.judging.findings import Findings
from tests.support.contribution_fakes import (
    FakeEngine,
    FakeLiterature,
    WordEmbedder,
    compared_alike,
    judged_alike,
    paper,
    parameters,
)

IDEA = Idea(idea_id="i1", title="Bats", text="We record the echo calls of bats.")
OLD = tuple(paper(f"bats-{number}", f"Echo calls, number {number}.") for number in range(3))
NEW = paper("bats-new", "Echo calls, published since.")
CHANGED = replace(OLD[0], abstract="Echo calls, corrected.")
DIMENSIONS = {"dimensions": [{"name": "Calls", "statements": ["Echo calls are recorded."]}]}
ANSWERS = {
    "relevance": judged_alike(4),
    "compare_paper": compared_alike(1),
    "extract_dimensions": lambda _: DimensionsReply.model_validate(DIMENSIONS),
}


async def evaluated(
    papers: tuple[Paper, ...], before: EarlierJudgements | None = None
) -> tuple[Findings[ContributionEvaluation], FakeEngine]:
    embedder = WordEmbedder()
    engine = FakeEngine(embedder, ANSWERS)
    literature = FakeLiterature(papers)
    found = await evaluate_contribution(IDEA, parameters(), engine, literature, embedder, before)
    return found, engine


def shown(engine: FakeEngine) -> tuple[set[str], set[str]]:
    """Titles of the papers judged, and of those compared."""
    judged, compared = (
        {each.title for inputs in engine.inputs_of(step) for each in inputs.papers}
        for step in ("relevance", "compare_paper")
    )
    return judged, compared


async def judged() -> tuple[Findings[ContributionEvaluation], EarlierJudgements]:
    first, _ = await evaluated(OLD)
    return first, judged_before(first.evaluation, first.papers)


async def test_only_papers_that_are_new_are_judged_and_compared() -> None:
    first, before = await judged()
    again, engine = await evaluated((*OLD, NEW), before)
    assert shown(engine) == ({NEW.title}, {NEW.title})
    assert engine.inputs_of("extract_dimensions") == []
    assert [each.name for each in again.evaluation.dimensions] == ["Calls"]
    rows = {each.paper_id: each for each in again.evaluation.comparisons}
    assert set(rows) == {each.paper_id for each in (*OLD, NEW)}
    assert all(rows[each.paper_id] == each for each in first.evaluation.comparisons)


def by_another_version(before: EarlierJudgements) -> EarlierJudgements:
    candidates = tuple(
        replace(each, provenance=each.provenance and replace(each.provenance, step_version=99))
        for each in before.candidates
    )
    return replace(before, candidates=candidates)


@pytest.mark.parametrize(
    ("papers", "change", "judged_count", "compared_count"),
    [
        ((CHANGED, *OLD[1:]), lambda before: before, 1, 1),
        (OLD, by_another_version, 3, 0),
        (OLD, lambda before: replace(before, comparisons=before.comparisons[1:]), 0, 1),
    ],
    ids=["changed text", "another version of the step", "a failed comparison"],
)
async def test_what_does_not_stand_any_more_is_asked_again(
    papers: tuple[Paper, ...], change: Any, judged_count: int, compared_count: int
) -> None:
    _, before = await judged()
    _, engine = await evaluated(papers, change(before))
    assert tuple(map(len, shown(engine))) == (judged_count, compared_count)
