"""Suite `decisions` (InnoEval, critique task): conference decisions predicted from ideas."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, get_args

from schemas.identifiers import RunId, content_hash
from schemas.judgement.benchmark import ASSAY
from schemas.reasons import Reason
from schemas.run import Module
from tasks.benchmarks.items import ItemResult
from tasks.benchmarks.submissions import (
    DECISION_DATE,
    GROUPS_FILE,
    PAIR_FILES,
    POINTS_FILE,
    Submission,
    planned_ideas,
    read_points,
    submission_clusters,
    submission_conditions,
    unique_ideas,
    with_texts,
)
from tasks.benchmarks.suite import Statistics, Suite, SuiteData, SuiteEstimate, Trial
from tasks.benchmarks.suites.calibration_scores import calibrate_on, source_of
from tasks.calibration.examples import (
    FEWEST_OF_A_LABEL,
    Example,
    LabelScale,
    item_sha256,
)
from tasks.committee.steps.reviews import decision_by_total
from tasks.metrics.chance import fixed_answers
from tasks.metrics.classification import (
    accuracy,
    accuracy_value,
    label_collapse,
    label_shares,
    macro_f1,
    macro_f1_value,
)
from tasks.metrics.estimate import Estimate
from tasks.metrics.labels import GRADES, ClassCount, decision_of, merge_decision, pair_up
from warehouse.row_models import IdeaReview

DECISION = "decision"
FILE = "decision-calibrator.json"
"""Calibrator of the largest number of classes with enough labels."""
_SCORES = (
    "soundness_0_to_10",
    "contribution_0_to_10",
    "committee_0_to_10",
    "novelty_1_to_5",
    "soundness_unscored_share",
    "contribution_unscored_share",
    "committee_unscored_share",
    "dimension_count",
    "scored_comparison_count",
    "failure_count",
)

Labels = Mapping[str, str | None]
"""Decisions by idea; None: missing."""


class DecisionAnswer(NamedTuple):
    """Predicted decision with its score, or the reason why it is missing."""

    decision: str | None
    score_0_to_10: float | None = None
    missing: ItemResult | None = None


def run(trial: Trial) -> None:
    """Score F1, accuracy and label collapse for 2, 3 and 4 classes."""
    submissions = submissions_of(trial)
    run_id = trial.evaluated_run()
    gold: Labels = {str(one.idea.idea_id): one.decision for one in submissions}
    by_idea = {
        str(review.evaluation.idea.idea_id): decision_of_review(review)
        for review in trial.reviews(run_id)
    }
    absent = ItemResult(reason=Reason.NOTHING_TO_JUDGE, detail=f"not evaluated in run {run_id}")
    predictions: dict[str, str | None] = {}
    for idea_id, right in gold.items():
        one = by_idea.get(idea_id, DecisionAnswer(None, missing=absent))
        predictions[idea_id] = one.decision
        trial.record(
            DECISION,
            idea_id,
            one.decision,
            one.missing,
            gold=right,
            value=one.score_0_to_10,
            evaluated_run_id=run_id,
        )
    clusters = submission_clusters(trial.data, submissions)
    for system, answers in {ASSAY: predictions, **fixed_answers(gold, tuple(GRADES))}.items():
        _score(trial, gold, answers, system, clusters)
    for class_count in get_args(ClassCount):
        of_classes = _merge_labels(gold, class_count)
        of_chance: Statistics = {
            "macro_f1": partial(macro_f1_value, classes=scale_of(class_count).labels),
            "accuracy": accuracy_value,
        }
        trial.score_by_chance(of_classes, of_chance, f"classes={class_count}")
    decision_calibration(trial, run_id, gold, predictions, clusters)


def submissions_of(data: SuiteData) -> list[Submission]:
    return list(with_texts(data, data.draw(read_points(data.file(POINTS_FILE)))).values())


def decision_of_review(review: IdeaReview) -> DecisionAnswer:
    """Return the committee's decision, or else a decision by the idea's score.

    Thresholds of scores are those of InnoEval's released prompt (`decision_by_total`): 7.8 oral,
    7.4 spotlight, 7.2 poster, lower reject.
    """
    committee, score = review.evaluation.committee, review.score.score
    meta = committee.meta_review if committee is not None else None
    if meta is not None and meta.decision is not None:
        return DecisionAnswer(decision_of(meta.decision.value), meta.total_score_0_to_10)
    if meta is not None:
        reason = meta.unscored_reason or Reason.NOTHING_TO_JUDGE
        return DecisionAnswer(None, missing=ItemResult(reason=reason, detail=meta.unscored_detail))
    if score is None:
        detail = "the evaluation has no score"
        return DecisionAnswer(None, missing=ItemResult(reason=Reason.NO_EVIDENCE, detail=detail))
    return DecisionAnswer(decision_of(decision_by_total(score).value), score)


def scale_of(class_count: ClassCount) -> LabelScale:
    """Return the classes in ascending order, one point apart."""
    labels = tuple(dict.fromkeys(merge_decision(decision, class_count) for decision in GRADES))
    return LabelScale(labels, tuple(float(place) for place in range(len(labels))))


def _merge_labels(labels: Labels, class_count: ClassCount) -> dict[str, str | None]:
    return {
        name: None if label is None else merge_decision(label, class_count)
        for name, label in labels.items()
    }


def _score(
    trial: Trial, gold: Labels, predictions: Labels, system: str, clusters: Mapping[str, str]
) -> None:
    for class_count in get_args(ClassCount):
        label_pairs = pair_up(
            _merge_labels(gold, class_count), _merge_labels(predictions, class_count), clusters
        )
        classes = scale_of(class_count).labels
        estimates = {
            "macro_f1": macro_f1(label_pairs, classes, trial.seed),
            "accuracy": accuracy(label_pairs, trial.seed),
            **label_collapse(label_pairs, classes),
        }
        trial.score_all(estimates, system, f"classes={class_count}")
    # Label shares of predictions and gold labels, which show label collapse.
    label_pairs = pair_up(gold, predictions)
    if not label_pairs.count:
        return
    sides = {"predicted_share": label_pairs.predicted, "gold_share": label_pairs.gold}
    shares = {metric: label_shares(labels, tuple(GRADES)) for metric, labels in sides.items()}
    for place, label in enumerate(GRADES):
        for metric in sides:
            estimate = Estimate(
                shares[metric][place], label_pairs.count, unscored_count=label_pairs.unscored_count
            )
            trial.score(metric, estimate, system, f"label={label}")


def decision_calibration(
    trial: Trial, run_id: RunId, gold: Labels, predictions: Labels, clusters: Mapping[str, str]
) -> None:
    """Score the cross-validated gains of calibration.

    Calibrates four classes, or three if a decision is too rare, and always two. The calibrator
    stays in the trial's folder. Folds keep clusters whole; submissions with the same text count
    once.
    """
    texts: dict[str, str] = {}
    examples: list[Example] = []
    steps: set[str] = set()
    for review in trial.reviews(run_id):
        idea = review.evaluation.idea
        if (name := str(idea.idea_id)) not in gold:
            continue
        texts[name] = idea.text
        steps |= {f"{call.step}" for call in review.evaluation.llm_calls}
        examples.append(
            Example(
                item_sha256(idea.text),
                gold[name],
                predictions.get(name),
                decision_features(review),
                clusters.get(name),
            )
        )
    has_calibrator = False
    for class_count in sorted(get_args(ClassCount), reverse=True):
        if has_calibrator and class_count > min(get_args(ClassCount)):
            continue
        calibrate_on(
            trial,
            [merge_example(one, class_count) for one in examples],
            scale_of(class_count),
            f"decisions, classes={class_count}",
            source=source_of(POINTS_FILE, texts),
            file=None if has_calibrator else FILE,
            predicts=DECISION,
            judge_name=f"run {run_id} {content_hash(*sorted(steps), length=12)}",
        )
        has_calibrator = has_calibrator or _suffices(examples, class_count)


def decision_features(review: IdeaReview) -> dict[str, float | None]:
    """Return module scores, unscored shares, and the committee's statistics by dimension."""
    values = {name: getattr(review.score, name) for name in _SCORES}
    features = {name: None if value is None else float(value) for name, value in values.items()}
    committee = review.evaluation.committee
    meta = committee.meta_review if committee is not None else None
    if meta is not None:
        features |= {f"mean {name}": value for name, value in meta.dimension_means.items()}
        features |= {f"spread {name}": value for name, value in meta.dimension_spreads.items()}
        features["krippendorff_alpha"] = meta.krippendorff_alpha
    return features


def merge_example(example: Example, class_count: ClassCount) -> Example:
    label, raw_label = (
        None if decision is None else merge_decision(decision, class_count)
        for decision in (example.label, example.raw_label)
    )
    return replace(example, label=label, raw_label=raw_label)


def _suffices(examples: Sequence[Example], class_count: ClassCount) -> bool:
    """Return whether every class has enough labels."""
    labels = {one.item_sha256: one.label for one in examples if one.raw_label is not None}
    counts = Counter(
        merge_decision(label, class_count) for label in labels.values() if label is not None
    )
    return all(count >= FEWEST_OF_A_LABEL for count in counts.values())


def _expects(data: SuiteData) -> SuiteEstimate:
    ideas = data.first(planned_ideas(data, read_points(data.file(POINTS_FILE))))
    return SuiteEstimate(len(ideas), (), ideas)


SUITE = Suite(
    "decisions",
    "Does it decide about submissions as the conference did?",
    (POINTS_FILE,),
    run,
    expects=_expects,
    ideas=lambda data: unique_ideas(submissions_of(data)),
    modules=(Module.COMMITTEE,),
    optional=(GROUPS_FILE, *PAIR_FILES.values()),
    conditions=submission_conditions,
    labels_public_since=DECISION_DATE,
)
