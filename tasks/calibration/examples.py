"""Labelled judgements: what a calibrator is fitted on and held against."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.errors import ConfigurationError
from schemas.identifiers import content_hash

FEWEST_ITEMS = 20
FEWEST_OF_A_LABEL = 3


@dataclass(frozen=True, slots=True)
class Example:
    """One judged item.

    Attributes:
        item_sha256: of the idea, see `item_sha256`.
        label: what experts say; None: not labelled.
        raw_label: what the judge says, as one of the labels; None: unscored.
        features: by name; None: could not be had.
        cluster: items of one cluster are connected, and never stand in two folds; None: it stands
            for itself.
        text: of which the words are learnt from; None: they are not.
    """

    item_sha256: str
    label: str | None
    raw_label: str | None
    features: Mapping[str, float | None]
    cluster: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class LabelScale:
    """Labels in ascending order with their places on the scale of calibrated scores."""

    labels: tuple[str, ...]
    values: tuple[float, ...]

    def place(self, label: str) -> int:
        return self.labels.index(label)


def item_sha256(idea: str) -> str:
    """Identity of an idea for "never trained on what it is scored on": its words, whatever their
    case and spacing.
    """
    return content_hash(" ".join(idea.split()).casefold())


def usable(examples: Sequence[Example], scale: LabelScale) -> list[Example]:
    """Labelled examples that were scored, in order of their hashes, each idea once.

    Raises:
        ConfigurationError: no label, too few, one class only, or a class with too few examples; the
            line says which.
    """
    scored = {
        one.item_sha256: one
        for one in examples
        if one.label is not None and one.raw_label is not None
    }
    unlabelled = sum(one.label is None for one in examples)
    counts = Counter(str(one.label) for one in scored.values())
    unknown = sorted(counts.keys() - set(scale.labels))
    told = (
        f"{len(examples)} items, {unlabelled} without a label,"
        f" {len(examples) - unlabelled - len(scored)} unscored or repeated"
    )
    if unknown:
        raise ConfigurationError(
            f"labels {', '.join(unknown)} are not among {', '.join(scale.labels)}"
        )
    if not counts:
        raise ConfigurationError(f"a calibrator needs labels: {told}")
    if len(counts) < 2:
        raise ConfigurationError(
            f"a calibrator needs two labels, all {len(scored)} items have {next(iter(counts))}:"
            f" {told}"
        )
    if len(scored) < FEWEST_ITEMS:
        raise ConfigurationError(
            f"a calibrator needs {FEWEST_ITEMS} labelled and scored items, there are {len(scored)}:"
            f" {told}"
        )
    rare = {label: count for label, count in counts.items() if count < FEWEST_OF_A_LABEL}
    if rare:
        listed = ", ".join(f"{label} ({count})" for label, count in sorted(rare.items()))
        raise ConfigurationError(
            f"every label needs {FEWEST_OF_A_LABEL} items: {listed}; merge labels or add items"
        )
    return [scored[name] for name in sorted(scored)]


def matrix(examples: Sequence[Example], names: Sequence[str]) -> NDArray[np.float64]:
    """Shape (examples, names); NaN where a feature could not be had."""
    rows = [
        [np.nan if (value := one.features.get(name)) is None else value for name in names]
        for one in examples
    ]
    return np.array(rows, dtype=np.float64).reshape(len(examples), len(names))
