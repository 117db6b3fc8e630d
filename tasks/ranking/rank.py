"""Ranks groups of ideas: asks the matches the schedule wants, hands each out as it comes, and
rates.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId
from schemas.judgement.committee import ReviewDimension
from schemas.judgement.ranking import BRIDGES, GroupSummary, Match, Rating
from schemas.profile import RankingParameters
from schemas.reasons import may_pass
from tasks.judging.packing import side_by_side
from tasks.judging.step import Engine
from tasks.ranking.dimensions import OVERALL, compared_along
from tasks.ranking.dossier import Dossier
from tasks.ranking.matching import ask, match_id, stands
from tasks.ranking.rating import rate, rate_across
from tasks.ranking.schedule import (
    FIXED,
    ROUND_ROBIN,
    Pair,
    Round,
    kind_of,
    next_bridges,
    next_round,
    round_robin,
)
from tasks.ranking.tally import Tally, is_vote, tally

# What asking in both orders shows: does the judge favour what it sees first?


def compare_orders(matches: Iterable[Match]) -> tuple[float | None, float | None]:
    """(position bias, agreement) over pairs scored in both orders, along every dimension; None
    where there is none.

    The bias is +1 when the first shown wins all matches of such pairs for certain, -1 when the
    second does, 0 when neither is favoured. Agreement is the share of such pairs with the same
    winner, or a tie, in both orders. Human votes, and the earlier of two matches in one order, do
    not count.
    """
    verdicts: dict[tuple[IdeaId, IdeaId, str], float] = {}
    for match in sorted(matches, key=lambda match: (match.created_at, match.match_id)):
        share = match.first_share_0_to_1
        if share is not None and not is_vote(match):
            verdicts[match.first_idea_id, match.second_idea_id, match.dimension] = share
    leans: list[float] = []
    alike = 0
    for (first, second, dimension), there in verdicts.items():
        back = verdicts.get((second, first, dimension))
        if back is None or first > second:
            continue
        leans.append(there + back - 1.0)
        alike += (there > 0.5) == (back < 0.5) and (there < 0.5) == (back > 0.5)
    if not leans:
        return None, None
    return round(sum(leans) / len(leans), 9), alike / len(leans)


UNGROUPED = "all"
"""Name of the group of ideas that were given none."""

_OF_ONE, _EVERY_PAIR = "a group of one has no pairs", "every pair was asked"

Deliver = Callable[[tuple[Match, ...]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Joined:
    """All groups together. `name`: under which their matches go; `within`: the matches that were
    played within the groups.
    """

    name: str
    within: Sequence[Match] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Groups by name; matches by group, round and pair; ratings by group, dimension, method and
    idea.
    """

    groups: tuple[GroupSummary, ...]
    matches: tuple[Match, ...] = field(repr=False)
    ratings: tuple[Rating, ...] = field(repr=False)


async def rank_groups(
    dossiers: Sequence[Dossier],
    parameters: RankingParameters,
    engine: Engine,
    seed: int,
    *,
    dimensions: Sequence[ReviewDimension],
    stored: Sequence[Match] = (),
    concurrency: int = 8,
    deliver: Deliver | None = None,
    engine_of: Callable[[IdeaId], Engine] | None = None,
    joined: Joined | None = None,
    beforehand: bool = False,
    with_votes: bool = False,
) -> Ranked:
    """Rank every group of `dossiers`, all groups side by side; or join them by matches between
    them, and rate all ideas on one scale.

    Args:
        dimensions: compared along besides `overall`, which is always asked and decides the
            schedule.
        stored: matches of an earlier, perhaps interrupted run, and human votes (judge
            `human:<name>`). What is stored for the same dossiers, order, dimension, engine, prompt
            and seed is not asked again, except where the reason for a missing score may have gone
            (`may_pass`).
        concurrency: calls under way at once, over all groups; no bound where asked `beforehand`.
        deliver: awaited with the matches of every call as soon as they are there, so that a kill
            loses calls in flight only. A match asked again comes under its old `match_id`: the
            newest holds.
        engine_of: the engine that asks about pairs in which this idea is shown first, where calls
            are booked per idea; it must have the name of `engine`.
        joined: the groups are ranked already, and this is asked of them all together: ideas meet
            those of other groups, and ratings are by Bradley–Terry and name the idea's own group.
        beforehand: choose all pairs before the first answer, also in large groups, and ask them
            side by side. There each idea plays `matches_per_idea` pairs.
        with_votes: rate by Elo too, which counts human votes.

    Raises:
        ConfigurationError: a match by another engine is stored, two dossiers are of one idea, or
            two dimensions share a name.
    """
    _check(dossiers, stored, engine)
    places = nullcontext() if beforehand else asyncio.Semaphore(concurrency)
    asked, shown = compared_along(dimensions), parameters.show_scores
    judge = _Judge(asked, engine, engine_of, seed, shown, deliver, places, _newest(stored))
    contests: list[_Contest] = (
        [
            _Contest(name, ideas, parameters, judge, stored, beforehand=beforehand)
            for name, ideas in _by_group(dossiers)
        ]
        if joined is None
        else [_Bridges(joined, dossiers, parameters, judge)]
    )
    await side_by_side(contest.play() for contest in contests)
    return Ranked(
        groups=tuple(contest.summary() for contest in contests),
        matches=tuple(match for contest in contests for match in contest.matches),
        ratings=tuple(rating for contest in contests for rating in contest.ratings(with_votes)),
    )


def _by_group(dossiers: Sequence[Dossier]) -> list[tuple[str, tuple[Dossier, ...]]]:
    """Groups by name, their ideas by identifier."""
    members: dict[str, list[Dossier]] = {}
    for dossier in sorted(dossiers, key=lambda dossier: dossier.idea_id):
        members.setdefault(dossier.group or UNGROUPED, []).append(dossier)
    return [(name, tuple(ideas)) for name, ideas in sorted(members.items())]


def _check(dossiers: Sequence[Dossier], stored: Iterable[Match], engine: Engine) -> None:
    ids = [dossier.idea_id for dossier in dossiers]
    repeated = (
        sorted({idea_id for idea_id in ids if ids.count(idea_id) > 1})
        if len(set(ids)) < len(ids)
        else []
    )
    if repeated:
        raise ConfigurationError(f"two dossiers are of idea {repeated[0]!r}: rank each idea once")
    others = sorted({match.judge for match in stored if not is_vote(match)} - {engine.name})
    if others:
        raise ConfigurationError(
            f"stored matches were judged by {', '.join(others)}, not by {engine.name}: rank each"
            " engine's matches apart"
        )


def _newest(stored: Iterable[Match]) -> dict[str, Match]:
    return {match.match_id: match for match in sorted(stored, key=lambda match: match.created_at)}


@dataclass(frozen=True, slots=True)
class _Judge:
    """Asks, or finds the answer among what is stored."""

    dimensions: tuple[ReviewDimension, ...]
    engine: Engine
    engine_of: Callable[[IdeaId], Engine] | None
    seed: int
    show_scores: bool
    deliver: Deliver | None
    places: AbstractAsyncContextManager[object]
    stored: dict[str, Match]

    async def verdicts(
        self, first: Dossier, second: Dossier, group: str, number: int
    ) -> tuple[Match, ...]:
        """A match per dimension, in order."""
        known: dict[str, Match] = {}
        for dimension in self.dimensions:
            match = self.stored.get(
                match_id(
                    first,
                    second,
                    dimension,
                    self.engine.name,
                    self.seed,
                    show_scores=self.show_scores,
                )
            )
            if match is not None and match.group == group and stands(match):
                known[dimension.name] = match
        missing = [dimension for dimension in self.dimensions if dimension.name not in known]
        if missing:
            engine = self.engine_of(first.idea_id) if self.engine_of else self.engine
            async with self.places:
                found = await ask(
                    first,
                    second,
                    missing,
                    engine,
                    group=group,
                    round_number=number,
                    seed=self.seed,
                    show_scores=self.show_scores,
                )
                if self.deliver is not None:
                    await self.deliver(found)
            known |= {match.dimension: match for match in found}
        return tuple(known[dimension.name] for dimension in self.dimensions)


class _Contest:
    """One group's matches, from first round to ratings."""

    def __init__(
        self,
        name: str,
        ideas: tuple[Dossier, ...],
        parameters: RankingParameters,
        judge: _Judge,
        stored: Sequence[Match],
        *,
        beforehand: bool,
    ) -> None:
        self._name = name
        self._of = {dossier.idea_id: dossier for dossier in ideas}
        self._parameters = parameters
        self._judge = judge
        self._prior = {
            dossier.idea_id: dossier.prior_log_odds
            for dossier in ideas
            if dossier.prior_log_odds is not None
        }
        self._kind = kind_of(len(ideas), parameters, beforehand=beforehand)
        self._beforehand = beforehand
        self._ended_because = ""
        self._judged: list[Match] = []
        known = {dimension.name for dimension in judge.dimensions}
        self._votes = [
            match
            for match in _newest(stored).values()
            if is_vote(match)
            and match.dimension in known
            and match.first_idea_id in self._of
            and match.second_idea_id in self._of
        ]

    @property
    def matches(self) -> tuple[Match, ...]:
        judged = sorted(
            self._judged,
            key=lambda match: (
                match.round,
                match.first_idea_id,
                match.second_idea_id,
                match.dimension,
            ),
        )
        return (*judged, *sorted(self._votes, key=lambda match: (match.created_at, match.match_id)))

    async def play(self) -> None:
        """Ask round after round until the schedule ends, or the engine gives no more answers; or
        all rounds at once.
        """
        rounds = self._rounds()
        if self._beforehand:
            await self._play_at_once(rounds or ())
            return
        asked: set[Pair] = set()
        number = 0
        while not self._ended_because:
            number += 1
            turn = (
                self._round_robin_turn(rounds, number)
                if rounds is not None
                else self._telling_turn(number, asked)
            )
            self._ended_because = turn.ended_because
            found = await self._asked(turn.pairs, number)
            asked |= {(min(pair), max(pair)) for pair in turn.pairs}
            self._judged.extend(found)
            if found and all(may_pass(match.unscored_reason) for match in found):
                self._ended_because = (
                    f"stopped after round {number}, which brought no score:"
                    f" {found[0].unscored_detail}"
                )

    def _rounds(self) -> tuple[tuple[Pair, ...], ...] | None:
        """All of them, where they wait for no results."""
        if self._kind not in (ROUND_ROBIN, FIXED):
            return None
        most = self._parameters.matches_per_idea if self._kind == FIXED else None
        return round_robin(tuple(self._of), self._judge.seed, most)

    async def _play_at_once(self, rounds: tuple[tuple[Pair, ...], ...]) -> None:
        asked = await side_by_side(
            self._asked(pairs, number) for number, pairs in enumerate(rounds, 1)
        )
        self._judged = [match for matches in asked for match in matches]
        if not rounds:
            self._ended_because = _OF_ONE
        elif self._kind == FIXED:
            pairs = self._parameters.matches_per_idea
            self._ended_because = f"every idea has played {pairs} pairs, chosen beforehand"
        else:
            self._ended_because = _EVERY_PAIR

    def _round_robin_turn(self, rounds: tuple[tuple[Pair, ...], ...], number: int) -> Round:
        if len(self._of) == 1:
            return Round((), _OF_ONE)
        return Round(rounds[number - 1], _EVERY_PAIR if number == len(rounds) else "")

    def _telling_turn(self, number: int, asked: set[Pair]) -> Round:
        return next_round(
            number, self._deciding(), frozenset(asked), self._parameters, self._judge.seed
        )

    def _deciding(self) -> Tally:
        """The matches that decide the schedule."""
        return tally(
            tuple(self._of),
            (match for match in self._judged if match.dimension == OVERALL.name),
            self._prior,
        )

    async def _asked(self, pairs: tuple[Pair, ...], number: int) -> list[Match]:
        judged = await side_by_side(
            self._judge.verdicts(self._of[first], self._of[second], self._name, number)
            for pair in pairs
            for first, second in self._orders(pair)
        )
        return [match for matches in judged for match in matches]

    def _orders(self, pair: Pair) -> tuple[Pair, ...]:
        return (pair, (pair[1], pair[0])) if self._parameters.both_orders else (pair,)

    def ratings(self, with_votes: bool) -> tuple[Rating, ...]:
        matches = self.matches
        return tuple(
            rating
            for dimension in self._judge.dimensions
            for rating in rate(
                self._name,
                tuple(self._of),
                matches,
                dimension.name,
                self._judge.seed,
                self._prior if dimension.name == OVERALL.name else None,
                with_votes=with_votes,
            )
        )

    def summary(self) -> GroupSummary:
        bias, agreement = compare_orders(self._judged)
        return GroupSummary(
            group=self._name,
            idea_count=len(self._of),
            match_count=len(self._judged),
            unscored_match_count=sum(match.winner is None for match in self._judged),
            schedule=self._kind,
            ended_because=self._ended_because,
            island_count=len(set(self._deciding().islands.tolist())),
            position_bias=bias,
            order_agreement_0_to_1=agreement,
        )


class _Bridges(_Contest):
    """Matches between groups, over those within."""

    def __init__(
        self,
        joined: Joined,
        ideas: Sequence[Dossier],
        parameters: RankingParameters,
        judge: _Judge,
    ) -> None:
        super().__init__(joined.name, tuple(ideas), parameters, judge, stored=(), beforehand=False)
        self._kind = BRIDGES
        self._within = tuple(match for match in joined.within if not is_vote(match))
        self._group_of = {dossier.idea_id: dossier.group or UNGROUPED for dossier in ideas}

    def _telling_turn(self, number: int, asked: set[Pair]) -> Round:
        return next_bridges(
            number,
            self._deciding(),
            self._group_of,
            frozenset(asked),
            self._parameters,
            self._judge.seed,
        )

    def _deciding(self) -> Tally:
        found = (*self._within, *self._judged)
        return tally(
            tuple(self._of),
            (match for match in found if match.dimension == OVERALL.name),
            self._prior,
            self._group_of,
        )

    def ratings(self, with_votes: bool) -> tuple[Rating, ...]:
        del with_votes  # people vote within a group, and Elo moves those alone who meet
        matches = (*self._within, *self._judged)
        return tuple(
            rating
            for dimension in self._judge.dimensions
            for rating in rate_across(
                self._group_of,
                matches,
                dimension.name,
                self._prior if dimension.name == OVERALL.name else None,
            )
        )
