"""RINoBench: released predictions beside their published scores, and all nine metrics where gold
labels are at hand.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from schemas.judgement.benchmark import ASSAY, BenchmarkItem, BenchmarkScore
from schemas.judgement.novelty import NoveltyEvaluation, NoveltyJudgement
from tasks.benchmarks.items import ItemContext
from tasks.benchmarks.novelty_grading import Grade, Justified, grade
from tasks.benchmarks.novelty_sets import (
    GOLD,
    TEST_LABELS,
    TRAINING,
    GoldIdea,
    Prediction,
    read_gold,
    read_predictions,
    read_scores,
)
from tasks.benchmarks.suites.novelty_calibration import FIVE, calibrate_on, examples_of, source_of
from tasks.benchmarks.suites.novelty_judging import (
    CALIBRATED,
    Given,
    calibrated_values,
    items_of,
    judge_all,
    judgements_of,
    raw_values,
)
from tasks.benchmarks.trial import Trial
from tasks.calibration.applying import calibrate, load_calibrator
from tasks.calibration.examples import novelty_features
from tasks.calibration.model import MEAN_ABSOLUTE_ERROR
from tasks.metrics.chance import fixed_answers, random_scores
from tasks.metrics.classification import label_collapse, macro_f1_value, mean_absolute_error_value
from tasks.metrics.estimate import benchmark_score, benchmark_scores, undefined
from tasks.metrics.labelled import Labelled, pair_up
from tasks.metrics.means import share
from tasks.metrics.novelty import SCALE, justification_metrics, score_metrics

PART = "rinobench test"
PUBLISHED_GOLD: Mapping[str, int | None] = {
    f"{label}-{place}": label for label, count in TEST_LABELS.items() for place in range(count)
}
"""As many labels of each kind as Table 2 counts: enough for what looks at no idea."""
PAPER = "RINoBench (Schopf & Färber), released scores of Table 3"


def rinobench_scores(trial: Trial, suite: str) -> list[BenchmarkScore]:
    """Published figures, what the released predictions say, and with gold labels everything
    measured anew.
    """
    folder = trial.data
    predictions, published = read_predictions(folder), read_scores(folder)
    scores = [
        BenchmarkScore(
            suite=suite,
            metric=metric,
            slice=PART,
            system=model,
            value=value,
            count=sum(TEST_LABELS.values()),
            published_source=f"{PAPER}, {model}",
        )
        for model, figures in published.items()
        for metric, value in figures.items()
    ]
    if predictions:
        scores += _spread(suite, predictions)
    if not trial.file(GOLD).is_file():
        return [
            *scores,
            *(baseline_scores(suite, PUBLISHED_GOLD, trial.seed) if predictions else ()),
        ]
    return [*scores, *_measured(trial, suite, predictions, published.keys())]


def _spread(
    suite: str, predictions: Mapping[str, Sequence[Prediction]]
) -> Iterator[BenchmarkScore]:
    """How far each model's predictions crowd into few labels; needs no gold label."""
    for model, listed in predictions.items():
        counts = {label: sum(one.score == label for one in listed) for label in SCALE}
        answered, missing = sum(counts.values()), sum(one.score is None for one in listed)
        for label, count in counts.items():
            yield benchmark_score(
                share(count, answered, missing),
                suite,
                "predicted_share",
                model,
                f"{PART}, label {label}",
            )


def baseline_scores(
    suite: str, gold: Mapping[str, int | None], seed: int
) -> Iterator[BenchmarkScore]:
    """What answers reach that look at nothing. On the test split the constant calls every idea a 3:
    no model's error is lower.
    """
    for system, said in fixed_answers(gold, SCALE).items():
        yield from benchmark_scores(score_metrics(gold, said, seed), suite, system, PART)
    statistics: dict[str, Callable[[Labelled], float]] = {
        "macro_f1": partial(macro_f1_value, classes=SCALE),
        **{f"f1_{label}": partial(macro_f1_value, classes=(label,)) for label in SCALE},
        "mean_absolute_error": mean_absolute_error_value,
    }
    yield from random_scores(gold, statistics, suite, PART, seed)
    known = [label for label in gold.values() if label is not None]
    for label in SCALE:
        gold_share = share(known.count(label), len(known))
        yield benchmark_score(gold_share, suite, "gold_share", "labels", f"{PART}, label {label}")


def _measured(
    trial: Trial,
    suite: str,
    released: Mapping[str, Sequence[Prediction]],
    graded_before: Collection[str],
) -> list[BenchmarkScore]:
    """All nine metrics of Assay, and of predictions without published scores; F1 and error of every
    prediction file.

    Gold ideas that a file has no prediction for are unscored; predictions beyond the gold ideas are
    ignored.
    """
    everything = read_gold(trial.file(GOLD))
    chosen = {str(one.idea.idea_id): one for one in trial.draw(everything)}
    gold = {name: one.score for name, one in chosen.items()}
    scores = list(baseline_scores(suite, gold, trial.seed))
    for model, listed in released.items():
        by_name = {
            str(one.idea.idea_id): said
            for one, said in zip(everything, listed, strict=False)
            if str(one.idea.idea_id) in chosen
        }
        scores += _score_rows(
            suite, model, gold, {name: said.score for name, said in by_name.items()}, trial.seed
        )
        if model not in graded_before:
            scores += _graded(
                trial,
                suite,
                model,
                chosen,
                {name: said.reasoning for name, said in by_name.items()},
            )
    evaluations = judge_all(
        trial, PART, {name: Given(one.idea, one.works) for name, one in chosen.items()}
    )
    judgements = judgements_of(evaluations)
    trial.record(_items(ASSAY, judgements, gold, raw_values(judgements)))
    scores += _score_rows(
        suite, ASSAY, gold, {name: one.score_1_to_5 for name, one in judgements.items()}, trial.seed
    )
    if trial.request.profile.novelty.calibrator is not None:
        trial.record(_items(CALIBRATED, judgements, gold, calibrated_values(judgements)))
        scores += _calibrated_rows(trial, suite, gold, evaluations)
    return [
        *scores,
        *_graded(
            trial,
            suite,
            ASSAY,
            chosen,
            {name: one.justification for name, one in judgements.items()},
        ),
    ]


def _calibrated_rows(
    trial: Trial,
    suite: str,
    gold: Mapping[str, int | None],
    evaluations: Mapping[str, NoveltyEvaluation],
) -> Iterator[BenchmarkScore]:
    """Error by the calibrator's rule for the error, all else by its rule for macro F1."""
    calibrator = load_calibrator(str(trial.request.profile.novelty.calibrator))
    found = {
        name: calibrate(calibrator, novelty_features(one))
        for name, one in evaluations.items()
        if one.judgement.calibrated_label_1_to_5 is not None
    }
    for_f1 = {name: round(one.for_f1) for name, one in found.items()}
    for_error = {name: round(one.for_error) for name, one in found.items()}
    for score in _score_rows(suite, CALIBRATED, gold, for_f1, trial.seed):
        if score.metric != MEAN_ABSOLUTE_ERROR:
            yield score
    error = score_metrics(gold, for_error, trial.seed)[MEAN_ABSOLUTE_ERROR]
    yield benchmark_score(error, suite, MEAN_ABSOLUTE_ERROR, CALIBRATED, PART)


def _items(
    system: str,
    judgements: Mapping[str, NoveltyJudgement],
    gold: Mapping[str, int | None],
    values: Mapping[str, float | None],
) -> Iterator[BenchmarkItem]:
    answers = {name: None if value is None else f"{value:g}" for name, value in values.items()}
    labels = {name: None if label is None else str(label) for name, label in gold.items()}
    return items_of(PART, system, judgements, answers, labels, values)


def _score_rows(
    suite: str,
    system: str,
    gold: Mapping[str, int | None],
    said: Mapping[str, int | None],
    seed: int,
) -> list[BenchmarkScore]:
    collapse = label_collapse(pair_up(gold, said), SCALE)
    found = score_metrics(gold, said, seed) | {
        "top_label_share": collapse.top_label_share,
        "labels_in_use_ratio": collapse.labels_in_use_ratio,
        "total_variation": collapse.total_variation,
    }
    return benchmark_scores(found, suite, system, PART)


def _graded(
    trial: Trial,
    suite: str,
    system: str,
    chosen: Mapping[str, GoldIdea],
    reasoning: Mapping[str, str],
) -> Iterator[BenchmarkScore]:
    """The seven metrics of justifications; items that lack either justification are unscored."""
    items = {
        name: Justified(
            idea=one.idea.text,
            works=tuple((paper.title, paper.abstract or paper.title) for paper in one.works),
            expected=one.reasoning,
            actual=reasoning[name],
        )
        for name, one in chosen.items()
        if one.reasoning.strip() and reasoning.get(name, "").strip()
    }

    async def work(justified: Justified, context: ItemContext) -> Grade:
        return await grade(justified, context.engine)

    grades = trial.each(
        f"grade {system}", items, work, Grade, ask_again=lambda one: one.may_go_better
    )
    for one in grades.values():
        if one.may_go_better:
            trial.missing_reason = one.reasons[0]
    lacking = len(chosen) - len(items)
    if not grades:
        yield benchmark_score(
            undefined("no item has both justifications", 0, lacking),
            suite,
            "alignment",
            system,
            PART,
        )
        return
    blank = Grade(alignment_0_to_1=None, known=None, novel=None)
    judged = [one.justification for one in (*grades.values(), *[blank] * lacking)]
    yield from benchmark_scores(justification_metrics(judged, trial.seed), suite, system, PART)


def training_scores(trial: Trial, suite: str, target: Path) -> list[BenchmarkScore]:
    """Judge the training split, where it is at hand, and fit the calibrator of five labels on it;
    none without the split.
    """
    path = trial.file(TRAINING)
    if not path.is_file():
        return []
    rows = {str(one.idea.idea_id): one for one in trial.draw(read_gold(path))}
    evaluations = judge_all(
        trial, "rinobench train", {name: Given(one.idea, one.works) for name, one in rows.items()}
    )
    gold = {name: None if one.score is None else str(one.score) for name, one in rows.items()}
    raw = {
        name: None if one.score_1_to_5 is None else str(one.score_1_to_5)
        for name, one in judgements_of(evaluations).items()
    }
    ideas = {name: one.idea.text for name, one in rows.items()}
    return calibrate_on(
        examples_of(ideas, evaluations, gold, raw),
        FIVE,
        suite=suite,
        part="rinobench train",
        engine=trial.request.engine.text,
        source=source_of(TRAINING, ideas),
        seed=trial.seed,
        target=target,
    )
