"""An idea outside the field of a snapshot: nothing is bought for it, and the evaluation says so."""

import asyncio
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest

from flows.works.evaluate.request import bundled_file
from schemas.base import replace
from schemas.failure import LEFT_OUT, Answer, SourceFailure
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.reasons import Reason
from schemas.run import Module
from schemas.settings import Settings
from schemas.standing import IdeaState
from tasks.embeddings.sentence_embedder import SentenceEmbedder, bundled_settings
from tasks.evaluation.evaluate_shard import _incomplete_reason
from tasks.ideas.read import read_ideas
from tasks.literature.field_coverage import check_field, is_checked
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot_search import SnapshotSearch
from tests.support.evaluated_papers import evaluated_on
from tests.support.evaluations import evaluation_of, rows_of
from tests.support.rules import broken_rules
from tests.support.tiers import some
from warehouse.kinds.runs.landing import standing_of_rows

PAPERS = bundled_file("papers.jsonl")
IDEAS = read_ideas(bundled_file("ideas.jsonl"), default_cutoff=None).ideas
MOSQUITOES = (
    "# Larval crowding and the host seeking of mosquitoes\n\n## Problem\n\nAedes aegypti females"
    " transmit dengue, and it is not known how crowding of larvae changes the host seeking of the"
    " adults.\n\n## Method\n\nWe will rear larvae at three densities, measure wing length and"
    " fecundity, and offer blood meals in an olfactometer.\n\n## Experiment\n\nTwenty cages per"
    " density; biting rate and survival of females are compared by mixed models."
)
SLEEP = (
    "# Slow waves and melatonin in shift workers\n\n## Problem\n\nNight shifts shorten slow wave"
    " sleep of nurses.\n\n## Method\n\nPolysomnography over four weeks, melatonin against placebo"
    " at two clock times.\n\n## Experiment\n\nSixty nurses, crossed over; sleep latency and salivary"
    " cortisol are the outcomes."
)
CANCER = (
    "# Tamoxifen resistance by stromal fibroblasts\n\n## Problem\n\nBreast tumors relapse under"
    " tamoxifen.\n\n## Method\n\nCo-culture of MCF-7 cells with fibroblasts of patients, knockdown"
    " of the estrogen receptor, xenografts in mice.\n\n## Experiment\n\nTumor volume and relapse"
    " after ten weeks in thirty mice an arm."
)
LITERATURE_MODULES = (Module.SOUNDNESS, Module.CONTRIBUTION, Module.NOVELTY)


def foreign(text: str) -> Idea:
    return Idea(idea_id=IdeaId("foreign"), title=text.splitlines()[0].lstrip("# "), text=text)


@pytest.fixture(scope="module")
def embedder() -> SentenceEmbedder:
    return SentenceEmbedder(bundled_settings(Settings().embeddings), None)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> SnapshotSearch:
    folder = tmp_path_factory.mktemp("sample")
    build_snapshot(PAPERS, folder / "index")
    return SnapshotSearch(folder / "index", Settings())


@pytest.mark.parametrize("ideas", some([IDEAS[::4], IDEAS], lambda ideas: ideas is not IDEAS))
async def test_the_bundled_sample_covers_the_bundled_ideas(
    ideas: Sequence[Idea], sample: SnapshotSearch, embedder: SentenceEmbedder
) -> None:
    for idea in ideas:
        (coverage,) = (await check_field(idea, sample.search_papers, embedder)).items
        assert coverage.field_covered, f"{idea.idea_id}: {coverage.field_coverage_detail}"
        assert not coverage.warning


@pytest.mark.parametrize("text", [MOSQUITOES, SLEEP, CANCER], ids=["mosquitoes", "sleep", "cancer"])
async def test_a_foreign_idea_is_told_what_the_nearest_works_are_about(
    text: str, sample: SnapshotSearch, embedder: SentenceEmbedder
) -> None:
    (coverage,) = (await check_field(foreign(text), sample.search_papers, embedder)).items
    assert not coverage.field_covered, coverage
    assert coverage.warning.startswith("This literature does not cover the field of the idea")
    assert "nearest works are about “" in coverage.warning
    assert "\n" not in coverage.warning


@pytest.mark.parametrize(
    "text",
    [
        "本研究提出一种新的图神经网络方法用于分子性质预测。" * 20,
        "Мы предлагаем новый метод глубокого обучения " * 10,
        "diffusion models " * 40,
        "…",
    ],
    ids=["Chinese", "Russian", "one phrase repeated", "punctuation"],
)
async def test_an_idea_without_words_to_search_with_is_not_covered_and_no_failure(
    text: str, sample: SnapshotSearch, embedder: SentenceEmbedder
) -> None:
    answer = await check_field(foreign(text), sample.search_papers, embedder)
    assert answer.failures == ()
    (coverage,) = answer.items
    assert not coverage.field_covered
    assert coverage.warning.endswith("its text gives no words to search this literature with")


async def test_a_search_that_failed_is_no_coverage(embedder: SentenceEmbedder) -> None:
    failure = SourceFailure(
        source="snapshot", endpoint="paper/search", reason=Reason.SERVER_ERROR, detail="500"
    )

    async def search(*_: object) -> Answer:
        return Answer((), (failure,))

    answer = await check_field(IDEAS[0], search, embedder)
    assert (answer.items, answer.failures) == ((), (failure,))


async def test_nothing_found_says_nothing_about_the_field(
    sample: SnapshotSearch, embedder: SentenceEmbedder
) -> None:
    early = replace(IDEAS[0], cutoff_date=date(1950, 1, 1))
    answer = await check_field(early, sample.search_papers, embedder)
    assert (answer.items, answer.failures) == ((), ())


def test_only_a_snapshot_that_stands_alone_is_looked_at() -> None:
    names = ("snapshot:abc", "live:api.semanticscholar.org", "snapshot:abc+live:api.example.org")
    assert [is_checked(name) for name in names] == [True, False, False]


@pytest.fixture(scope="module")
def outside(
    tmp_path_factory: pytest.TempPathFactory, embedder: SentenceEmbedder
) -> tuple[IdeaEvaluation, list[str]]:
    """The evaluation of a foreign idea on the bundled sample, and the steps it asked."""
    asked: list[str] = []
    folder = tmp_path_factory.mktemp("outside")
    evaluation = asyncio.run(
        evaluated_on(PAPERS, folder, foreign(MOSQUITOES), LITERATURE_MODULES, embedder, asked)
    )
    return evaluation, asked


def test_nothing_is_bought_for_an_idea_outside_the_literature(
    outside: tuple[IdeaEvaluation, list[str]],
) -> None:
    evaluation, asked = outside
    assert sorted(asked) == ["officer_review", "plan_questions", "plan_review"], (
        "the plan is reviewed by itself"
    )
    assert [call.endpoint for call in evaluation.api_calls] == ["paper/search"]
    assert evaluation.papers == ()
    soundness, contribution, novelty = (
        evaluation.soundness,
        evaluation.contribution,
        evaluation.novelty,
    )
    assert soundness is not None and contribution is not None and novelty is not None
    assert (soundness.methods, contribution.dimensions) == ((), ())
    assert novelty.judgement.unscored_reason is Reason.FIELD_NOT_COVERED
    assert soundness.summary is not None
    assert soundness.summary.unscored_reason is Reason.FIELD_NOT_COVERED


def test_it_is_left_out_and_no_failure(
    outside: tuple[IdeaEvaluation, list[str]],
) -> None:
    evaluation, _ = outside
    told = [failure for failure in evaluation.failures if failure.is_left_out]
    assert [failure.reason for failure in told] == [Reason.FIELD_NOT_COVERED]
    assert "no evidence was bought; only the plan itself was judged" in told[0].detail
    assert [failure for failure in evaluation.failures if failure.stage != LEFT_OUT] == []
    assert _incomplete_reason(evaluation) is None, "running again changes nothing"
    rows = rows_of(evaluation)
    standing = standing_of_rows(rows)
    assert (standing.state, standing.state_reason) == (
        IdeaState.UNSCORED,
        Reason.FIELD_NOT_COVERED,
    )
    assert broken_rules(rows) == {}


def test_what_was_looked_at_is_stored_and_read_back(
    outside: tuple[IdeaEvaluation, list[str]],
) -> None:
    evaluation, _ = outside
    assert evaluation.coverage is not None
    (row,) = rows_of(evaluation)["ideas"]
    assert (row["field_covered"], row["field_coverage_0_to_1"]) == (
        False,
        evaluation.coverage.field_coverage_0_to_1,
    )
    assert evaluation_of(rows_of(evaluation)).coverage == evaluation.coverage
    not_looked_at = replace(evaluation, coverage=None)
    (row,) = rows_of(not_looked_at)["ideas"]
    assert row["field_covered"] is row["field_coverage_detail"] is None
    assert evaluation_of(rows_of(not_looked_at)).coverage is None


async def test_a_covered_idea_is_evaluated_as_without_the_look(
    tmp_path: Path, embedder: SentenceEmbedder
) -> None:
    looked = await evaluated_on(PAPERS, tmp_path, IDEAS[0], field_embedder=embedder)
    plain = await evaluated_on(PAPERS, tmp_path, IDEAS[0])
    assert looked.coverage is not None and looked.coverage.field_covered
    assert plain.coverage is None
    assert looked.contribution is not None and plain.contribution is not None
    for name in ("dimensions", "candidates", "comparisons"):
        ours, theirs = getattr(looked.contribution, name), getattr(plain.contribution, name)
        assert [_without_time(one) for one in ours] == [_without_time(one) for one in theirs]


def _without_time(noun: object) -> dict[str, object]:
    return noun.model_dump(exclude={"provenance"})  # type: ignore[attr-defined]
