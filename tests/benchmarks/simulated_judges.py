"""How well ideas are ranked by judges of known quality: matches, coverage of the intervals, regret.

Strengths are drawn from the normal prior of the rating. A judge of quality q gives the idea shown
first with probability 1 / (1 + exp(-q d)), d being the difference of strengths: q = 1 is the
judge that Bradley and Terry's model assumes, q = 0.4 one who is right in 69 of 100 pairs (q = 1:
83). Answers to the two orders of a pair agree, are independent, or lean to the idea shown first.

Regret is how much true strength is lost on average, in log-odds, by taking the ideas that the
ranking puts first instead of the best ones. Coverage is the share of 95 % intervals of a difference
that hold what the judge would say of the two with unlimited answers.

Then come several groups, with every pair within each and pairs between groups, and scores in place
of matches: what shrinking those that rest on little gains.
"""

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Winner
from tasks.ranking.schedule import next_bridges, next_round, round_robin
from tasks.ranking.strengths import covariance, fit
from tasks.ranking.tally import PRIOR_DEVIATION, Tally, tally
from tests.support.ranking_fakes import match, parameters

Vector = NDArray[np.float64]
Pair = tuple[IdeaId, IdeaId]
TRIALS = 60
GROUP_DEVIATION = 1.0
"""Of the groups' means, where there are several groups."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of known quality.

    Attributes:
        quality: slope of the log-odds over the difference of strengths; 0 is a coin.
        agreeing: whether both orders of a pair get one answer; otherwise they are drawn apart.
        lean: log-odds added for the idea shown first.
    """

    name: str
    quality: float
    agreeing: bool = False
    lean: float = 0.0

    def answers(self, difference: float, chance: random.Random) -> tuple[bool, bool]:
        """Whether the first of the pair wins, shown first and shown second."""
        one, other = chance.random(), chance.random()
        if self.agreeing:
            other = one
        return (
            one < _share(self.quality * difference + self.lean),
            other < _share(self.quality * difference - self.lean),
        )


JUDGES = (
    Judge("as the model assumes, orders agree", 1.0, agreeing=True),
    Judge("as the model assumes, orders independent", 1.0),
    Judge("leans to the idea shown first (73 %)", 1.0, lean=1.0),
    Judge("weak (q = 0.4)", 0.4, agreeing=True),
    Judge("a coin", 0.0, agreeing=True),
)


def _share(log_odds: float) -> float:
    return 1.0 / (1.0 + math.exp(-log_odds))


class Contest:
    """Ideas with true strengths, in one group or several, and the answers of one judge so far."""

    def __init__(self, size: int, judge: Judge, seed: int, group_count: int = 1) -> None:
        """`size`: of all groups together."""
        self.ids = tuple(IdeaId(f"i{number:04d}") for number in range(size))
        generator = np.random.default_rng([seed, size])
        self.truth = generator.normal(0.0, PRIOR_DEVIATION, size)
        self.group_of: dict[IdeaId, str] | None = None
        if group_count > 1:
            numbers = np.arange(size) % group_count
            self.truth += generator.normal(0.0, GROUP_DEVIATION, group_count)[numbers]
            self.group_of = {
                one: f"g{number:03d}" for one, number in zip(self.ids, numbers, strict=True)
            }
        self._place = {idea_id: number for number, idea_id in enumerate(self.ids)}
        self._judge, self._chance = judge, random.Random(seed)
        self.answers: dict[Pair, list[Match]] = {}

    def ask(self, pair: Pair, number: int) -> None:
        """Both orders of `pair`; asked again, the answers replace the earlier ones."""
        first, second = sorted(pair)
        difference = float(self.truth[self._place[first]] - self.truth[self._place[second]])
        wins = self._judge.answers(difference, self._chance)
        self.answers[(first, second)] = [
            match(first, second, Winner.FIRST if wins[0] else Winner.SECOND, number),
            match(second, first, Winner.SECOND if wins[1] else Winner.FIRST, number),
        ]

    def counted(self) -> Tally:
        found = (each for both in self.answers.values() for each in both)
        return tally(self.ids, found, group_of=self.group_of)


def adaptive(contest: Contest, most_pairs: int, seed: int) -> None:
    for number in range(1, 500):
        turn = next_round(
            number,
            contest.counted(),
            frozenset(contest.answers),
            parameters(matches_per_idea=most_pairs),
            seed,
        )
        for pair in turn.pairs:
            contest.ask(pair, number)
        if turn.ended_because:
            return


def swiss(contest: Contest, rounds: int, seed: int) -> None:
    """Each round pairs neighbours in points who have not met, from the top down."""
    order = random.Random(seed)
    points = dict.fromkeys(contest.ids, 0.0)
    for number in range(1, rounds + 1):
        waiting = sorted(contest.ids, key=lambda one: (-points[one], order.random()))
        while len(waiting) > 1:
            first = waiting.pop(0)
            fresh = [
                one for one in waiting if (min(first, one), max(first, one)) not in contest.answers
            ]
            if not fresh:
                continue
            second = fresh[0]
            waiting.remove(second)
            contest.ask((first, second), number)
            for each in contest.answers[(min(first, second), max(first, second))]:
                points[
                    each.first_idea_id if each.winner is Winner.FIRST else each.second_idea_id
                ] += 0.5


def everyone(contest: Contest, _most: int, seed: int) -> None:
    for number, pairs in enumerate(round_robin(contest.ids, seed), start=1):
        for pair in pairs:
            contest.ask(pair, number)


def at_random(contest: Contest, most_pairs: int, seed: int) -> None:
    pairs = list(combinations(contest.ids, 2))
    for pair in random.Random(seed).sample(pairs, most_pairs * len(contest.ids) // 2):
        contest.ask(pair, 1)


SCHEDULES: dict[str, Callable[[Contest, int, int], None]] = {
    "round robin": everyone,
    "adaptive": adaptive,
    "Swiss": swiss,
    "random pairs": at_random,
}


def bridged(contest: Contest, bridge_pairs: int, seed: int) -> None:
    """Every pair within each group, then pairs between groups."""
    group_of = contest.group_of or {}
    for first, second in combinations(contest.ids, 2):
        if group_of[first] == group_of[second]:
            contest.ask((first, second), 1)
    within = frozenset(contest.answers)
    for number in range(1, bridge_pairs + 2):
        turn = next_bridges(
            number,
            contest.counted(),
            group_of,
            frozenset(contest.answers) - within,
            parameters(bridge_pairs=bridge_pairs, stable_top=5),
            seed,
        )
        for pair in turn.pairs:
            contest.ask(pair, number)
        if turn.ended_because:
            return


@dataclass(frozen=True, slots=True)
class Quality:
    """What one contest came to; shares from 0 to 1, strengths in log-odds."""

    pairs: int
    differences_held: float
    regret: float
    found: float
    correlation: float


def quality(contest: Contest, judge: Judge, top: int) -> Quality:
    counted = contest.counted()
    fitted = fit(counted)
    covariances = covariance(counted, fitted)
    # On the judge's own scale: intervals tell of the judge's answers, not of the truth behind them.
    wanted = judge.quality * (contest.truth - contest.truth.mean())
    upper, lower = np.triu_indices(len(contest.ids), 1)
    variance = np.diagonal(covariances)
    spread = np.sqrt(variance[upper] + variance[lower] - 2 * covariances[upper, lower])
    error = (fitted.strengths[upper] - fitted.strengths[lower]) - (wanted[upper] - wanted[lower])
    chosen = np.argsort(-fitted.strengths, kind="stable")[:top]
    best = np.argsort(-contest.truth, kind="stable")[:top]
    return Quality(
        pairs=len(contest.answers),
        differences_held=float((np.abs(error) <= 1.96 * spread).mean()),
        regret=float(contest.truth[best].mean() - contest.truth[chosen].mean()),
        found=len(set(chosen.tolist()) & set(best.tolist())) / top,
        correlation=_spearman(fitted.strengths, contest.truth),
    )


def _spearman(found: Vector, truth: Vector) -> float:
    first, second = (np.argsort(np.argsort(values)) for values in (found, truth))
    return float(np.corrcoef(first, second)[0, 1])


def trials(judge: Judge, schedule: str, size: int, top: int, most_pairs: int) -> Iterator[Quality]:
    for seed in range(TRIALS):
        contest = Contest(size, judge, seed)
        SCHEDULES[schedule](contest, most_pairs, seed)
        yield quality(contest, judge, top)


def chance_regret(size: int, top: int) -> float:
    """Of a random choice: what the best `top` have above the mean."""
    lost = []
    for seed in range(TRIALS):
        truth = np.sort(Contest(size, JUDGES[0], seed).truth)[::-1]
        lost.append(float(truth[:top].mean() - truth.mean()))
    return float(np.mean(lost))


def print_bridges() -> None:
    """What matches between groups add to every pair within them."""
    group_count, size, top = 12, 8, 5
    print(
        f"\n{group_count} groups of {size} ideas, the best {top} of all wanted, mean of {TRIALS}"
        f" batches; the groups' means have a deviation of {GROUP_DEVIATION:g}"
    )
    print(
        f"{'judge':42} {'bridge_pairs':>12} {'pairs between':>13} {'coverage':>9} {'regret':>7}"
        f" {'found':>6}"
    )
    for judge in (JUDGES[0], JUDGES[3]):
        for bridge_pairs in (0, 2, 4, 8, 16):
            each = []
            for seed in range(TRIALS):
                contest = Contest(group_count * size, judge, seed, group_count)
                bridged(contest, bridge_pairs, seed)
                each.append(quality(contest, judge, top))
            between = np.mean([one.pairs for one in each]) - group_count * size * (size - 1) / 2
            print(
                f"{judge.name:42} {bridge_pairs:12} {between:13.0f}"
                f" {np.mean([one.differences_held for one in each]):9.3f}"
                f" {np.mean([one.regret for one in each]):7.2f}"
                f" {np.mean([one.found for one in each]):6.2f}",
                flush=True,
            )


SCORED_IDEAS, QUALITY_DEVIATION, BATCHES = 40, 1.5, 4000
SHRINKAGE = 2.0
"""As in the mart `idea_scores`."""


def print_shrinkage() -> None:
    """What is lost by taking the best five of 40 scores, and of shrunk ones.

    True qualities deviate by 1.5 points. A score is the mean of 1 to 12 judgements, of which one
    that is sure (confidence 3) deviates by the noise, and one of confidence c by
    2 / sqrt(1 + c) times that, or whatever its confidence by the noise.
    """
    top = 5
    print(
        f"\n{SCORED_IDEAS} scores of 1 to 12 judgements, the best {top} wanted, mean of"
        f" {BATCHES:,} groups"
    )
    print(
        f"{'noise of a judgement':>20} {'confidence':>12} {'regret':>7} {'shrunk':>7} {'random':>7}"
    )
    for noise in (0.75, 1.5, 3.0, 6.0):
        for telling in (True, False):
            generator = np.random.default_rng(15)
            shape = (BATCHES, SCORED_IDEAS)
            quality = generator.normal(0.0, QUALITY_DEVIATION, shape)
            count = generator.integers(1, 13, shape)
            sure = (1 + generator.integers(0, 4, shape)) / 4
            error = noise / np.sqrt(count * (sure if telling else 1.0))
            score = quality + generator.normal(0.0, 1.0, shape) * error
            weight = count * sure
            mean = score.mean(axis=1, keepdims=True)
            shrunk = mean + weight / (weight + SHRINKAGE) * (score - mean)
            best = -np.sort(-quality, axis=1)[:, :top].mean()
            lost = [
                best
                - np.take_along_axis(
                    quality, np.argsort(-values, axis=1, kind="stable")[:, :top], axis=1
                ).mean()
                for values in (score, shrunk, generator.random(shape))
            ]
            print(
                f"{noise:20} {'telling' if telling else 'empty':>12}"
                f" {lost[0]:7.2f} {lost[1]:7.2f} {lost[2]:7.2f}"
            )


def main() -> None:
    for size, top, most_pairs in ((8, 1, 7), (40, 5, 12)):
        print(
            f"\n{size} ideas, the best {top} wanted, mean of {TRIALS} groups; a random choice has a"
            f" regret of {chance_regret(size, top):.2f}"
        )
        print(
            f"{'judge':42} {'schedule':13} {'pairs':>6} {'coverage':>9} {'regret':>7}"
            f" {'found':>6} {'Spearman':>9}"
        )
        for judge in JUDGES:
            for schedule in SCHEDULES:
                each = list(trials(judge, schedule, size, top, most_pairs))
                print(
                    f"{judge.name:42} {schedule:13} {np.mean([one.pairs for one in each]):6.0f}"
                    f" {np.mean([one.differences_held for one in each]):9.3f}"
                    f" {np.mean([one.regret for one in each]):7.2f}"
                    f" {np.mean([one.found for one in each]):6.2f}"
                    f" {np.mean([one.correlation for one in each]):9.2f}",
                    flush=True,
                )
    print_bridges()
    print_shrinkage()


if __name__ == "__main__":
    main()
