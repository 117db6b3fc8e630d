"""How much the leaders depend on the weights: the share of all weightings under which an idea is
among the best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dashboards.render import figures
from dashboards.render import page as pg
from warehouse.answers import IdeaScore

SAMPLES = 1000
TOP = 10
SEED = 20_260_301
_DIGITS = 9
_LINES_SHOWN = 40
_TOO_LITTLE = (
    "Too little is scored for a weighting to vary: it takes two modules or criteria, and more ideas"
    " of which nothing is unscored than are counted as the best."
)


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

    `parts` are the modules or criteria whose weights were varied; `left_out` counts the ideas of
    which one of them is unscored.
    """

    parts: tuple[str, ...]
    top: int
    samples: int
    lines: tuple[SensitivityLine, ...]
    left_out: int


def sensitivity_of(scores: Sequence[IdeaScore]) -> Sensitivity | None:
    """Weights drawn evenly from all that add up to one (a seeded Dirichlet distribution).

    None with fewer than two parts to weigh, and where no more ideas are whole than are counted as
    the best. An idea of which a part is unscored has no score under any weighting. Ties share a
    rank, so they are in or out together.
    """
    names = dict.fromkeys(name for score in scores for name in score.parts)
    parts = tuple(
        name for name in names if any(score.parts.get(name) is not None for score in scores)
    )
    rated, rows = [], []
    for score in scores:
        row = [value for name in parts if (value := score.parts.get(name)) is not None]
        if len(row) == len(parts):
            rated.append(score)
            rows.append(row)
    if len(parts) < 2 or len(rated) <= TOP:
        return None
    values = np.array(rows)
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
        parts=parts,
        top=top,
        samples=SAMPLES,
        lines=tuple(line for line in lines if line.share_0_to_1 > 0),
        left_out=len(scores) - len(rated),
    )


def sensitivity_blocks(sensitivity: Sensitivity | None) -> Iterator[pg.Block]:
    """The section on how much the weights matter."""
    yield pg.heading("How much the weights matter")
    if sensitivity is None:
        yield pg.text(_TOO_LITTLE)
        return
    parts, top, left_out = sensitivity.parts, sensitivity.top, sensitivity.left_out
    are = "is" if left_out == 1 else "are"
    left = (
        f" {figures.counted(left_out, 'idea')} of which something is unscored {are} left out: no"
        " weighting makes up for it."
        if left_out
        else ""
    )
    yield pg.text(
        f"{sensitivity.samples:,} weightings of {', '.join(parts).replace('_', ' ')} were drawn"
        f" evenly from all that add up to one. An idea that is among the best {top} under nearly all"
        " of them leads whatever one cares about; one in the middle of the list leads because of the"
        f" weights.{left}"
    )
    rows = [
        (line.title or line.idea_id, figures.mean(line.score), figures.percent(line.share_0_to_1))
        for line in sensitivity.lines[:_LINES_SHOWN]
    ]
    yield pg.table(("Idea", "Score:", f"Among the best {top}:"), rows)
    more = len(sensitivity.lines) - len(rows)
    if more:
        yield pg.text(f"{figures.counted(more, 'more idea')} under fewer weightings.")


def shares_among_best(values: np.ndarray) -> np.ndarray:
    """The share of `SAMPLES` weightings that put each row among the best `TOP`.

    Args:
        values: one row per idea, one column per module or criterion.
    """
    weights = np.random.default_rng(SEED).dirichlet(np.ones(values.shape[1]), SAMPLES)
    among = np.zeros(len(values))
    top = min(TOP, len(values))
    for sample in weights:
        total = np.round(values @ sample, _DIGITS)
        among += total >= np.partition(total, len(total) - top)[len(total) - top]
    return among / SAMPLES
