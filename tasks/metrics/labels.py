"""Gold labels paired with predictions, and counts of raters' labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Label = str | int | float
"""A category, or a number on a scale; of one type within a set of ratings."""
Row = Sequence[Label | None]
"""One unit's ratings, one per rater; None where a rating is missing."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of categories by unit.

    Attributes:
        categories: numbers by size, text labels by alphabet, or in the caller's order.
        table: shape (units, categories), without unrated units.
        unrated_count: units without a rating.
    """

    categories: tuple[Label, ...]
    table: NDArray[np.float64]
    unrated_count: int

    @property
    def ratings_per_unit(self) -> NDArray[np.float64]:
        """Number of ratings per unit, shape (units,)."""
        return np.asarray(self.table.sum(axis=1), dtype=np.float64)


def count(rows: Sequence[Row], categories: Sequence[Label] | None = None) -> Counts:
    """Count labels per unit.

    `categories` lists the possible labels where some may be unused: chance agreement depends on
    their number.

    Raises:
        ValueError: a label is not in `categories`.
    """
    rated_rows = [[label for label in row if label is not None] for row in rows]
    used_labels = {label for row in rated_rows for label in row}
    all_labels = (
        tuple(categories) if categories is not None else tuple(sorted(used_labels, key=order))
    )
    if not used_labels <= set(all_labels):
        raise ValueError(
            f"labels {sorted(used_labels - set(all_labels), key=order)} are not among the categories; name"
            " every possible one"
        )
    position = {label: number for number, label in enumerate(all_labels)}
    nonempty = [row for row in rated_rows if row]
    table = np.zeros((len(nonempty), len(all_labels)))
    for number, row in enumerate(nonempty):
        for label in row:
            table[number, position[label]] += 1
    return Counts(all_labels, table, len(rated_rows) - len(nonempty))


def order(label: Label) -> tuple[int, float, str]:
    """Return a sort key: numbers by size, then text labels by alphabet."""
    return (1, 0.0, label) if isinstance(label, str) else (0, float(label), "")


GRADES: dict[str, int] = {"reject": 0, "poster": 1, "spotlight": 2, "oral": 3}
ClassCount = Literal[2, 3, 4]
_THREE_CLASSES = ("reject", "poster", "highlight")


def decision_of(text: str) -> str | None:
    """Return the conference decision that a text such as "Accept (Oral)" names.

    The result is None when it names none of `GRADES`, or several.
    """
    words = text.casefold()
    decisions = [name for name in GRADES if name in words]
    return decisions[0] if len(decisions) == 1 else None


def merge_decision(decision: str, class_count: ClassCount) -> str:
    """Map a decision to one of two, three or four classes.

    Two: reject, accept. Three: reject, poster, highlight (spotlight and oral). Four: the decision.
    InnoEval does not state which decisions its three classes merge; this merge keeps their order
    and leaves no class with very few items.

    Raises:
        KeyError: not one of the four decisions; see `decision_of`.
    """
    grade = GRADES[decision]
    if class_count == 2:
        return "accept" if grade else "reject"
    return _THREE_CLASSES[min(grade, 2)] if class_count == 3 else decision


@dataclass(frozen=True, slots=True)
class LabelPairs:
    """Items with a gold label and a prediction, sorted by id.

    Attributes:
        ids, gold, predicted: one entry per item that has both.
        unanswered: ids with a gold label and without a prediction.
        without_gold: ids with a prediction and without a gold label.
        clusters: one per item; None: items are independent.
    """

    ids: tuple[str, ...]
    gold: tuple[Label, ...]
    predicted: tuple[Label, ...]
    unanswered: tuple[str, ...] = ()
    without_gold: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None

    @property
    def count(self) -> int:
        return len(self.ids)

    @property
    def unscored_count(self) -> int:
        return len(self.unanswered)

    @property
    def empty_reason(self) -> str:
        """Return why no item has both labels.

        The reason is valid only if `count` is 0.
        """
        if self.unanswered:
            return f"none of the {len(self.unanswered)} items was answered"
        return (
            f"none of the {len(self.without_gold)} predictions has a gold label"
            if self.without_gold
            else "there is no item"
        )


def pair_up(
    gold: Mapping[str, Label | None],
    predictions: Mapping[str, Label | None],
    clusters: Mapping[str, str] | None = None,
) -> LabelPairs:
    """Pair predictions with gold labels by id; None counts as missing.

    `clusters`: by id, of items that are not independent; intervals resample whole clusters.
    """
    gold_labels = {name: label for name, label in gold.items() if label is not None}
    predicted_labels = {name: label for name, label in predictions.items() if label is not None}
    both = sorted(gold_labels.keys() & predicted_labels.keys())
    return LabelPairs(
        tuple(both),
        tuple(gold_labels[name] for name in both),
        tuple(predicted_labels[name] for name in both),
        tuple(sorted(gold_labels.keys() - predicted_labels.keys())),
        tuple(sorted(predicted_labels.keys() - gold_labels.keys())),
        tuple(clusters[name] for name in both) if clusters is not None else None,
    )
