"""Suite `decisions` (InnoEval, critique task): what a conference decided about a submission, from
its idea alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import get_args

from flows.benchmarks.conditions import submission_conditions
from flows.benchmarks.decision_calibration import decision_calibration
from flows.benchmarks.suite import Suite
from flows.benchmarks.trial import Trial
from schemas.base import Noun
from schemas.benchmark import ASSAY, BenchmarkItem, BenchmarkScore
from schemas.identifiers import RunId
from schemas.reasons import Reason
from schemas.run import Module
from tasks.benchmarks.innoeval import (
    DECIDED,
    GROUPS_FILE,
    PAIR_FILES,
    POINTS_FILE,
    Submission,
    linked_submissions,
    read_points,
    unique_ideas,
)
from tasks.committee.steps.meta_review import decision_by_total
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_answers, stratified_random
from tasks.metrics.classification import (
    accuracy,
    accuracy_value,
    label_collapse,
    macro_f1,
    macro_f1_value,
)
from tasks.metrics.estimate import Estimate, benchmark_score
from tasks.metrics.labelled import GRADES, ClassCount, Labelled, decision_of, merged, pair_up
from warehouse.answers import IdeaReview

NAME = "decisions"
MODULES = (Module.COMMITTEE,)


class Decided(Noun):
    """A decision, and the score out of ten it rests on; None where there is none."""

    decision: str | None
    score_0_to_10: float | None
    reason: Reason | None = None
    detail: str = ""


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """F1 and accuracy for 2, 3 and 4 classes, and how far predictions crowd into few labels, for
    Assay and for what looks at nothing.
    """
    submissions = list(trial.submissions(trial.draw(read_points(trial.file(POINTS_FILE)))).values())
    decided, run_id = decisions_of(trial, submissions)
    gold = {str(one.idea.idea_id): one.decision for one in submissions}
    trial.record(
        BenchmarkItem(
            item_id=idea_id,
            task="decision",
            system=ASSAY,
            gold=gold[idea_id],
            answer=one.decision,
            value=one.score_0_to_10 if one.decision is not None else None,
            unscored_reason=one.reason,
            unscored_detail=one.detail,
            evaluated_run_id=run_id,
        )
        for idea_id, one in decided.items()
    )
    said = {idea_id: one.decision for idea_id, one in decided.items()}
    clusters = linked_submissions(trial.request.data, submissions)
    answers_by_system = {ASSAY: said, **fixed_answers(gold, tuple(GRADES))}
    return [
        *(
            score
            for system, answers in answers_by_system.items()
            for score in _scores(gold, answers, system, trial.seed, clusters)
        ),
        *_random_scores(gold, trial.seed),
        *decision_calibration(trial, NAME, run_id, gold, said),
    ]


def decisions_of(
    trial: Trial, submissions: Sequence[Submission]
) -> tuple[dict[str, Decided], RunId]:
    """What the evaluated run decides about each submission, and the run.

    With the committee the decision is that of its meta-review. Without, it follows from the idea's
    score by the thresholds that InnoEval's released prompt states for totals (`decision_by_total`):
    7.8 oral, 7.4 spotlight, 7.2 poster, below that reject.
    """
    run_id = trial.evaluate("submissions", unique_ideas(submissions), trial.modules(MODULES))
    found = {
        str(review.evaluation.idea.idea_id): _decided(review) for review in trial.reviews(run_id)
    }
    missing = Decided(
        decision=None,
        score_0_to_10=None,
        reason=Reason.NOTHING_TO_JUDGE,
        detail=f"not evaluated in run {run_id}",
    )
    return {
        str(one.idea.idea_id): found.get(str(one.idea.idea_id), missing) for one in submissions
    }, run_id


def _decided(review: IdeaReview) -> Decided:
    committee, score = review.evaluation.committee, review.score.score
    meta = committee.meta_review if committee is not None else None
    if meta is not None and meta.decision is not None:
        return Decided(
            decision=decision_of(meta.decision.value), score_0_to_10=meta.total_score_0_to_10
        )
    if meta is not None:
        reason = meta.unscored_reason or Reason.NOTHING_TO_JUDGE
        return Decided(
            decision=None, score_0_to_10=None, reason=reason, detail=meta.unscored_detail
        )
    if score is None:
        return Decided(
            decision=None,
            score_0_to_10=None,
            reason=Reason.NO_EVIDENCE,
            detail="the evaluation has no score",
        )
    return Decided(decision=decision_of(decision_by_total(score).value), score_0_to_10=score)


def _scores(
    gold: Mapping[str, str | None],
    said: Mapping[str, str | None],
    system: str,
    seed: int,
    clusters: Mapping[str, str],
) -> Iterator[BenchmarkScore]:
    for class_count in get_args(ClassCount):
        labelled = pair_up(_merged(gold, class_count), _merged(said, class_count), clusters)
        part = f"classes={class_count}"
        for metric, estimate in _metrics(labelled, class_count, seed).items():
            yield benchmark_score(estimate, NAME, metric, system, part)
    yield from _shares(pair_up(gold, said), system)


def _random_scores(gold: Mapping[str, str | None], seed: int) -> Iterator[BenchmarkScore]:
    for class_count in get_args(ClassCount):
        of_classes, classes = _merged(gold, class_count), _classes(class_count)
        statistics: dict[str, Callable[[Labelled], float]] = {
            "macro_f1": partial(macro_f1_value, classes=classes),
            "accuracy": accuracy_value,
        }
        for metric, statistic in statistics.items():
            drawn = stratified_random(of_classes, statistic, seed)
            yield benchmark_score(drawn, NAME, metric, STRATIFIED_RANDOM, f"classes={class_count}")


def _classes(class_count: ClassCount) -> tuple[str, ...]:
    return tuple(dict.fromkeys(merged(decision, class_count) for decision in GRADES))


def _metrics(labelled: Labelled, class_count: ClassCount, seed: int) -> dict[str, Estimate]:
    classes = _classes(class_count)
    collapse = label_collapse(labelled, classes)
    return {
        "macro_f1": macro_f1(labelled, classes, seed),
        "accuracy": accuracy(labelled, seed),
        "top_label_share": collapse.top_label_share,
        "predicted_entropy_bits": collapse.predicted_entropy_bits,
        "gold_entropy_bits": collapse.gold_entropy_bits,
        "labels_in_use_ratio": collapse.labels_in_use_ratio,
        "total_variation": collapse.total_variation,
    }


def _shares(labelled: Labelled, system: str) -> Iterator[BenchmarkScore]:
    """Distribution of the predictions beside that of the labels: the diagnosis of label collapse."""
    collapse = label_collapse(labelled, tuple(GRADES))
    for place, label in enumerate(collapse.classes):
        for metric, shares in (
            ("predicted_share", collapse.predicted_shares),
            ("gold_share", collapse.gold_shares),
        ):
            if shares:
                estimate = Estimate(
                    shares[place], labelled.count, unscored_count=labelled.unscored_count
                )
                yield benchmark_score(estimate, NAME, metric, system, f"label={label}")


def _merged(labels: Mapping[str, str | None], class_count: ClassCount) -> dict[str, str | None]:
    return {
        name: None if label is None else merged(label, class_count)
        for name, label in labels.items()
    }


SUITE = Suite(
    NAME,
    "Does it decide about submissions as the conference did?",
    (POINTS_FILE,),
    run,
    modules=MODULES,
    optional=(GROUPS_FILE, *PAIR_FILES.values()),
    conditions=submission_conditions,
    labels_public_since=DECIDED,
)
