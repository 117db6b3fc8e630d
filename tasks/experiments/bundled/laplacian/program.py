"""The Laplacian of a function of many variables from few second derivatives along coordinates.

The sum of d terms is d times the mean of the terms drawn: plain Monte Carlo draws them by chance,
quasi-Monte Carlo spreads them evenly, over the coordinates in some order.
"""

from typing import Any

import numpy as np

DRAW = "chance"  # tunable: "chance", "no coordinate twice", "strata", "low discrepancy"
ORDER = "index"  # tunable: "index", "position", "coefficient", "own and neighbour's coefficient"
NEIGHBOUR = 0.5  # tunable: 0.1..4 log


def solve(given: dict[str, Any], seed: int) -> list[float]:
    """The estimate of each case."""
    chance = np.random.default_rng(seed)
    return [estimate(case, chance) for case in given["cases"]]


def estimate(case: dict[str, Any], chance: np.random.Generator) -> float:
    """Draw coordinates, and take the mean of their second derivatives times the dimension."""
    dimension, samples = case["dimension"], case["samples"]
    made = np.random.default_rng(case["seed"])
    position = made.uniform(-1, 1, dimension) / np.sqrt(dimension)
    coefficients = made.standard_normal(dimension)
    order = in_order(position, coefficients)
    drawn = order[places(dimension, samples, chance)]
    return float(dimension * second_derivatives(position, coefficients, drawn).mean())


def in_order(position: Any, coefficients: Any) -> Any:
    """The coordinates so that neighbours in the order have much the same second derivative."""
    if ORDER == "index":
        return np.arange(len(position))
    if ORDER == "position":
        return np.argsort(position)
    weight = NEIGHBOUR if ORDER.startswith("own") else 0.0
    return np.argsort(coefficients + weight * np.roll(coefficients, 1))


def places(dimension: int, samples: int, chance: np.random.Generator) -> Any:
    """Return which places of the order are drawn."""
    if DRAW == "chance":
        return chance.integers(0, dimension, samples)
    if DRAW == "no coordinate twice":
        return chance.choice(dimension, samples, replace=False)
    shares: Any = (np.arange(samples) + chance.random(samples)) / samples
    if DRAW == "low discrepancy":
        shares = (np.arange(samples) * 0.6180339887498949 + chance.random()) % 1.0
    return np.minimum((shares * dimension).astype(int), dimension - 1)


def second_derivatives(x: Any, c: Any, drawn: Any) -> Any:
    """Of (1 - |x|²) g(x) along the coordinates drawn; g is the sum of
    cᵢ sin(xᵢ + cos xᵢ₊₁ + xᵢ₊₁ cos xᵢ), in a ring.
    """
    value, first, second = terms(x, c)
    outer = 1 - (x**2).sum()
    total = outer * second[drawn] - 4 * x[drawn] * first[drawn] - 2 * value
    return total


def terms(x: Any, c: Any) -> tuple[float, Any, Any]:
    """g, its gradient and its second derivatives along each coordinate."""
    p, q = x, np.roll(x, -1)
    w = p + np.cos(q) + q * np.cos(p)
    of_p, of_q = 1 - q * np.sin(p), np.cos(p) - np.sin(q)
    sine, cosine = np.sin(w), np.cos(w)
    first = c * cosine * of_p + np.roll(c * cosine * of_q, 1)
    along_p = c * (-sine * of_p**2 - cosine * q * np.cos(p))
    along_q = c * (-sine * of_q**2 - cosine * np.cos(q))
    return float((c * sine).sum()), first, along_p + np.roll(along_q, 1)
