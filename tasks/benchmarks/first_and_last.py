"""A last version of an idea held against its first one, in both orders: how often it wins, and what
sways the judge beside quality: length, claims to be new, hedges, words of the questions that judges
are asked.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit

from schemas.base import Noun
from schemas.judgement.committee import ReviewDimension
from schemas.judgement.ranking import Match, Winner
from schemas.text.patterns import IGNORECASE, bounded
from tasks.judging.step import Engine
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.means import Indices, bootstrap_interval, mean
from tasks.ranking.biases import EFFECT_DEVIATION, Matrix, Vector, fitted_log_odds
from tasks.ranking.dimensions import DIMENSIONS, compared_along
from tasks.ranking.dossier import Dossier
from tasks.ranking.matching import ask, stands
from tasks.ranking.steps.measures import NEWNESS
from tasks.ranking.tally import PRIOR_DEVIATION
from tasks.text.words import content_words, words

RESAMPLES = 400
"""Of effects: each fits its answers anew."""
WON = {Winner.FIRST: 1.0, Winner.TIE: 0.5, Winner.SECOND: 0.0}
_PRECISION = np.array([1 / PRIOR_DEVIATION**2, *[1 / EFFECT_DEVIATION**2] * 2])


@dataclass(frozen=True, slots=True)
class Contest:
    """Two versions of one idea. Ideas of one `cluster`, a seed, are not independent."""

    name: str
    cluster: str
    first: Dossier
    last: Dossier

    @property
    def doublings(self) -> float:
        """How often the length was doubled from the first version to the last."""
        return math.log2((1 + len(words(self.last.text))) / (1 + len(words(self.first.text))))


class Judged(Noun):
    """The matches of one contest: both orders, each along every dimension."""

    matches: tuple[Match, ...]


async def judge_both_orders(
    contest: Contest, dimensions: Sequence[ReviewDimension], engine: Engine, seed: int
) -> Judged:
    """One call for each order."""
    orders = ((contest.last, contest.first), (contest.first, contest.last))
    found = [
        await ask(*order, dimensions, engine, group=contest.cluster, round_number=1, seed=seed)
        for order in orders
    ]
    return Judged(matches=tuple(match for each in found for match in each))


def may_go_better(judged: Judged) -> bool:
    """Whether a match without a verdict may get one another time."""
    return not all(map(stands, judged.matches))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the judge said of one contest along one dimension: what the last version won, shown
    first and shown second; None: no verdict.
    """

    contest: Contest
    shown_first: float | None
    shown_second: float | None

    @property
    def last_won(self) -> float | None:
        """From 0 to 1: orders that disagree make a half. None unless both have a verdict."""
        if self.shown_first is None or self.shown_second is None:
            return None
        return (self.shown_first + self.shown_second) / 2

    @property
    def first_shown_won(self) -> float | None:
        """What whichever was shown first won, from 0 to 1."""
        if self.shown_first is None or self.shown_second is None:
            return None
        return (self.shown_first + 1 - self.shown_second) / 2


def answers(
    contests: Sequence[Contest], judged: Mapping[str, Judged], dimension: str
) -> list[Answer]:
    """Of each contest, by its name in `judged`."""
    return [_answer(each, judged[each.name], dimension) for each in contests]


def _answer(contest: Contest, judged: Judged, dimension: str) -> Answer:
    won = {
        match.first_idea_id: WON[match.winner]
        for match in judged.matches
        if match.dimension == dimension and match.winner is not None
    }
    second = won.get(contest.first.idea_id)
    return Answer(contest, won.get(contest.last.idea_id), None if second is None else 1 - second)


def win_rates(given: Sequence[Answer], seed: int) -> dict[str, Estimate]:
    """How often the last version wins, and how often what is shown first does; intervals draw whole
    clusters.
    """
    clusters = [each.contest.cluster for each in given]
    return {
        "last_round_win_rate": mean([each.last_won for each in given], seed, clusters),
        "first_shown_share": mean([each.first_shown_won for each in given], seed, clusters),
    }


def effects(given: Sequence[Answer], seed: int) -> dict[str, Estimate]:
    """What standing first and a doubled length add to the log odds, and how often the last version
    would win if it were as long as the first: logistic regression over the answers, with a weak
    prior, so that a judge who always says the same has a finite effect.
    """
    whole = [each for each in given if each.last_won is not None]
    lost = len(given) - len(whole)
    names = ("win_rate_at_equal_length", "first_shown_log_odds", "length_log_odds")
    if not whole:
        reason = f"none of the {lost} contests has a verdict" if lost else "there is no contest"
        return dict.fromkeys(names, undefined(reason, unscored_count=lost))
    won = np.array([v for e in whole for v in (e.shown_first, e.shown_second)], dtype=np.float64)
    lengths = [each.contest.doublings for each in whole]
    design = np.array([(1.0, side, value) for value in lengths for side in (1.0, -1.0)])
    clusters = [each.contest.cluster for each in whole for _ in range(2)]
    differs = len({round(value, 9) for value in lengths}) > 1
    return {
        name: _effect(place, design, won, clusters, seed, lost)
        if differs or place == 1
        else undefined("all pairs differ alike in length", len(whole), lost)
        for place, name in enumerate(names)
    }


def _effect(
    place: int, design: Matrix, won: Vector, clusters: Sequence[str], seed: int, lost: int
) -> Estimate:
    def statistic(chosen: Indices) -> float:
        found, _ = fitted_log_odds(design[chosen], won[chosen], _PRECISION)
        return float(expit(found[0]) if place == 0 else found[place])

    everything = np.arange(len(won))
    interval = bootstrap_interval(statistic, len(won), seed, clusters, RESAMPLES)
    return Estimate(statistic(everything), len(won) // 2, interval, lost)


_HEDGES = bounded(
    r"\b(?:may|might|could|perhaps|possibl[ey]|probabl[ey]|presumably|potential(?:ly)?|likely"
    r"|appears?|seems?|suggests?|arguably|roughly|approximately|to some extent)\b",
    IGNORECASE,
)
FLATTERY = ("words", "newness_claims", "hedges", "rubric_words")
"""Words in all; the others per hundred words."""


def flattery_of(text: str) -> dict[str, float]:
    """Each of `FLATTERY` in a text."""
    count = len(words(text))
    stems = content_words(text)
    found = {
        "newness_claims": sum(1 for _ in NEWNESS.finditer(text)),
        "hedges": sum(1 for _ in _HEDGES.finditer(text)),
        "rubric_words": sum(stem in rubric_stems() for stem in stems),
    }
    return {"words": float(count), **{n: 100 * v / max(count, 1) for n, v in found.items()}}


@lru_cache(maxsize=1)
def rubric_stems() -> frozenset[str]:
    """Of the dimensions that ideas are compared along, with their questions."""
    told = (f"{each.name} {each.question} {each.scale}" for each in compared_along(DIMENSIONS))
    return frozenset(stem for text in told for stem in content_words(text))
