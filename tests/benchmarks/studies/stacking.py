"""Study `stacking`: what each source of judgement adds to the prediction of decisions.

Sources are the committee, the prior's evidence with the text, and the novelty judgement of a run
(`--run`, or the run that the study evaluates).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from schemas.errors import ConfigurationError
from tasks.benchmarks.submissions import submission_clusters
from tasks.benchmarks.suite import Trial
from tasks.benchmarks.suites.decisions import SUITE as DECISIONS
from tasks.benchmarks.suites.decisions import (
    decision_of_review,
    merge_example,
    scale_of,
    submissions_of,
)
from tasks.calibration.examples import (
    FEATURE_KINDS,
    Example,
    LabelScale,
    evidence_features,
    item_sha256,
    novelty_features,
)
from tasks.calibration.fitting import cross_validate
from tasks.metrics.classification import accuracy, macro_f1
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.labels import ClassCount, pair_up
from warehouse.row_models import IdeaReview

CLASSES: ClassCount = 3
"""Number of classes in the published score."""
STACK = "stack"
RATING = "rating"
COMMITTEE = "committee"


@dataclass(frozen=True, slots=True)
class Source:
    """Source of judgement: its features, and whether it uses the text's words."""

    name: str
    holds: Callable[[str], bool]
    reads_text: bool = False


_OF_NOVELTY = {name for names in FEATURE_KINDS.values() for name in names}
SOURCES = (
    Source(RATING, lambda name: name == RATING),
    Source(COMMITTEE, lambda name: name.startswith(COMMITTEE)),
    Source("prior", lambda name: name.startswith("prior"), reads_text=True),
    Source("novelty", lambda name: name in _OF_NOVELTY or name == "novelty_1_to_5"),
)
"""In the order of stacking."""


def stack_sources(
    examples: Sequence[Example], scale: LabelScale, seed: int
) -> dict[str, dict[str, Estimate]]:
    """Estimate macro F1 and accuracy of single sources and cumulative stacks.

    Folds and intervals keep clusters whole. Sources without any feature are left out; a system that
    cannot be fitted is undefined.
    """
    available_sources = [one for one in SOURCES if any(_has_source(each, one) for each in examples)]
    sets: list[tuple[Source, ...]] = [(one,) for one in available_sources]
    sets += [tuple(available_sources[: place + 1]) for place in range(1, len(available_sources))]
    return {
        f"{STACK}: {' + '.join(one.name for one in source_set)}": _metrics(
            [_of_sources(one, source_set) for one in examples], scale, seed
        )
        for source_set in sets
    }


def _has_source(example: Example, source: Source) -> bool:
    restricted_example = _of_sources(example, (source,))
    return restricted_example.text is not None or any(
        one is not None for one in restricted_example.features.values()
    )


def _of_sources(example: Example, sources: Sequence[Source]) -> Example:
    features = {
        name: value
        for name, value in example.features.items()
        if any(one.holds(name) for one in sources)
    }
    reads_text = any(one.reads_text for one in sources)
    return replace(example, features=features, text=example.text if reads_text else None)


def _metrics(examples: Sequence[Example], scale: LabelScale, seed: int) -> dict[str, Estimate]:
    try:
        predictions = cross_validate(examples, scale, seed)
    except ConfigurationError as error:
        missing = undefined(str(error), 0, len(examples))
        return {"macro_f1": missing, "accuracy": missing}
    cluster_of = {one.item_sha256: one.cluster or one.item_sha256 for one in examples}
    gold = {one.item_sha256: scale.labels[one.gold] for one in predictions}
    f1_labels = {one.item_sha256: scale.labels[one.for_f1] for one in predictions}
    likeliest = {one.item_sha256: scale.labels[one.likeliest] for one in predictions}
    clusters = {name: cluster_of[name] for name in gold}
    return {
        "macro_f1": macro_f1(pair_up(gold, f1_labels, clusters), scale.labels, seed),
        "accuracy": accuracy(pair_up(gold, likeliest, clusters), seed),
    }


def stacked_features(review: IdeaReview) -> dict[str, float | None]:
    """Return features by source; see `SOURCES`.

    These are the committee's means by dimension, the prior's evidence, and the novelty judgement.
    There are no matches here, so submissions have no rating.
    """
    committee, novelty = review.evaluation.committee, review.evaluation.novelty
    meta = committee.meta_review if committee is not None else None
    features: dict[str, float | None] = {}
    if meta is not None:
        features |= {f"{COMMITTEE} {name}": value for name, value in meta.dimension_means.items()}
    evidence = evidence_features(review.evaluation)
    features |= {f"prior {name}": value for name, value in evidence.items()}
    if novelty is not None:
        features |= novelty_features(novelty)
    return features


def run(trial: Trial) -> None:
    """Score macro F1 and accuracy of single sources and cumulative stacks."""
    submissions = submissions_of(trial)
    gold = {str(one.idea.idea_id): one.decision for one in submissions}
    clusters = submission_clusters(trial.data, submissions)
    examples = [
        Example(
            item_sha256(idea.text),
            gold[idea.idea_id],
            decision_of_review(review).decision,
            stacked_features(review),
            clusters[idea.idea_id],
            idea.text,
        )
        for review in trial.reviews(trial.evaluated_run())
        if (idea := review.evaluation.idea).idea_id in gold
    ]
    score_stacks(trial, examples)


def score_stacks(trial: Trial, examples: Sequence[Example]) -> None:
    merged_examples = [merge_example(one, CLASSES) for one in examples]
    for system, estimates in stack_sources(merged_examples, scale_of(CLASSES), trial.seed).items():
        trial.score_all(estimates, system, f"{STACK}, classes={CLASSES}")


SUITE = replace(
    DECISIONS,
    name="stacking",
    question="What does each source of judgement add to the prediction of decisions?",
    run=run,
)
