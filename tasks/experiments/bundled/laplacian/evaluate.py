"""The Laplacian of (1 - |x|²) Σ cᵢ sin(xᵢ + cos xᵢ₊₁ + xᵢ₊₁ cos xᵢ), a solution of Allen and Cahn's
equation with interaction of two bodies (the case of arXiv:2412.00088), in up to 100 000 dimensions.
"""

from typing import Any

import numpy as np

DIMENSIONS = {"small": (100, 1_000), "full": (100, 1_000, 10_000, 100_000)}
POINTS = 4
SAMPLES = 64


def make(seed: int, size: str) -> tuple[dict[str, Any], list[dict[str, float]]]:
    """Points by their seeds, and the true value at each with the error to be expected of plain Monte
    Carlo.
    """
    seeds = np.random.default_rng(seed).integers(0, 2**31, (len(DIMENSIONS[size]), POINTS))
    cases = [
        {"dimension": dimension, "seed": int(each), "samples": SAMPLES}
        for dimension, row in zip(DIMENSIONS[size], seeds, strict=True)
        for each in row
    ]
    return {"cases": cases}, [truth(case) for case in cases]


def truth(case: dict[str, Any]) -> dict[str, float]:
    """By the sum over all coordinates."""
    made = np.random.default_rng(case["seed"])
    d = case["dimension"]
    p = made.uniform(-1, 1, d) / np.sqrt(d)
    c = made.standard_normal(d)
    q = np.roll(p, -1)
    w = p + np.cos(q) + q * np.cos(p)
    of_p, of_q = 1 - q * np.sin(p), np.cos(p) - np.sin(q)
    first = c * np.cos(w) * of_p + np.roll(c * np.cos(w) * of_q, 1)
    along_p = c * (-np.sin(w) * of_p**2 - np.cos(w) * q * np.cos(p))
    along_q = c * (-np.sin(w) * of_q**2 - np.cos(w) * np.cos(q))
    terms = (1 - (p**2).sum()) * (along_p + np.roll(along_q, 1)) - 4 * p * first
    terms -= 2 * (c * np.sin(w)).sum()
    return {"value": float(terms.sum()), "scale": float(d * terms.std() / np.sqrt(SAMPLES))}


def score(given: dict[str, Any], held: list[dict[str, float]], answer: Any) -> dict[str, float]:
    """The error, over all cases and by dimension."""
    if len(answer) != len(held):
        raise ValueError("there is not one number for each case")
    by_dimension: dict[int, list[float]] = {}
    for case, true, told in zip(given["cases"], held, answer, strict=True):
        error = abs(float(told) - true["value"]) / true["scale"]
        by_dimension.setdefault(case["dimension"], []).append(error)
    errors = {f"error_in_{d}_dimensions": float(np.mean(by)) for d, by in by_dimension.items()}
    return {"error": float(np.mean(list(errors.values()))), **errors}
