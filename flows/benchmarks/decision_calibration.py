"""What calibration gains for decisions: from the evaluated scores of a submission to the
conference's decision, in its own order.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from flows.benchmarks.novelty_calibration import calibrate_on, source_of
from flows.benchmarks.trial import Trial
from schemas.benchmark import BenchmarkScore
from schemas.identifiers import RunId, content_hash
from tasks.metrics.labelled import GRADES, ClassCount, merged
from tasks.novelty.calibration.examples import FEWEST_OF_A_LABEL, Example, LabelScale, item_sha256
from warehouse.answers import IdeaReview

DECISION = "decision"
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
) -> list[BenchmarkScore]:
    """Cross-validated gain over the suite's submissions, `gold` and `said` by idea; the calibrator
    stays in the trial's folder.

    Of four classes, or where a decision is too rare for that of three; and always of two, reject
    and accept. What could not be fitted has one undefined row that says why. Submissions that share
    a text count once.
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
            Example(item_sha256(idea.text), gold[name], said.get(name), decision_features(review))
        )
    rows: list[BenchmarkScore] = []
    fitted = False
    for class_count in sorted(get_args(ClassCount), reverse=True):
        if fitted and class_count > min(get_args(ClassCount)):
            continue
        rows += calibrate_on(
            [_merged(one, class_count) for one in examples],
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
    return rows


def scale_of(class_count: ClassCount) -> LabelScale:
    """The classes in the conference's own order, one point apart."""
    labels = tuple(dict.fromkeys(merged(decision, class_count) for decision in GRADES))
    return LabelScale(labels, tuple(float(place) for place in range(len(labels))))


def _merged(example: Example, class_count: ClassCount) -> Example:
    label, raw_label = (
        None if said is None else merged(said, class_count)
        for said in (example.label, example.raw_label)
    )
    return Example(example.item_sha256, label, raw_label, example.features)


def _suffices(examples: Sequence[Example], class_count: ClassCount) -> bool:
    """Whether no class is too rare: with fewer classes nothing else would be gained."""
    labels = {
        one.item_sha256: one.label
        for one in (_merged(one, class_count) for one in examples if one.raw_label is not None)
    }
    counts = Counter(label for label in labels.values() if label is not None)
    return all(count >= FEWEST_OF_A_LABEL for count in counts.values())
