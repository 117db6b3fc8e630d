"""Suite `decisions` (InnoEval, critique task): what a conference decided about a submission, from
its idea alone, and what calibration gains for that.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from schemas.base import Noun
from schemas.identifiers import RunId, content_hash
from schemas.judgement.benchmark import ASSAY, BenchmarkItem, BenchmarkScore
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
from tasks.benchmarks.suite import Suite, submission_conditions
from tasks.benchmarks.suites.novelty_calibration import calibrate_on, source_of
from tasks.benchmarks.suites.stacking import COMMITTEE, STACK, stack_scores
from tasks.benchmarks.trial import SuiteData, Trial
from tasks.calibration.examples import (
    FEWEST_OF_A_LABEL,
    Example,
    LabelScale,
    evidence_features,
    item_sha256,
    novelty_features,
)
from tasks.committee.steps.reviews import decision_by_total
from tasks.metrics.chance import fixed_answers, random_scores
from tasks.metrics.classification import (
    accuracy,
    accuracy_value,
    label_collapse,
    macro_f1,
    macro_f1_value,
)
from tasks.metrics.estimate import Estimate, benchmark_score, benchmark_scores
from tasks.metrics.labelled import GRADES, ClassCount, Labelled, decision_of, merged, pair_up
from warehouse.answers import IdeaReview

DECISION = "decision"
STACKED_CLASSES: ClassCount = 3
"""Those of the published figure."""
FILE = "decision-calibrator.json"
"""The calibrator of the most classes whose labels suffice."""
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


def decision_features(review: IdeaReview) -> dict[str, float | None]:
    """Scores of the modules with how much of them is unscored, and the committee's means, spreads
    and agreement by dimension.
    """
    found: dict[str, float | None] = {
        name: _number(getattr(review.score, name)) for name in _SCORES
    }
    committee = review.evaluation.committee
    meta = committee.meta_review if committee is not None else None
    if meta is not None:
        found |= {f"mean {name}": value for name, value in meta.dimension_means.items()}
        found |= {f"spread {name}": value for name, value in meta.dimension_spreads.items()}
        found["krippendorff_alpha"] = meta.krippendorff_alpha
    return found


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def decision_calibration(
    trial: Trial,
    suite: str,
    run_id: RunId,
    gold: Mapping[str, str | None],
    said: Mapping[str, str | None],
    clusters: Mapping[str, str] | None = None,
) -> list[BenchmarkScore]:
    """Cross-validated gain over the suite's submissions, `gold` and `said` by idea, and what each
    source of judgement adds to three classes; the calibrator stays in the trial's folder.
    Submissions of one cluster are never in two folds.

    Of four classes, or where a decision is too rare for that of three; and always of two, reject
    and accept. What could not be fitted has one undefined row that says why. Submissions that share
    a text count once.
    """
    texts: dict[str, str] = {}
    examples: list[Example] = []
    stacked: list[Example] = []
    steps: set[str] = set()
    for review in trial.reviews(run_id):
        idea = review.evaluation.idea
        if (name := str(idea.idea_id)) not in gold:
            continue
        texts[name] = idea.text
        steps |= {f"{call.step}" for call in review.evaluation.llm_calls}
        example = Example(
            item_sha256(idea.text),
            gold[name],
            said.get(name),
            decision_features(review),
            clusters[name] if clusters is not None else None,
        )
        examples.append(example)
        stacked.append(replace(example, features=stacked_features(review), text=idea.text))
    rows: list[BenchmarkScore] = []
    fitted = False
    for class_count in sorted(get_args(ClassCount), reverse=True):
        if fitted and class_count > min(get_args(ClassCount)):
            continue
        rows += calibrate_on(
            [_example_merged(one, class_count) for one in examples],
            scale_of(class_count),
            suite=suite,
            part=f"decisions, classes={class_count}",
            engine=trial.request.engine.text,
            source=source_of("innoeval_points.jsonl", texts),
            seed=trial.seed,
            target=None if fitted else trial.folder / FILE,
            predicts=DECISION,
            judged=f"run {run_id} {content_hash(*sorted(steps), length=12)}",
        )
        fitted = fitted or _suffices(examples, class_count)
    three = [_example_merged(one, STACKED_CLASSES) for one in stacked]
    part = f"{STACK}, classes={STACKED_CLASSES}"
    return [*rows, *stack_scores(three, scale_of(STACKED_CLASSES), suite, part, trial.seed)]


def stacked_features(review: IdeaReview) -> dict[str, float | None]:
    """By source (`tasks.benchmarks.suites.stacking`): the committee's means by dimension, the prior's
    evidence, the novelty judgement. Submissions meet in no matches here, so none has a rating.
    """
    committee, novelty = review.evaluation.committee, review.evaluation.novelty
    meta = committee.meta_review if committee is not None else None
    found: dict[str, float | None] = {}
    if meta is not None:
        found |= {f"{COMMITTEE} {name}": value for name, value in meta.dimension_means.items()}
    evidence = evidence_features(review.evaluation)
    found |= {f"prior {name}": value for name, value in evidence.items()}
    if novelty is not None:
        found |= novelty_features(novelty)
    return found


def scale_of(class_count: ClassCount) -> LabelScale:
    """The classes in the conference's own order, one point apart."""
    labels = tuple(dict.fromkeys(merged(decision, class_count) for decision in GRADES))
    return LabelScale(labels, tuple(float(place) for place in range(len(labels))))


def _example_merged(example: Example, class_count: ClassCount) -> Example:
    label, raw_label = (
        None if said is None else merged(said, class_count)
        for said in (example.label, example.raw_label)
    )
    return replace(example, label=label, raw_label=raw_label)


def _suffices(examples: Sequence[Example], class_count: ClassCount) -> bool:
    """Whether no class is too rare: with fewer classes nothing else would be gained."""
    labels = {
        one.item_sha256: one.label
        for one in (
            _example_merged(one, class_count) for one in examples if one.raw_label is not None
        )
    }
    counts = Counter(label for label in labels.values() if label is not None)
    return all(count >= FEWEST_OF_A_LABEL for count in counts.values())


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
    submissions = _submissions(trial)
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
    clusters = linked_submissions(trial.data, submissions)
    answers_by_system = {ASSAY: said, **fixed_answers(gold, tuple(GRADES))}
    return [
        *(
            score
            for system, answers in answers_by_system.items()
            for score in _scores(gold, answers, system, trial.seed, clusters)
        ),
        *_random_scores(gold, trial.seed),
        *decision_calibration(trial, NAME, run_id, gold, said, clusters),
    ]


def _submissions(data: SuiteData) -> list[Submission]:
    return list(data.submissions(data.draw(read_points(data.file(POINTS_FILE)))).values())


def decisions_of(
    trial: Trial, submissions: Sequence[Submission]
) -> tuple[dict[str, Decided], RunId]:
    """What the evaluated run decides about each submission, and the run.

    With the committee the decision is that of its meta-review. Without, it follows from the idea's
    score by the thresholds that InnoEval's released prompt states for totals (`decision_by_total`):
    7.8 oral, 7.4 spotlight, 7.2 poster, below that reject.
    """
    run_id = trial.evaluated_run()
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
        yield from benchmark_scores(_metrics(labelled, class_count, seed), NAME, system, part)
    yield from _shares(pair_up(gold, said), system)


def _random_scores(gold: Mapping[str, str | None], seed: int) -> Iterator[BenchmarkScore]:
    for class_count in get_args(ClassCount):
        of_classes, classes = _merged(gold, class_count), _classes(class_count)
        statistics: dict[str, Callable[[Labelled], float]] = {
            "macro_f1": partial(macro_f1_value, classes=classes),
            "accuracy": accuracy_value,
        }
        yield from random_scores(of_classes, statistics, NAME, f"classes={class_count}", seed)


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
    """Shares of the predictions beside those of the labels: the diagnosis of label collapse."""
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
    ideas=lambda data: unique_ideas(_submissions(data)),
    modules=MODULES,
    optional=(GROUPS_FILE, *PAIR_FILES.values()),
    conditions=submission_conditions,
    labels_public_since=DECIDED,
)
