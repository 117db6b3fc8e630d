"""RINoBench: released predictions, and with gold labels all nine metrics.

Seven of the metrics grade justifications (`justifications.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from schemas.judgement.benchmark import ASSAY, BenchmarkScore
from schemas.judgement.novelty import NoveltyEvaluation, NoveltyJudgement
from schemas.judging import Wording
from schemas.outcome import Outcome, Unscored
from schemas.profile import NoveltyParameters
from tasks.benchmarks.items import ItemContext, ItemResult
from tasks.benchmarks.novelty_sets import (
    GOLD,
    SCALE,
    TEST_LABELS,
    TRAINING,
    GoldIdea,
    LabeledIdea,
    read_gold,
    read_predictions,
    read_scores,
)
from tasks.benchmarks.steps.prompted_novelty import (
    PROMPTED_NOVELTY,
    PromptedNoveltyInput,
    PromptedNoveltyReply,
)
from tasks.benchmarks.suite import Trial
from tasks.benchmarks.suites.calibration_scores import CALIBRATED, calibrate_on, source_of
from tasks.benchmarks.suites.justifications import score_justifications
from tasks.calibration.calibrator_files import calibrate, load_calibrator, refuse_training_items
from tasks.calibration.examples import Example, LabelScale, item_sha256, novelty_features
from tasks.calibration.model import MEAN_ABSOLUTE_ERROR
from tasks.citations.keys import show
from tasks.judging.step import unasked_provenance
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_answers, stratified_random
from tasks.metrics.classification import (
    f1_of_class,
    label_collapse,
    macro_f1,
    macro_f1_value,
    mean_absolute_error,
    mean_absolute_error_value,
)
from tasks.metrics.estimate import Estimate
from tasks.metrics.labels import LabelPairs, pair_up
from tasks.metrics.means import share
from tasks.novelty.evaluate import evaluate_novelty
from tasks.novelty.profile_files import check_calibrator
from tasks.novelty.related_works import given_works
from tasks.novelty.steps.judge_novelty import WorkShown

PART = "rinobench test"
FIVE = LabelScale(("1", "2", "3", "4", "5"), (1.0, 2.0, 3.0, 4.0, 5.0))
PUBLISHED_GOLD: Mapping[str, int | None] = {
    f"{label}-{place}": label for label, count in TEST_LABELS.items() for place in range(count)
}
"""Labels with the counts of Table 2, which suffice for constant and random baselines."""
PAPER = "RINoBench (Schopf & Färber), released scores of Table 3"

Gold = Mapping[str, int | None]
Values = Mapping[str, float | None]


class NoveltyResult(ItemResult):
    evaluation: NoveltyEvaluation


def judge_all(
    trial: Trial, task: str, items: Mapping[str, LabeledIdea | GoldIdea]
) -> dict[str, NoveltyEvaluation]:
    """Evaluate the novelty of items, calibrated if the profile names a calibrator.

    In the published wording the engine gives one score, without probabilities.

    Raises:
        ConfigurationError: the calibrator does not fit, or was trained on one of the items.
    """
    parameters = trial.request.profile.novelty
    if parameters.calibrator is not None:
        calibrator = check_calibrator(parameters.calibrator, trial.request.engine.text)
        refuse_training_items(calibrator, [one.idea.text for one in items.values()])

    async def work(one: LabeledIdea | GoldIdea, context: ItemContext) -> NoveltyResult:
        if trial.parameters.judge is Wording.PUBLISHED:
            evaluation = await _judge_as_published(one, parameters, context)
        else:
            novelty_result = await evaluate_novelty(
                one.idea, parameters, context.engine, None, context.embedder, one.works
            )
            evaluation = novelty_result.evaluation
        judgement = evaluation.judgement
        return NoveltyResult(
            evaluation=evaluation,
            reason=judgement.unscored_reason,
            detail=judgement.unscored_detail,
        )

    results = trial.each(task, items, work, NoveltyResult)
    return {name: one.evaluation for name, one in results.items()}


async def _judge_as_published(
    one: LabeledIdea | GoldIdea, parameters: NoveltyParameters, context: ItemContext
) -> NoveltyEvaluation:
    """Ask RINoBench's question about an idea and the works of its set."""
    selection = await given_works(one.idea, one.works, parameters, context.embedder)
    outcome: Outcome[PromptedNoveltyReply]
    if selection.missing is not None:
        made_by = unasked_provenance(PROMPTED_NOVELTY, context.engine)
        outcome = Unscored(*selection.missing, made_by)
    else:
        works = tuple(
            WorkShown(key=key, title=paper.title, year=paper.year, abstract=paper.abstract or "")
            for key, paper in show(selection.works)
        )
        question = PromptedNoveltyInput(idea=one.idea.text, works=works)
        outcome = await context.engine.run(PROMPTED_NOVELTY, question)
    judgement = (
        NoveltyJudgement(score_1_to_5=None, **outcome.columns)
        if isinstance(outcome, Unscored)
        else NoveltyJudgement(
            score_1_to_5=outcome.value.score,
            justification=outcome.value.justification,
            provenance=outcome.provenance,
        )
    )
    return NoveltyEvaluation(judgement=judgement, failures=selection.failures)


def raw_scores(judgements: Mapping[str, NoveltyJudgement]) -> dict[str, float | None]:
    """Return scores from 1 to 5 as numbers."""
    return {
        name: None if one.score_1_to_5 is None else float(one.score_1_to_5)
        for name, one in judgements.items()
    }


def calibrated_scores(judgements: Mapping[str, NoveltyJudgement]) -> dict[str, float | None]:
    """Return calibrated scores; None throughout without a calibrator."""
    return {name: one.calibrated_score_1_to_5 for name, one in judgements.items()}


def record_judgements(
    trial: Trial,
    task: str,
    system: str,
    judgements: Mapping[str, NoveltyJudgement],
    answers: Mapping[str, str | None],
    gold: Mapping[str, str | None],
    values: Values,
) -> None:
    for name, judgement in judgements.items():
        made_by = ItemResult(
            reason=judgement.unscored_reason,
            detail=judgement.unscored_detail,
            provenance=judgement.provenance,
        )
        trial.record(
            task,
            name,
            answers[name],
            made_by,
            system=system,
            gold=gold.get(name),
            value=values[name],
            explanation=judgement.justification,
        )


def examples_of(
    texts: Mapping[str, str],
    evaluations: Mapping[str, NoveltyEvaluation],
    gold: Mapping[str, str | None],
    raw: Mapping[str, str | None],
) -> list[Example]:
    """Return judged ideas as training data.

    Args:
        raw: labels of the judge.
    """
    return [
        Example(item_sha256(texts[name]), gold.get(name), raw.get(name), novelty_features(one))
        for name, one in evaluations.items()
    ]


# Scores.


def score_rinobench(trial: Trial) -> None:
    """Record published scores and score released predictions; with gold labels score all."""
    predictions, published_scores = read_predictions(trial.data), read_scores(trial.data)
    trial.scores += [
        BenchmarkScore(
            suite=trial.unit.suite,
            metric=metric,
            slice=PART,
            system=model,
            value=value,
            count=sum(TEST_LABELS.values()),
            published_source=f"{PAPER}, {model}",
        )
        for model, figures in published_scores.items()
        for metric, value in figures.items()
    ]
    # Label shares of each model's predictions, which need no gold label.
    for model, model_predictions in predictions.items():
        counts = {label: sum(one.score == label for one in model_predictions) for label in SCALE}
        answered_count, missing = (
            sum(counts.values()),
            sum(one.score is None for one in model_predictions),
        )
        for label, count in counts.items():
            estimate = share(count, answered_count, missing)
            trial.score("predicted_share", estimate, model, f"{PART}, label {label}")
    if not trial.file(GOLD).is_file():
        if predictions:
            _score_baselines(trial, PUBLISHED_GOLD)
        return
    # Gold ideas that a file has no prediction for are unscored; predictions beyond the gold ideas
    # are ignored.
    everything = read_gold(trial.file(GOLD))
    drawn_items = {str(one.idea.idea_id): one for one in trial.draw(everything)}
    gold = {name: one.score for name, one in drawn_items.items()}
    _score_baselines(trial, gold)
    for model, model_predictions in predictions.items():
        by_name = {
            str(one.idea.idea_id): prediction
            for one, prediction in zip(everything, model_predictions, strict=False)
            if str(one.idea.idea_id) in drawn_items
        }
        predicted_scores = {name: one.score for name, one in by_name.items()}
        trial.score_all(_estimates(gold, predicted_scores, trial.seed), model, PART)
        if model not in published_scores:
            reasoning = {name: one.reasoning or "" for name, one in by_name.items()}
            score_justifications(trial, model, drawn_items, reasoning, PART)
    evaluations = judge_all(trial, PART, drawn_items)
    judgements = {name: one.judgement for name, one in evaluations.items()}
    _record(trial, ASSAY, judgements, gold, raw_scores(judgements))
    predicted_scores = {name: one.score_1_to_5 for name, one in judgements.items()}
    trial.score_all(_estimates(gold, predicted_scores, trial.seed), ASSAY, PART)
    if trial.request.profile.novelty.calibrator is not None:
        _record(trial, CALIBRATED, judgements, gold, calibrated_scores(judgements))
        _score_calibrated(trial, gold, evaluations)
    justifications = {name: one.justification for name, one in judgements.items()}
    score_justifications(trial, ASSAY, drawn_items, justifications, PART)


def _score_baselines(trial: Trial, gold: Gold) -> None:
    for metric, system, part, estimate in baselines(gold, trial.seed):
        trial.score(metric, estimate, system, part)


def baselines(gold: Gold, seed: int) -> Iterator[tuple[str, str, str, Estimate]]:
    """Yield (metric, system, part, estimate) of constant and random answers.

    On the test split, the constant score 3 has a lower error than every model.
    """
    for system, fixed_scores in fixed_answers(gold, SCALE).items():
        for metric, estimate in score_metrics(gold, fixed_scores, seed).items():
            yield metric, system, PART, estimate
    statistics: dict[str, Callable[[LabelPairs], float]] = {
        "macro_f1": partial(macro_f1_value, classes=SCALE),
        **{f"f1_{label}": partial(macro_f1_value, classes=(label,)) for label in SCALE},
        "mean_absolute_error": mean_absolute_error_value,
    }
    for metric, statistic in statistics.items():
        yield metric, STRATIFIED_RANDOM, PART, stratified_random(gold, statistic, seed)
    labels = [label for label in gold.values() if label is not None]
    for label in SCALE:
        estimate = share(labels.count(label), len(labels))
        yield "gold_share", "labels", f"{PART}, label {label}", estimate


def _estimates(gold: Gold, predictions: Gold, seed: int) -> dict[str, Estimate]:
    collapse = label_collapse(pair_up(gold, predictions), SCALE)
    names = ("top_label_share", "labels_in_use_ratio", "total_variation")
    return score_metrics(gold, predictions, seed) | {name: collapse[name] for name in names}


def score_metrics(gold: Gold, predictions: Gold, seed: int = 0) -> dict[str, Estimate]:
    """Estimate `macro_f1`, `f1_1` … `f1_5` (0 to 1) and `mean_absolute_error` (points); §4.2.1.

    Macro F1 is the unweighted mean over the classes that occur.

    Bad input: items without a prediction are unscored; predictions without gold are ignored;
    without a common item the metrics are undefined.
    """
    label_pairs = pair_up(gold, predictions)
    return {
        "macro_f1": macro_f1(label_pairs, SCALE, seed),
        **{f"f1_{label}": f1_of_class(label_pairs, label, seed) for label in SCALE},
        "mean_absolute_error": mean_absolute_error(label_pairs, seed),
    }


def _record(
    trial: Trial,
    system: str,
    judgements: Mapping[str, NoveltyJudgement],
    gold: Gold,
    values: Values,
) -> None:
    answers = {name: None if value is None else f"{value:g}" for name, value in values.items()}
    labels = {name: None if label is None else str(label) for name, label in gold.items()}
    record_judgements(trial, PART, system, judgements, answers, labels, values)


def _score_calibrated(
    trial: Trial, gold: Gold, evaluations: Mapping[str, NoveltyEvaluation]
) -> None:
    """Score calibrated labels, by the calibrator's rule for each metric."""
    calibrator = load_calibrator(str(trial.request.profile.novelty.calibrator))
    calibrated_labels = {
        name: calibrate(calibrator, novelty_features(one))
        for name, one in evaluations.items()
        if one.judgement.calibrated_label_1_to_5 is not None
    }
    for_f1 = {name: round(one.for_f1) for name, one in calibrated_labels.items()}
    for_error = {name: round(one.for_error) for name, one in calibrated_labels.items()}
    estimates = _estimates(gold, for_f1, trial.seed)
    del estimates[MEAN_ABSOLUTE_ERROR]
    error = score_metrics(gold, for_error, trial.seed)[MEAN_ABSOLUTE_ERROR]
    trial.score_all({**estimates, MEAN_ABSOLUTE_ERROR: error}, CALIBRATED, PART)


def score_training(trial: Trial, file: str) -> None:
    """Judge an available training split, and fit a five-label calibrator."""
    path = trial.file(TRAINING)
    if not path.is_file():
        return
    rows = {str(one.idea.idea_id): one for one in trial.draw(read_gold(path))}
    evaluations = judge_all(trial, "rinobench train", rows)
    gold = {name: None if one.score is None else str(one.score) for name, one in rows.items()}
    scores = {name: one.judgement.score_1_to_5 for name, one in evaluations.items()}
    raw = {name: None if score is None else str(score) for name, score in scores.items()}
    texts = {name: one.idea.text for name, one in rows.items()}
    examples = examples_of(texts, evaluations, gold, raw)
    source = source_of(TRAINING, texts)
    calibrate_on(trial, examples, FIVE, "rinobench train", source=source, file=file)
