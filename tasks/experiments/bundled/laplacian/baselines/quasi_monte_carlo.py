"""Quasi-Monte Carlo: coordinates drawn evenly from 1 to d, by the golden section and one shift."""

from typing import Any

import numpy as np


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
    shares = (np.arange(samples) * 0.6180339887498949 + chance.random()) % 1.0
    drawn = np.minimum((shares * dimension).astype(int), dimension - 1)
    return float(dimension * second_derivatives(position, coefficients, drawn).mean())


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
