"""An idea judged again: what an earlier run judged of a paper stands, and only the rest is asked."""

from typing import Any

from schemas.base import replace
from schemas.idea import Idea
from schemas.judgement.contribution import ContributionEvaluation, EarlierJudgements
from schemas.literature.paper import Paper
from tasks.contribution.context import judged_before
from tasks.contribution.evaluate import evaluate_contribution
from tasks.contribution.steps.compare_paper import COMPARE_PAPER, ComparisonReply
from tasks.contribution.steps.extract_dimensions import EXTRACT_DIMENSIONS, DimensionsReply
from tasks.contribution.steps.relevance import RELEVANCE, RelevanceReply
from tasks.judging.findings import Findings
from tests.support.contribution_fakes import (
    FakeEngine,
    FakeLiterature,
    WordEmbedder,
    paper,
    parameters,
)

IDEA = Idea(idea_id="i1", title="Bats", text="We record the echo calls of bats.")
OLD = tuple(paper(f"bats-{number}", f"Echo calls, number {number}.") for number in range(3))
NEW = paper("bats-new", "Echo calls, published since.")


def relevant(question: Any) -> RelevanceReply:
    entries = [{"key": p.key, "rationale": "Bats.", "score": 4} for p in question.papers]
    return RelevanceReply.model_validate({"papers": entries})


def compared(question: Any) -> ComparisonReply:
    along = [
        {"dimension": d.dimension_id, "comparison": "Near.", "score": 1}
        for d in question.dimensions
    ]
    entries = [
        {"key": p.key, "overall_comparison": "Near.", "dimensions": along} for p in question.papers
    ]
    return ComparisonReply.model_validate({"papers": entries})


def named(_: Any) -> DimensionsReply:
    return DimensionsReply.model_validate(
        {"dimensions": [{"name": "Calls", "statements": ["Echo calls are recorded."]}]}
    )


ANSWERS = {"relevance": relevant, "compare_paper": compared, "extract_dimensions": named}


async def evaluated(
    papers: tuple[Paper, ...], before: EarlierJudgements | None = None
) -> tuple[Findings[ContributionEvaluation], FakeEngine]:
    embedder = WordEmbedder()
    engine = FakeEngine(embedder, ANSWERS)
    literature = FakeLiterature(papers)
    found = await evaluate_contribution(IDEA, parameters(), engine, literature, embedder, before)
    return found, engine


def shown(engine: FakeEngine, step: Any) -> set[str]:
    return {each.title for inputs in engine.inputs_of(step) for each in inputs.papers}


async def test_only_papers_that_are_new_are_judged_and_compared() -> None:
    first, _ = await evaluated(OLD)
    before = judged_before(first.evaluation, first.papers)
    again, engine = await evaluated((*OLD, NEW), before)
    assert shown(engine, RELEVANCE) == shown(engine, COMPARE_PAPER) == {NEW.title}
    assert engine.inputs_of(EXTRACT_DIMENSIONS) == []
    assert [each.name for each in again.evaluation.dimensions] == ["Calls"]
    rows = {each.paper_id: each for each in again.evaluation.comparisons}
    assert set(rows) == {each.paper_id for each in (*OLD, NEW)}
    then = {each.paper_id: each for each in first.evaluation.comparisons}
    assert all(rows[each.paper_id] == then[each.paper_id] for each in OLD)


async def test_a_paper_whose_text_has_changed_is_judged_anew() -> None:
    first, _ = await evaluated(OLD)
    before = judged_before(first.evaluation, first.papers)
    changed = replace(OLD[0], abstract="Echo calls, corrected.")
    _, engine = await evaluated((changed, *OLD[1:]), before)
    assert shown(engine, RELEVANCE) == shown(engine, COMPARE_PAPER) == {changed.title}


async def test_what_another_version_of_a_step_judged_does_not_stand() -> None:
    first, _ = await evaluated(OLD)
    before = judged_before(first.evaluation, first.papers)
    candidates = tuple(
        replace(each, provenance=each.provenance and replace(each.provenance, step_version=99))
        for each in before.candidates
    )
    _, engine = await evaluated(OLD, replace(before, candidates=candidates))
    assert shown(engine, RELEVANCE) == {each.title for each in OLD}
    assert shown(engine, COMPARE_PAPER) == set()


async def test_a_judgement_that_failed_is_asked_for_again() -> None:
    first, _ = await evaluated(OLD)
    before = judged_before(first.evaluation, first.papers)
    lost = replace(before, comparisons=before.comparisons[1:])
    _, engine = await evaluated(OLD, lost)
    assert len(shown(engine, COMPARE_PAPER)) == 1
