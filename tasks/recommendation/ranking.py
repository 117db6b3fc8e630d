"""How resources are ranked for an idea: by the works that used them, and by what they are.

The weights were chosen on the half of the suite `dataset_recommendation` on which nothing is
reported.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

SHARPNESS = 6
"""A work counts by this power of its nearness: the nearest ones say most."""
BY_WORKS, BY_DESCRIPTION, BY_WORDS = 2.0, 1.0, 0.5


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for a resource; each value is compared with those of the other resources alone.

    Attributes:
        works: of each work that used it, its nearness to the idea, 0 to 1, and how plainly it says
            so, 1: in a passage.
        description: similarity of the resource's own text to the idea; None: it has none.
        words: what the two texts share, by BM25; None: it has no text.
    """

    works: Sequence[tuple[float, float]] = ()
    description: float | None = None
    words: float | None = None


def scores(evidence: Mapping[str, Evidence]) -> dict[str, float]:
    """Resources by name with a score from 0 to 1;
    the parts are scaled to the best and the least.
    """
    parts = (
        (
            BY_WORKS,
            {
                name: math.fsum(plainly * nearness**SHARPNESS for nearness, plainly in each.works)
                for name, each in evidence.items()
            },
        ),
        (BY_DESCRIPTION, {name: each.description for name, each in evidence.items()}),
        (BY_WORDS, {name: each.words for name, each in evidence.items()}),
    )
    total, whole = dict.fromkeys(evidence, 0.0), 0.0
    for weight, values in parts:
        scaled = _scaled(values)
        whole += weight if scaled else 0.0
        for name, value in scaled.items():
            total[name] += weight * value
    return {name: round(value / (whole or 1.0), 4) for name, value in total.items()}


def in_order(evidence: Mapping[str, Evidence]) -> list[tuple[str, float]]:
    """Names with their scores, best first; ties by name."""
    return sorted(scores(evidence).items(), key=lambda each: (-each[1], each[0]))


def _scaled(values: Mapping[str, float | None]) -> dict[str, float]:
    """From 0, the least, to 1; what is unknown counts as the least."""
    known = [value for value in values.values() if value is not None]
    if not known or max(known) <= 0.0:
        return {}
    least = min(known) if len(known) == len(values) and max(known) > min(known) else 0.0
    span = max(known) - least
    return {name: (value - least) / span for name, value in values.items() if value is not None}
