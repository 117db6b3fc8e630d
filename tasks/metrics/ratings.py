"""Ratings of units by raters: what every measure of agreement reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Label = str | int | float
"""A category, or a number where distance has a meaning. One kind per set of ratings."""
Row = Sequence[Label | None]
"""One unit's ratings, one per rater; None where a rater gave none."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How often each unit was put into each category.

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
    kept = [row for row in rated if row]
    table = np.zeros((len(kept), len(listed)))
    for number, row in enumerate(kept):
        for label in row:
            table[number, position[label]] += 1
    return Counts(listed, table, len(rated) - len(kept))


def order(label: Label) -> tuple[int, float, str]:
    """Sorting key: numbers by size, then words by alphabet."""
    return (1, 0.0, label) if isinstance(label, str) else (0, float(label), "")


def rows_of(
    first: Mapping[str, Label | None], second: Mapping[str, Label | None]
) -> list[tuple[Label | None, Label | None]]:
    """One row per unit that either rater saw, in order of the units' names."""
    return [(first.get(unit), second.get(unit)) for unit in sorted({*first, *second})]
