"""How well a ranked list names what is right."""

from collections.abc import Collection, Sequence


def precision_at(ranked: Sequence[str], right: Collection[str], depth: int) -> float:
    """The share of the first `depth` places that hold something right; a short list leaves them
    empty.
    """
    return sum(name in right for name in ranked[:depth]) / depth


def recall_at(ranked: Sequence[str], right: Collection[str], depth: int) -> float:
    """The share of what is right that stands in the first `depth` places; `right` is not empty."""
    return sum(name in right for name in ranked[:depth]) / len(right)


def average_precision(ranked: Sequence[str], right: Collection[str]) -> float:
    """The mean, over what is right, of the precision down to its place; 0 for what is missing."""
    hits, total = 0, 0.0
    for place, name in enumerate(ranked, start=1):
        if name in right:
            hits += 1
            total += hits / place
    return total / len(right)


def reciprocal_rank(ranked: Sequence[str], right: Collection[str]) -> float:
    """1 over the place of the first that is right; 0 where none is."""
    places = (place for place, name in enumerate(ranked, start=1) if name in right)
    return 1 / next(places, float("inf"))
