"""Labeled judgements with numeric features, the training data of calibrators."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash
from schemas.judgement.contribution import Overlap
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.novelty import Difference, NoveltyEvaluation, WorkOverlap

FEATURE_KINDS: Mapping[str, tuple[str, ...]] = {
    "closeness": (
        "mean_closeness_0_to_1",
        "greatest_closeness_0_to_1",
        "covered_share_0_to_1",
        "related_work_count",
        "unanswered_search_count",
    ),
    "probabilities": tuple(f"probability_of_{score}_or_more" for score in (2, 3, 4, 5)),
    "overlap grades": (
        "full_overlap_share",
        "no_overlap_share",
        "trivial_difference_share",
        "new_difference_share",
    ),
    "aspect counts": ("known_aspect_count", "novel_aspect_count", "contribution_count"),
    "neighbour density": ("neighbour_density_0_to_1",),
}
"""Features of a calibrator, by origin."""
NOVELTY_FEATURES = tuple(name for names in FEATURE_KINDS.values() for name in names)


def novelty_features(evaluation: NoveltyEvaluation) -> dict[str, float | None]:
    """Return a novelty judgement and its evidence as numbers, by `NOVELTY_FEATURES`."""
    judgement, contributions = evaluation.judgement, evaluation.contributions
    percent = [judgement.probabilities_percent.get(str(score)) for score in range(1, 6)]
    overlaps = [one.overlap for one in contributions if one.overlap is not None]
    differences = [one.difference for one in contributions if one.difference is not None]
    features: dict[str, float | None] = {
        "related_work_count": float(len(judgement.related_paper_ids)),
        "known_aspect_count": float(len(judgement.known_aspects)),
        "novel_aspect_count": float(len(judgement.novel_aspects)),
        "contribution_count": float(len(contributions)),
        "full_overlap_share": _share(overlaps, WorkOverlap.FULL),
        "no_overlap_share": _share(overlaps, WorkOverlap.NONE),
        "trivial_difference_share": _share(differences, Difference.TRIVIAL),
        "new_difference_share": _share(differences, Difference.NEW),
    }
    for score in (2, 3, 4, 5):
        above = percent[score - 1 :]
        percents = [one for one in above if one is not None]
        features[f"probability_of_{score}_or_more"] = (
            sum(percents) / 100 if len(percents) == len(above) else None
        )
    for name in NOVELTY_FEATURES:
        if name not in features:
            value = getattr(judgement, name)
            features[name] = None if value is None else float(value)
    return {name: features[name] for name in NOVELTY_FEATURES}


def _share(grades: Sequence[StrEnum], grade: StrEnum) -> float | None:
    return sum(each is grade for each in grades) / len(grades) if grades else None


def evidence_features(evaluation: IdeaEvaluation) -> dict[str, float | None]:
    """Return features of an idea's evidence, without overall judgements.

    Density and closeness of related works, overlap grades and counts of the requested modules.
    """
    features: dict[str, float | None] = {}
    if evaluation.novelty is not None:
        of_judge = FEATURE_KINDS["probabilities"]
        novelty_values = novelty_features(evaluation.novelty)
        features |= {name: value for name, value in novelty_values.items() if name not in of_judge}
    if evaluation.contribution is not None:
        grades = [one.overlap for one in evaluation.contribution.comparisons if one.overlap]
        features |= {f"overlap_{grade.value}_share": _share(grades, grade) for grade in Overlap}
        features["compared_paper_count"] = float(
            len({one.paper_id for one in evaluation.contribution.comparisons})
        )
    if evaluation.soundness is not None:
        features["method_count"] = float(len(evaluation.soundness.methods))
        features["passage_count"] = float(len(evaluation.soundness.passages))
    features["citation_count"] = float(len(evaluation.citations))
    return features


FEWEST_ITEMS = 20
FEWEST_OF_A_LABEL = 3


@dataclass(frozen=True, slots=True)
class Example:
    """One judged item.

    Attributes:
        item_sha256: of the idea, see `item_sha256`.
        label: the experts' label; None: not labeled.
        raw_label: the judge's label; None: unscored.
        features: by name; None: missing.
        cluster: dependent items share a cluster and a fold; None: an independent item.
        text: for the text model; None: the words are not used.
    """

    item_sha256: str
    label: str | None
    raw_label: str | None
    features: Mapping[str, float | None]
    cluster: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LabelScale:
    """Labels in ascending order, with their values as calibrated scores."""

    labels: tuple[str, ...]
    values: tuple[float, ...]

    def place(self, label: str) -> int:
        return self.labels.index(label)


def item_sha256(idea: str) -> str:
    """Return a hash of an idea's words, to detect training items.

    Case and spacing are ignored.
    """
    return content_hash(" ".join(idea.split()).casefold())


def usable(examples: Sequence[Example], scale: LabelScale) -> list[Example]:
    """Return the labeled and scored examples, sorted by hash, each idea once.

    Raises:
        ConfigurationError: too few examples or classes, or a class with too few examples.
    """
    scored_examples = {
        one.item_sha256: one
        for one in examples
        if one.label is not None and one.raw_label is not None
    }
    unlabelled_count = sum(one.label is None for one in examples)
    counts = Counter(str(one.label) for one in scored_examples.values())
    unknown_labels = sorted(counts.keys() - set(scale.labels))
    summary = (
        f"{len(examples)} items, {unlabelled_count} without a label,"
        f" {len(examples) - unlabelled_count - len(scored_examples)} unscored or repeated"
    )
    if unknown_labels:
        raise ConfigurationError(
            f"labels {', '.join(unknown_labels)} are not among {', '.join(scale.labels)}"
        )
    if not counts:
        raise ConfigurationError(f"a calibrator needs labels: {summary}")
    if len(counts) < 2:
        raise ConfigurationError(
            f"a calibrator needs two labels, all {len(scored_examples)} items have {next(iter(counts))}:"
            f" {summary}"
        )
    if len(scored_examples) < FEWEST_ITEMS:
        raise ConfigurationError(
            f"a calibrator needs {FEWEST_ITEMS} labelled and scored items, there are {len(scored_examples)}:"
            f" {summary}"
        )
    rare = {label: count for label, count in counts.items() if count < FEWEST_OF_A_LABEL}
    if rare:
        rare_labels = ", ".join(f"{label} ({count})" for label, count in sorted(rare.items()))
        raise ConfigurationError(
            f"every label needs {FEWEST_OF_A_LABEL} items: {rare_labels}; merge labels or add items"
        )
    return [scored_examples[name] for name in sorted(scored_examples)]


def matrix(examples: Sequence[Example], names: Sequence[str]) -> NDArray[np.float64]:
    """Return the features, shape (examples, names); missing ones are NaN."""
    rows = [
        [np.nan if (value := one.features.get(name)) is None else value for name in names]
        for one in examples
    ]
    return np.array(rows, dtype=np.float64).reshape(len(examples), len(names))
