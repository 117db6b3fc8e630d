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
class Sensitivity:
    """How often ideas are among the best, as weights vary.

    Attributes:
        parts: modules or criteria whose weights were varied.
        shares: ideas that are ever among the best, the surest first, each with the share from 0 to
            1 of the sampled weightings under which it is.
        left_out: how many ideas have a part unscored.
    """

    parts: tuple[str, ...]
    shares: tuple[tuple[IdeaScore, float], ...]
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
    scored_ideas, rows = [], []
    for score in scores:
        row = [value for name in parts if (value := score.parts.get(name)) is not None]
        if len(row) == len(parts):
            scored_ideas.append(score)
            rows.append(row)
    if len(parts) < 2 or len(scored_ideas) <= TOP:
        return None
    shares = zip(scored_ideas, map(float, shares_among_best(np.array(rows))), strict=True)
    ever = [(score, share) for score, share in shares if share > 0]
    ever.sort(key=lambda each: (-each[1], -(each[0].score or 0.0), each[0].idea_id))
    return Sensitivity(parts, tuple(ever), len(scores) - len(scored_ideas))


def sensitivity_blocks(sensitivity: Sensitivity | None) -> Iterator[pg.Block]:
    """The section on how much the weights matter."""
    yield pg.heading("How much the weights matter")
    if sensitivity is None:
        yield pg.text(_TOO_LITTLE)
        return
    parts, left_out = sensitivity.parts, sensitivity.left_out
    are = "is" if left_out == 1 else "are"
    left = (
        f" {figures.plural(left_out, 'idea')} of which something is unscored {are} left out: no"
        " weighting makes up for it."
        if left_out
        else ""
    )
    yield pg.text(
        f"{SAMPLES:,} weightings of {', '.join(parts).replace('_', ' ')} were drawn"
        f" evenly from all that add up to one. An idea that is among the best {TOP} under nearly all"
        " of them leads whatever one cares about; one in the middle of the list leads because of the"
        f" weights.{left}"
    )
    rows = [
        (score.title or score.idea_id, figures.mean(score.score), figures.percent(share))
        for score, share in sensitivity.shares[:_LINES_SHOWN]
    ]
    yield pg.table(("Idea", "Score:", f"Among the best {TOP}:"), rows)
    more = len(sensitivity.shares) - len(rows)
    if more:
        yield pg.text(f"{figures.plural(more, 'more idea')} under fewer weightings.")


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
