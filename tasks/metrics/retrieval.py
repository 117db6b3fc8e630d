"""Metrics of ranked lists: precision, recall, average precision and reciprocal rank.

`right` is the non-empty set of relevant items.
"""

from collections.abc import Collection, Sequence


def precision_at(ranking: Sequence[str], right: Collection[str], depth: int) -> float:
    """Return the share of the first `depth` ranks that are right.

    Missing ranks count as wrong.
    """
    return sum(name in right for name in ranking[:depth]) / depth


def recall_at(ranking: Sequence[str], right: Collection[str], depth: int) -> float:
    """Return the share of the right items within the first `depth` ranks."""
    return sum(name in right for name in ranking[:depth]) / len(right)


def average_precision(ranking: Sequence[str], right: Collection[str]) -> float:
    """Return the mean precision at the ranks of the right items.

    Missing items count as 0.
    """
    hits, total = 0, 0.0
    for place, name in enumerate(ranking, start=1):
        if name in right:
            hits += 1
            total += hits / place
    return total / len(right)


def reciprocal_rank(ranking: Sequence[str], right: Collection[str]) -> float:
    """Return 1 / rank of the first right item, 0 without one."""
    places = (place for place, name in enumerate(ranking, start=1) if name in right)
    return 1 / next(places, float("inf"))
