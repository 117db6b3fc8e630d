"""Novelty judgements of a suite's ideas beside the related works that the data bring."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schemas.idea import Idea
from schemas.judgement.benchmark import BenchmarkItem
from schemas.judgement.novelty import NoveltyEvaluation, NoveltyJudgement
from schemas.literature.paper import Paper
from schemas.reasons import may_pass
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.trial import Trial
from tasks.calibration.applying import refuse_training_items
from tasks.novelty.evaluate import evaluate_novelty
from tasks.novelty.profile_files import check_calibrator

CALIBRATED = "assay, calibrated"
NOVEL_FROM = 4
"""Score from which an idea counts as novel: "introduces new aspects not present in existing work"
(RINoBench, Table 1).
"""
CALIBRATED_NOVEL_FROM = 3.5
NOVEL, NOT_NOVEL = "novel", "not novel"


@dataclass(frozen=True, slots=True)
class Given:
    """An idea with the related works it came with."""

    idea: Idea
    works: tuple[Paper, ...]


def judge_all(trial: Trial, task: str, items: Mapping[str, Given]) -> dict[str, NoveltyEvaluation]:
    """Evaluations by item, in order; calibrated where the profile names a calibrator.

    Raises:
        ConfigurationError: the calibrator does not fit, or was fitted on one of the items.
    """
    parameters, path = trial.request.profile.novelty, trial.request.profile.novelty.calibrator
    if path is not None:
        refuse_training_items(
            check_calibrator(path, trial.request.engine.text),
            [given.idea.text for given in items.values()],
        )

    async def work(given: Given, context: ItemContext) -> NoveltyEvaluation:
        return (
            await evaluate_novelty(
                given.idea, parameters, context.engine, None, context.embedder, given.works
            )
        ).evaluation

    found = trial.each(task, items, work, NoveltyEvaluation, ask_again=_may_go_better)
    for evaluation in found.values():
        if _may_go_better(evaluation) and evaluation.judgement.unscored_reason is not None:
            trial.missing_reason = evaluation.judgement.unscored_reason
    return found


def judgements_of(evaluations: Mapping[str, NoveltyEvaluation]) -> dict[str, NoveltyJudgement]:
    """By item."""
    return {name: evaluation.judgement for name, evaluation in evaluations.items()}


def _may_go_better(evaluation: NoveltyEvaluation) -> bool:
    return may_pass(evaluation.judgement.unscored_reason)


def verdict(judgement: NoveltyJudgement) -> str | None:
    """Novel or not, by the score from 1 to 5; None when unscored."""
    return (
        None
        if judgement.score_1_to_5 is None
        else NOVEL
        if judgement.score_1_to_5 >= NOVEL_FROM
        else NOT_NOVEL
    )


def calibrated_verdict(judgement: NoveltyJudgement) -> str | None:
    """As `verdict`, by the label that the calibrator decides for."""
    label = judgement.calibrated_label_1_to_5
    return None if label is None else NOVEL if label >= CALIBRATED_NOVEL_FROM else NOT_NOVEL


def items_of(
    task: str,
    system: str,
    judgements: Mapping[str, NoveltyJudgement],
    answers: Mapping[str, str | None],
    gold: Mapping[str, str | None],
    values: Mapping[str, float | None],
) -> Iterator[BenchmarkItem]:
    """Rows of `benchmark_items`."""
    for item_id, judgement in judgements.items():
        yield BenchmarkItem(
            item_id=item_id,
            task=task,
            system=system,
            gold=gold.get(item_id),
            answer=answers[item_id],
            value=values[item_id],
            explanation=judgement.justification,
            unscored_reason=judgement.unscored_reason,
            unscored_detail=judgement.unscored_detail,
            provenance=judgement.provenance,
        )


def raw_values(judgements: Mapping[str, NoveltyJudgement]) -> dict[str, float | None]:
    """Scores from 1 to 5 as numbers."""
    return {
        item_id: None if one.score_1_to_5 is None else float(one.score_1_to_5)
        for item_id, one in judgements.items()
    }


def calibrated_values(judgements: Mapping[str, NoveltyJudgement]) -> dict[str, float | None]:
    """Calibrated scores; None throughout without a calibrator."""
    return {item_id: one.calibrated_score_1_to_5 for item_id, one in judgements.items()}
