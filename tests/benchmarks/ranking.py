"""Cost of ranking 10,000 ideas in 100 groups, six dimensions, from stored judgements."""

import asyncio
import multiprocessing
import random
import resource
import time
from collections.abc import Iterable

from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Winner
from tasks.ranking.dimensions import DIMENSIONS, with_overall
from tasks.ranking.dossier import Dossier
from tasks.ranking.matching import match_id
from tasks.ranking.rank import rank_groups
from tasks.ranking.schedule import next_round
from tasks.ranking.strengths import fit
from tasks.ranking.tally import Tally, tally
from tests.support.ranking_fakes import FakeJudge, dossier, match, parameters

GROUPS, SIZE, NOISE = 100, 100, 0.2
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
        for dimension in with_overall(DIMENSIONS)
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
            for name in with_overall(DIMENSIONS)
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
    print(f"  the fit alone: {1000 * found['fit'] / fits:.2f} CPU-ms each")


if __name__ == "__main__":
    main()
