"""Two classes, a disc inside a ring, in two of eight features; labels of the test points are held
back.
"""

import random
from typing import Any

import numpy as np

KNOWN = {"small": 150, "full": 400}
ASKED = {"small": 300, "full": 1_000}
NOISE_FEATURES = 6


def make(seed: int, size: str) -> tuple[dict[str, Any], list[int]]:
    """Points with labels, points without, and the labels of those."""
    chance = np.random.default_rng(seed)
    count = KNOWN[size] + ASKED[size]
    labels = np.arange(count) % 2
    chance.shuffle(labels)
    radius = np.where(labels == 1, 1.0, 2.0) + 0.35 * chance.standard_normal(count)
    angle = chance.uniform(0, 2 * np.pi, count)
    plane = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    points = np.hstack([plane, chance.standard_normal((count, NOISE_FEATURES))]).round(4)
    known = KNOWN[size]
    given = {
        "known": points[:known].tolist(),
        "labels": labels[:known].tolist(),
        "asked": points[known:].tolist(),
    }
    return given, labels[known:].tolist()


def permute(given: dict[str, Any], seed: int) -> dict[str, Any]:
    """The same points with labels that say nothing."""
    labels = list(given["labels"])
    random.Random(seed).shuffle(labels)
    return {**given, "labels": labels}


def score(given: dict[str, Any], held: list[int], answer: Any) -> dict[str, float]:
    """Accuracy. Raises ValueError where the answer is no class for each point."""
    if len(answer) != len(held) or any(each not in (0, 1) for each in answer):
        raise ValueError("the answer is not 0 or 1 for each point")
    right = sum(one == other for one, other in zip(answer, held, strict=True))
    return {"accuracy": right / len(held)}
