"""Labels: gold beside predictions, and how often raters gave each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Label = str | int | float
"""A category, or a number where distance has a meaning. One kind per set of ratings."""
Row = Sequence[Label | None]
"""One unit's ratings, one per rater; None where a rater gave none."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of categories by unit.

    Attributes:
        categories: in order (numbers by size, words by alphabet, or as given).
        table: shape (units, categories); units nobody rated are left out.
        unrated_count: units nobody rated.
    """

    categories: tuple[Label, ...]
    table: NDArray[np.float64]
    unrated_count: int

    @property
    def ratings_per_unit(self) -> NDArray[np.float64]:
        """Shape (units,)."""
        return np.asarray(self.table.sum(axis=1), dtype=np.float64)


def count(rows: Sequence[Row], categories: Sequence[Label] | None = None) -> Counts:
    """Count labels per unit.

    `categories` names the possible ones where some may not have been used (chance agreement depends
    on how many there are).

    Raises:
        ValueError: a label that is not among the `categories` named.
    """
    rated = [[label for label in row if label is not None] for row in rows]
    used = {label for row in rated for label in row}
    listed = tuple(categories) if categories is not None else tuple(sorted(used, key=order))
    if not used <= set(listed):
        raise ValueError(
            f"labels {sorted(used - set(listed), key=order)} are not among the categories; name"
            " every possible one"
        )
    position = {label: number for number, label in enumerate(listed)}
    nonempty = [row for row in rated if row]
    table = np.zeros((len(nonempty), len(listed)))
    for number, row in enumerate(nonempty):
        for label in row:
            table[number, position[label]] += 1
    return Counts(listed, table, len(rated) - len(nonempty))


def order(label: Label) -> tuple[int, float, str]:
    """Sorting key: numbers by size, then words by alphabet."""
    return (1, 0.0, label) if isinstance(label, str) else (0, float(label), "")


# Decisions of a conference as grades, and merged into fewer classes (InnoEval).

GRADES: dict[str, int] = {"reject": 0, "poster": 1, "spotlight": 2, "oral": 3}
ClassCount = Literal[2, 3, 4]
_THREE = ("reject", "poster", "highlight")


def decision_of(text: str) -> str | None:
    """`reject`, `poster`, `spotlight` or `oral` from what a file says ("Accept (Oral)"); None when
    it says none of them or several.
    """
    words = text.casefold()
    decisions = [name for name in GRADES if name in words]
    return decisions[0] if len(decisions) == 1 else None


def merged(decision: str, class_count: ClassCount) -> str:
    """The class of a decision among `class_count`.

    Two: reject, accept. Three: reject, poster, highlight (spotlight and oral). Four: as decided.
    InnoEval reports F1 and accuracy for two and three classes and does not print which decisions
    its three classes merge; this is the merge that keeps them in order and leaves no class with a
    handful of items.

    Raises:
        KeyError: not one of the four decisions; see `decision_of`.
    """
    grade = GRADES[decision]
    if class_count == 2:
        return "accept" if grade else "reject"
    return _THREE[min(grade, 2)] if class_count == 3 else decision


@dataclass(frozen=True, slots=True)
class Labelled:
    """Items with a gold label and a prediction, in order of their ids.

    Attributes:
        ids, gold, predicted: one entry per item that has both.
        unanswered: ids with a gold label and no prediction: the system was asked and gave no
            answer.
        without_gold: ids predicted that have no gold label; nothing can be said about them.
        clusters: of each item; None: items are independent of each other.
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
        """Why no item has both; to be asked only then."""
        if self.unanswered:
            return f"none of the {len(self.unanswered)} items was answered"
        return (
            f"none of the {len(self.without_gold)} predictions has a gold label"
            if self.without_gold
            else "there is no item"
        )


def pair_up(
    gold: Mapping[str, Label | None],
    predicted: Mapping[str, Label | None],
    clusters: Mapping[str, str] | None = None,
) -> Labelled:
    """Pair predictions with gold labels by id; a label that is None counts as not there.

    `clusters`: by id, of items that are not independent; intervals then draw whole clusters.
    """
    gold_labels = {name: label for name, label in gold.items() if label is not None}
    given = {name: label for name, label in predicted.items() if label is not None}
    both = sorted(gold_labels.keys() & given.keys())
    return Labelled(
        tuple(both),
        tuple(gold_labels[name] for name in both),
        tuple(given[name] for name in both),
        tuple(sorted(gold_labels.keys() - given.keys())),
        tuple(sorted(given.keys() - gold_labels.keys())),
        tuple(clusters[name] for name in both) if clusters is not None else None,
    )
