"""How much the leaders depend on the weights of the modules: the share of all weightings under
which an idea is among the best.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from schemas.run import Module
from warehouse.answers import IdeaScore

SAMPLES = 1000
TOP = 10
SEED = 20_260_301
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class SensitivityLine:
    """One idea; `share_0_to_1` of the sampled weightings put it among the best."""

    idea_id: str
    title: str
    score: float | None
    share_0_to_1: float


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Ideas that are ever among the best, the surest first.

    `modules` are those whose weights were varied.
    """

    modules: tuple[str, ...]
    top: int
    samples: int
    lines: tuple[SensitivityLine, ...]


def sensitivity_of(scores: Sequence[IdeaScore]) -> Sensitivity | None:
    """Weights drawn evenly from all that add up to one (a seeded Dirichlet distribution); None with
    fewer than two modules, and where no more ideas were scored than are counted as the best.

    As in `idea_scores`, the mean of a module stands in where it did not score an idea. Ties share
    a rank, so they are in or out together.
    """
    modules = tuple(
        str(module)
        for module in Module
        if any(_value(score, module) is not None for score in scores)
    )
    rated = [
        score for score in scores if any(_value(score, module) is not None for module in modules)
    ]
    if len(modules) < 2 or len(rated) <= TOP:
        return None
    values = np.array(
        [
            [np.nan if (value := _value(score, module)) is None else value for module in modules]
            for score in rated
        ]
    )
    among = shares_among_best(values)
    top = min(TOP, len(rated))
    order = sorted(
        range(len(rated)),
        key=lambda place: (
            -float(among[place]),
            -(rated[place].score or 0.0),
            rated[place].idea_id,
        ),
    )
    lines = (
        SensitivityLine(
            rated[place].idea_id, rated[place].title, rated[place].score, float(among[place])
        )
        for place in order
    )
    return Sensitivity(
        modules, top, SAMPLES, tuple(line for line in lines if line.share_0_to_1 > 0)
    )


def shares_among_best(values: np.ndarray) -> np.ndarray:
    """The share of `SAMPLES` weightings that put each row among the best `TOP`.

    Args:
        values: one row per idea, one column per module; NaN: the module did not score it, and its
            mean stands in. Every row and every column holds a number.
    """
    weights = np.random.default_rng(SEED).dirichlet(np.ones(values.shape[1]), SAMPLES)
    filled = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    among = np.zeros(len(values))
    top = min(TOP, len(values))
    for sample in weights:
        total = np.round(filled @ sample, _DIGITS)
        among += total >= np.partition(total, len(total) - top)[len(total) - top]
    return among / SAMPLES


def _value(score: IdeaScore, module: str) -> float | None:
    value: float | None = getattr(score, f"{module}_0_to_10", None)
    return value
