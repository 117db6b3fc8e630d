"""The class of most of the nine nearest points."""

from typing import Any

import numpy as np

NEIGHBOURS = 9


def solve(given: dict[str, Any], seed: int) -> list[int]:
    """The class, 0 or 1, of each point to be classified."""
    known, labels = np.array(given["known"]), np.array(given["labels"])
    asked = np.array(given["asked"])
    apart = (asked**2).sum(1)[:, None] + (known**2).sum(1)[None] - 2 * asked @ known.T
    nearest = np.argsort(apart, axis=1)[:, :NEIGHBOURS]
    told: list[int] = (labels[nearest].mean(axis=1) > 0.5).astype(int).tolist()
    return told
