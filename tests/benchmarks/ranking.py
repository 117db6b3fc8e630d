"""What ranking costs without model calls, and how few matches find the leaders.

1. 10,000 ideas in 100 groups of 100, six dimensions, from stored judgements: seconds and memory;
the fit alone, beside choix. 2. A stable top 10 of 100 with a judge of known strengths who is wrong
one time in five: adaptive against full round-robin.
"""

import asyncio
import multiprocessing
import random
import resource
import time
from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np

from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Winner
from tasks.ranking.dimensions import DIMENSIONS, compared_along
from tasks.ranking.dossier import Dossier
from tasks.ranking.matching import match_id
from tasks.ranking.rank import rank_groups
from tasks.ranking.schedule import next_round
from tasks.ranking.strengths import fit
from tasks.ranking.tally import Tally, tally
from tests.support.ranking_fakes import FakeJudge, dossier, match, parameters

GROUPS, SIZE, NOISE, TOP, TRIALS = 100, 100, 0.2, 10, 20
SPAWN = multiprocessing.get_context("spawn")


def names(size: int, start: int = 0) -> tuple[IdeaId, ...]:
    return tuple(IdeaId(f"i{number:05d}") for number in range(start, start + size))


def noisy(first: int, second: int, chance: random.Random) -> Winner:
    return Winner.FIRST if (first > second) != (chance.random() < NOISE) else Winner.SECOND


class Played:
    """Results of pairs asked in both orders; the higher place is the stronger idea."""

    def __init__(self, ids: tuple[IdeaId, ...], seed: int) -> None:
        self.ids = ids
        self.place = {idea_id: number for number, idea_id in enumerate(ids)}
        self.chance = random.Random(seed)
        self.results: dict[tuple[IdeaId, IdeaId], list[tuple[IdeaId, IdeaId, Winner, int]]] = {}

    def ask(self, pair: tuple[IdeaId, IdeaId], number: int) -> None:
        orders = (pair, pair[::-1])
        key = (min(pair), max(pair))
        self.results[key] = [
            (first, second, noisy(self.place[first], self.place[second], self.chance), number)
            for first, second in orders
        ]

    def tally(self) -> Tally:
        return tally(self.ids, self.matches())

    def matches(self) -> Iterable[Match]:
        for one in self.results.values():
            for first, second, winner, number in one:
                yield match(first, second, winner, number)


def adaptive(ids: tuple[IdeaId, ...], most_pairs: int, seed: int) -> Played:
    played = Played(ids, seed)
    for number in range(1, 500):
        turn = next_round(
            number,
            played.tally(),
            frozenset(played.results),
            parameters(matches_per_idea=most_pairs),
            seed,
        )
        for pair in turn.pairs:
            played.ask(pair, number)
        if turn.ended_because:
            break
    return played


def everyone(ids: tuple[IdeaId, ...], most: int | None, seed: int) -> Played:
    """A full round-robin, or `most` of its pairs drawn at random."""
    played = Played(ids, seed)
    pairs = list(combinations(ids, 2))
    for pair in pairs if most is None else random.Random(seed).sample(pairs, most):
        played.ask(pair, 1)
    return played


def quality(played: Played) -> tuple[float, float, float, float]:
    """Pairs asked, share of the true top found, rank correlation among the true top,
    and over all.
    """
    strengths = fit(played.tally()).strengths
    size = len(strengths)
    found = set(np.argsort(-strengths, kind="stable")[:TOP].tolist())
    top = np.arange(size - TOP, size)
    return (
        len(played.results),
        len(found & set(top.tolist())) / TOP,
        correlation(strengths[top]),
        correlation(strengths),
    )


def correlation(strengths: Any) -> float:
    """Spearman's, with the true order ascending."""
    ranks = np.argsort(np.argsort(strengths))
    return float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])


def leaders() -> None:
    ids = names(SIZE)
    print(
        f"a top {TOP} of {SIZE}, judge wrong {NOISE:.0%} of the time, both orders asked, mean of"
        f" {TRIALS} trials"
    )
    print(
        f"{'schedule':32} {'pairs':>6} {'top found':>10} {'Spearman of the top':>20} {'of all':>7}"
    )
    full = _line("full round-robin", [quality(everyone(ids, None, seed)) for seed in range(TRIALS)])
    equal: tuple[int, float] | None = None
    for most_pairs in (12, 16, 20, 24, 32):
        found = _line(
            f"adaptive, at most {most_pairs} an idea",
            [quality(adaptive(ids, most_pairs, seed)) for seed in range(TRIALS)],
        )
        _line(
            "  as many pairs at random",
            [quality(everyone(ids, int(found[0]), seed)) for seed in range(TRIALS)],
        )
        if equal is None and found[1] >= full[1] and found[2] >= full[2]:
            equal = (most_pairs, found[0])
    if equal:
        fewer = (
            f"{equal[1]:.0f} pairs instead of {full[0]:.0f}, {full[0] / equal[1]:.1f} times fewer"
        )
        print(f"a top {TOP} as good as the full round-robin's in both respects: {fewer}")


def _line(name: str, trials: list[tuple[float, float, float, float]]) -> Any:
    mean = np.mean(trials, axis=0)
    print(f"{name:32} {mean[0]:6.0f} {mean[1]:10.2f} {mean[2]:20.2f} {mean[3]:7.2f}", flush=True)
    return mean


def stored_group(number: int) -> tuple[list[Dossier], list[Match]]:
    """A group with the matches its schedule would ask, along every dimension."""
    ids = names(SIZE, number * SIZE)
    dossiers = {idea_id: dossier(idea_id, f"g{number:03d}") for idea_id in ids}
    judged = [
        one.model_copy(
            update={
                "match_id": match_id(
                    dossiers[one.first_idea_id], dossiers[one.second_idea_id], dimension, "fake", 1
                ),
                "group": f"g{number:03d}",
                "dimension": dimension.name,
            }
        )
        for one in adaptive(ids, 12, 1).matches()
        for dimension in compared_along(DIMENSIONS)
    ]
    return list(dossiers.values()), judged


def rank_stored(group_count: int) -> dict[str, float]:
    """Ranks group after group in this process; making the stored matches is not timed."""
    spent, used, match_count, fitted, peak_before = 0.0, 0.0, 0, 0.0, 0.0
    for number in range(group_count):
        dossiers, judged = stored_group(number)
        peak_before = peak_before or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        judge = FakeJudge()
        started, used_before = time.perf_counter(), time.process_time()
        ranked = asyncio.run(
            rank_groups(dossiers, parameters(), judge, 1, dimensions=DIMENSIONS, stored=judged)
        )
        spent += time.perf_counter() - started
        used += time.process_time() - used_before
        assert not judge.asked
        match_count += len(ranked.matches)
        own = [
            tally(
                [one.idea_id for one in dossiers],
                (one for one in judged if one.dimension == name.name),
            )
            for name in compared_along(DIMENSIONS)
        ]
        started = time.process_time()
        for one in own:
            fit(one)
        fitted += time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "seconds": spent,
        "cpu": used,
        "matches": match_count,
        "fit": fitted,
        "first": peak_before,
        "peak": peak,
    }


def library(group_count: int) -> tuple[float, float]:
    """CPU-seconds of choix for the fit alone, per group and dimension: spectral (no prior), and by
    Newton (same objective as ours).
    """
    import choix

    spectral = newton = 0.0
    for number in range(group_count):
        played = adaptive(names(SIZE, number * SIZE), 12, 1)
        pairs = [
            (
                (played.place[first], played.place[second])
                if winner is Winner.FIRST
                else (played.place[second], played.place[first])
            )
            for one in played.results.values()
            for first, second, winner, _ in one
        ]
        started = time.process_time()
        choix.ilsr_pairwise(SIZE, pairs, alpha=0.01)
        spectral += time.process_time() - started
        started = time.process_time()
        choix.opt_pairwise(SIZE, pairs, alpha=0.125, method="Newton-CG")
        newton += time.process_time() - started
    return spectral / group_count, newton / group_count


def main() -> None:
    with SPAWN.Pool(1) as pool:
        found = pool.apply(rank_stored, (GROUPS,))
    fits = GROUPS * (len(DIMENSIONS) + 1)
    spent = f"{found['seconds']:.1f} s ({found['cpu']:.1f} CPU-seconds)"
    print(
        f"{GROUPS * SIZE:,} ideas in {GROUPS} groups from {found['matches']:,.0f} stored matches:"
        f" {spent},"
    )
    print(
        f"  Bradley-Terry and Elo with intervals and rank ranges along {len(DIMENSIONS) + 1}"
        f" dimensions; peak memory {found['peak']:.0f} MB"
    )
    print(f"  (after the first group's matches were made: {found['first']:.0f} MB)")
    spectral, newton = library(10)
    ours = 1000 * found["fit"] / fits
    print(
        f"  the fit alone: {ours:.2f} CPU-ms each; choix {1000 * spectral:.1f} ms (I-LSR),"
        f" {1000 * newton:.0f} ms (same objective)"
    )
    leaders()


if __name__ == "__main__":
    main()
