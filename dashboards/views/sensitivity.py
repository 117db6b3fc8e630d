"""Sensitivity of the leaders to the weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dashboards.render import figures
from dashboards.render import page as pg
from warehouse.row_models import IdeaScore

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
    """Share of sampled weightings under which ideas are among the best.

    Attributes:
        parts: modules or criteria whose weights varied.
        shares: ideas that are ever among the best, with their share from 0 to 1, highest first.
        left_out: how many ideas have an unscored part.
    """

    parts: tuple[str, ...]
    shares: tuple[tuple[IdeaScore, float], ...]
    left_out: int


def sensitivity_of(scores: Sequence[IdeaScore]) -> Sensitivity | None:
    """Sample weightings uniformly (a seeded Dirichlet distribution).

    None with fewer than two parts, or with no more fully scored ideas than `TOP`. An idea with an
    unscored part has no score under any weighting. Ties share a rank.
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
    """Yield the section on sensitivity to weights."""
    yield pg.heading("How much the weights matter")
    if sensitivity is None:
        yield pg.text(_TOO_LITTLE)
        return
    parts, left_out = sensitivity.parts, sensitivity.left_out
    are = "is" if left_out == 1 else "are"
    left_out_note = (
        f" {figures.plural(left_out, 'idea')} of which something is unscored {are} left out: no"
        " weighting makes up for it."
        if left_out
        else ""
    )
    yield pg.text(
        f"{SAMPLES:,} weightings of {', '.join(parts).replace('_', ' ')} were drawn"
        f" evenly from all that add up to one. An idea that is among the best {TOP} under nearly all"
        " of them leads whatever one cares about; one in the middle of the list leads because of the"
        f" weights.{left_out_note}"
    )
    rows = [
        (score.title or score.idea_id, figures.mean(score.score), figures.percent(share))
        for score, share in sensitivity.shares[:_LINES_SHOWN]
    ]
    yield pg.table(("Idea", "Score:", f"Among the best {TOP}:"), rows)
    more_count = len(sensitivity.shares) - len(rows)
    if more_count:
        yield pg.text(f"{figures.plural(more_count, 'more idea')} under fewer weightings.")


def shares_among_best(values: np.ndarray) -> np.ndarray:
    """Return the share of `SAMPLES` weightings that put each row into the top `TOP`.

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
