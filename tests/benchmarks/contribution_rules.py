"""How far rules that score a contribution by its closest works withstand misread comparisons.

An idea is worth what its closest works leave new: one of them and some more, as a Poisson count of
mean two, leave exactly that. Of the further works that were compared half tell nothing of the
dimension, a quarter share nothing with the idea, and a quarter overlap it as much as the closest
ones or less ("usual"); or none of them comes near the closest ("few close works"). A share of all
comparisons is misread: overlap and score are then drawn from all answers that claim an overlap.

Printed are, over the ideas, the bias (mean score less mean worth, of 10), Spearman's rank
correlation of score and worth, and the ideas that the rule leaves unscored, which enter neither.
"""

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from schemas.identifiers import PaperId
from schemas.judgement.contribution import NEWNESS, Comparison, Overlap, novelty_of
from tests.support.evaluations import make_provenance

IDEAS = 1000
COUNTS = (5, 10, 25, 50, 95)
MISREAD = (0.02, 0.05, 0.10)
MORE_CLOSE_WORKS = 2.0
ANSWERS: Final = [*NEWNESS, *((Overlap.NOT_ADDRESSED, score) for score in (-1, 0, 1))]
# Rules other than that of the software take silence for the middle of the scale.
NEW: Final = np.array([NEWNESS.get(answer, 0.5) for answer in ANSWERS])
OVERLAPPING = tuple(
    place
    for place, (overlap, _) in enumerate(ANSWERS)
    if overlap not in (Overlap.NONE, Overlap.NOT_ADDRESSED)
)
NOTHING_SHARED = ANSWERS.index((Overlap.NONE, 1))
SILENT = tuple(place for place in range(len(ANSWERS)) if NEW[place] == 0.5)
NEAREST_OF_FAR = ANSWERS.index((Overlap.PARTIAL, 1))
Places = NDArray[np.int64]


def main() -> None:
    for name, few in (("usual", False), ("few close works", True)):
        print(f"\n{name}: bias, rank correlation and ideas unscored, by works compared")
        print(f"{'rule':24}{'misread':>8}" + "".join(f"{count:>19}" for count in COUNTS))
        for misread in MISREAD:
            drawn = {count: _ideas(count, misread, few=few) for count in COUNTS}
            for rule, scored in RULES.items():
                cells = []
                for worth, compared in drawn.values():
                    scores = np.array([scored(places) for places in compared])
                    known = ~np.isnan(scores)
                    scores, worths = scores[known], worth[known]
                    bias, rank = (scores - worths).mean(), spearmanr(scores, worths).statistic
                    cells.append(f"{bias:+8.2f} {rank:5.2f} {len(worth) - len(scores):4d}")
                print(f"{rule:24}{misread:8.0%}" + "".join(cells))


def _ideas(count: int, misread: float, *, few: bool) -> tuple[NDArray[np.float64], list[Places]]:
    """Worth of each idea, 0 to 10, and its comparisons as places in `ANSWERS`, the closest first."""
    chance = np.random.default_rng(count)
    levels = [*OVERLAPPING, NOTHING_SHARED]
    worth, compared = [], []
    for _ in range(IDEAS):
        level = chance.choice(levels)
        places = _further(chance, count, level, few=few)
        places[: 1 + chance.poisson(MORE_CLOSE_WORKS)] = level
        wrong = chance.random(count) < misread
        places[wrong] = chance.choice(OVERLAPPING, wrong.sum())
        worth.append(10 * NEW[level])
        compared.append(np.sort(places))
    return np.array(worth), compared


def _further(chance: np.random.Generator, count: int, level: int, *, few: bool) -> Places:
    nearest = max(level, NEAREST_OF_FAR) if few else level
    near = [place for place in (*OVERLAPPING, NOTHING_SHARED) if place >= nearest]
    kind = chance.random(count)
    return np.select(
        [kind < 0.5, kind < 0.75],
        [chance.choice(SILENT, count), np.full(count, NOTHING_SHARED)],
        chance.choice(near, count),
    ).astype(np.int64)


def _at(places: Places, place: int) -> float:
    return float(NEW[places[place]]) if place < len(places) else 0.5


def _three_closest(places: Places) -> float:
    return 10 * sum(weight * _at(places, place) for place, weight in enumerate((0.7, 0.2, 0.1)))


def _second_closest(places: Places) -> float:
    return 10 * _at(places, 1)


def _shrunk(places: Places) -> float:
    """The three closest, drawn toward the mean of all works the more of them there are."""
    share = 5 / (5 + len(places))
    return share * _three_closest(places) + (1 - share) * 10 * float(NEW[places].mean())


def _posterior_mean(places: Places) -> float:
    """Over levels of equal prior probability, with one misreading in twenty and three works at the
    level; further works anywhere above it.
    """
    levels = (*OVERLAPPING, NOTHING_SHARED)
    told = places[np.isin(places, levels)]
    likelihood = []
    for level in levels:
        at = min(0.9, 3 / len(places))
        above = sum(each > level for each in levels)
        true = np.where(told == level, at, np.where(told > level, (1 - at) / max(above, 1), 0.0))
        likelihood.append(np.log(0.95 * true + 0.05 / len(levels)).sum())
    share = np.exp(np.array(likelihood) - max(likelihood))
    return float(10 * (share * NEW[list(levels)]).sum() / share.sum())


def _next_after_a_twentieth(places: Places) -> float:
    """The rule of the software; it is asked itself, a work for each place."""
    novelty = novelty_of(_COMPARISONS[place][number] for number, place in enumerate(places))
    return math.nan if novelty is None else novelty


_COMPARISONS = [
    [
        Comparison(
            paper_id=PaperId(f"p{number}"),
            dimension_id="d1",
            dimension="Tool",
            overlap=overlap,
            score=score,
            provenance=make_provenance("compare_paper"),
        )
        for number in range(max(COUNTS))
    ]
    for overlap, score in ANSWERS
]
"""By place, a comparison with each of the works."""

RULES: dict[str, Callable[[Places], float]] = {
    "three closest, weighted": _three_closest,
    "second closest": _second_closest,
    "shrunk by the count": _shrunk,
    "posterior mean": _posterior_mean,
    "next after a twentieth": _next_after_a_twentieth,
}

if __name__ == "__main__":
    main()
