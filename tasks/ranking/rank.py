"""Ranking of groups: comparisons by schedule, delivery of matches, and ratings."""

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
from tasks.ranking.dimensions import OVERALL, with_overall
from tasks.ranking.dossier import Dossier
from tasks.ranking.matching import ask, is_final, match_id
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


def compare_orders(matches: Iterable[Match]) -> tuple[float | None, float | None]:
    """Return (position bias, agreement); None without a pair scored in both orders.

    The bias is +1 if the first position certainly wins all matches of such pairs, -1 if the second
    does. Agreement is the share of such pairs with the same winner, or a tie, in both orders.
    Human votes, and the earlier of two matches in one order, are excluded.
    """
    verdicts: dict[tuple[IdeaId, IdeaId, str], float] = {}
    for match in sorted(matches, key=lambda match: (match.created_at, match.match_id)):
        share = match.first_share_0_to_1
        if share is not None and not is_vote(match):
            verdicts[match.first_idea_id, match.second_idea_id, match.dimension] = share
    biases: list[float] = []
    agreement_count = 0
    for (first, second, dimension), forward in verdicts.items():
        backward = verdicts.get((second, first, dimension))
        if backward is None or first > second:
            continue
        biases.append(forward + backward - 1.0)
        agreement_count += (forward > 0.5) == (backward < 0.5) and (forward < 0.5) == (
            backward > 0.5
        )
    if not biases:
        return None, None
    return round(sum(biases) / len(biases), 9), agreement_count / len(biases)


UNGROUPED = "all"
"""Name of the group of ideas without a given group."""

_OF_ONE, _EVERY_PAIR = "a group of one has no pairs", "every pair was asked"

Deliver = Callable[[tuple[Match, ...]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class JoinedGroups:
    """All groups together: `name` of their matches, and the matches `within` the groups."""

    name: str
    within: Sequence[Match] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RankingOutcome:
    """Groups by name, with matches and ratings.

    Matches are sorted by group, round and pair, ratings by group, dimension, method and idea.
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
    joined: JoinedGroups | None = None,
    beforehand: bool = False,
    with_votes: bool = False,
) -> RankingOutcome:
    """Rank every group of `dossiers` concurrently, or join the groups on one scale.

    Args:
        dimensions: compared along in addition to `overall`, which decides the schedule.
        stored: matches of an earlier, maybe interrupted run, and human votes (judge
            `human:<name>`). A stored match of the same dossiers, order, dimension, engine, prompt
            and seed is reused, unless its score is missing for a transient reason (`may_pass`).
        concurrency: limit of concurrent calls over all groups; ignored with `beforehand`.
        deliver: awaited with the matches of every call on arrival, so that a kill loses only calls
            in flight. A repeated match has its old `match_id`: the newest counts.
        engine_of: engine for pairs in which this idea is first, to book calls per idea; its name
            must be that of `engine`.
        joined: groups that are ranked already. Their ideas meet across groups, and ratings are by
            Bradley–Terry with the idea's own group.
        beforehand: choose all pairs before the first reply, also in large groups, and send them
            concurrently. Each idea then plays `matches_per_idea` pairs.
        with_votes: also rate by Elo, which counts human votes.

    Raises:
        ConfigurationError: a stored match is by another engine, two dossiers have one idea, or two
            dimensions share a name.
    """
    _check(dossiers, stored, engine)
    places = nullcontext() if beforehand else asyncio.Semaphore(concurrency)
    all_dimensions = with_overall(dimensions)
    judge = _Judge(
        all_dimensions,
        engine,
        engine_of,
        seed,
        parameters.show_scores,
        deliver,
        places,
        _newest(stored),
    )
    members: dict[str, list[Dossier]] = {joined.name: list(dossiers)} if joined else {}
    for dossier in sorted(dossiers, key=lambda each: each.idea_id) if joined is None else ():
        members.setdefault(dossier.group or UNGROUPED, []).append(dossier)
    contests = [
        _Contest(
            name, tuple(ideas), parameters, judge, stored, beforehand=beforehand, joined=joined
        )
        for name, ideas in sorted(members.items())
    ]
    await side_by_side(contest.play() for contest in contests)
    return RankingOutcome(
        groups=tuple(contest.summary() for contest in contests),
        matches=tuple(match for contest in contests for match in contest.matches),
        ratings=tuple(rating for contest in contests for rating in contest.ratings(with_votes)),
    )


def _check(dossiers: Sequence[Dossier], matches: Iterable[Match], engine: Engine) -> None:
    ids = [dossier.idea_id for dossier in dossiers]
    if len(set(ids)) < len(ids):
        repeated_id = min(idea_id for idea_id in ids if ids.count(idea_id) > 1)
        raise ConfigurationError(f"two dossiers are of idea {repeated_id!r}: rank each idea once")
    other_judges = sorted({match.judge for match in matches if not is_vote(match)} - {engine.name})
    if other_judges:
        raise ConfigurationError(
            f"stored matches were judged by {', '.join(other_judges)}, not by {engine.name}: rank each"
            " engine's matches apart"
        )


def _newest(matches: Iterable[Match]) -> dict[str, Match]:
    return {match.match_id: match for match in sorted(matches, key=lambda match: match.created_at)}


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judge of pairs that reuses stored matches."""

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
        """Return a match per dimension, in order."""
        match_of_dimension: dict[str, Match] = {}
        for dimension in self.dimensions:
            name, scores = self.engine.name, self.show_scores
            key = match_id(first, second, dimension, name, self.seed, show_scores=scores)
            match = self.stored.get(key)
            if match is not None and match.group == group and is_final(match):
                match_of_dimension[dimension.name] = match
        missing = [
            dimension for dimension in self.dimensions if dimension.name not in match_of_dimension
        ]
        if missing:
            engine = self.engine_of(first.idea_id) if self.engine_of else self.engine
            async with self.places:
                matches = await ask(
                    *(first, second, missing, engine),
                    group=group,
                    round_number=number,
                    seed=self.seed,
                    show_scores=self.show_scores,
                )
                if self.deliver is not None:
                    await self.deliver(matches)
            match_of_dimension |= {match.dimension: match for match in matches}
        return tuple(match_of_dimension[dimension.name] for dimension in self.dimensions)


class _Contest:
    """Matches of one group, or between groups, from the first round to the ratings."""

    def __init__(
        self,
        name: str,
        ideas: tuple[Dossier, ...],
        parameters: RankingParameters,
        judge: _Judge,
        stored: Sequence[Match],
        *,
        beforehand: bool,
        joined: JoinedGroups | None,
    ) -> None:
        self._name, self._parameters, self._judge = name, parameters, judge
        self._of = {dossier.idea_id: dossier for dossier in ideas}
        self._prior = {
            dossier.idea_id: dossier.prior_log_odds
            for dossier in ideas
            if dossier.prior_log_odds is not None
        }
        self._kind = kind_of(len(ideas), parameters, beforehand=beforehand)
        self._beforehand = beforehand and joined is None
        self._ended_because = ""
        self._matches: list[Match] = []
        self._within: tuple[Match, ...] = ()
        self._group_of: dict[IdeaId, str] | None = None
        self._votes: list[Match] = []
        if joined is not None:
            self._kind = BRIDGES
            self._within = tuple(match for match in joined.within if not is_vote(match))
            self._group_of = {each.idea_id: each.group or UNGROUPED for each in ideas}
            return
        # Human votes are always within a group.
        names = {dimension.name for dimension in judge.dimensions}
        self._votes = [
            match
            for match in _newest(stored).values()
            if is_vote(match)
            and match.dimension in names
            and match.first_idea_id in self._of
            and match.second_idea_id in self._of
        ]

    @property
    def matches(self) -> tuple[Match, ...]:
        by_round = sorted(
            self._matches,
            key=lambda match: (
                match.round,
                match.first_idea_id,
                match.second_idea_id,
                match.dimension,
            ),
        )
        votes = sorted(self._votes, key=lambda match: (match.created_at, match.match_id))
        return (*by_round, *votes)

    async def play(self) -> None:
        """Play rounds until the schedule ends or the engine gives no scores.

        Rounds that do not depend on results are played at once.
        """
        rounds = None
        if self._kind in (ROUND_ROBIN, FIXED):  # no pair depends on results
            round_limit = self._parameters.matches_per_idea if self._kind == FIXED else None
            rounds = round_robin(tuple(self._of), self._judge.seed, round_limit)
        if self._beforehand:
            await self._play_at_once(rounds or ())
            return
        pairs_so_far: set[Pair] = set()
        number = 0
        while not self._ended_because:
            number += 1
            if rounds is None:
                turn = self._informative_round(number, frozenset(pairs_so_far))
            elif rounds:
                end_reason = _EVERY_PAIR if number == len(rounds) else ""
                turn = Round(rounds[number - 1], end_reason)
            else:
                turn = Round((), _OF_ONE)
            self._ended_because = turn.ended_because
            matches = await self._ask_pairs(turn.pairs, number)
            pairs_so_far |= {(min(pair), max(pair)) for pair in turn.pairs}
            self._matches.extend(matches)
            if matches and all(may_pass(match.unscored_reason) for match in matches):
                self._ended_because = (
                    f"stopped after round {number}, which brought no score:"
                    f" {matches[0].unscored_detail}"
                )

    async def _play_at_once(self, rounds: tuple[tuple[Pair, ...], ...]) -> None:
        matches_of_rounds = await side_by_side(
            self._ask_pairs(pairs, number) for number, pairs in enumerate(rounds, 1)
        )
        self._matches = [match for matches in matches_of_rounds for match in matches]
        if not rounds:
            self._ended_because = _OF_ONE
        elif self._kind == FIXED:
            pairs = self._parameters.matches_per_idea
            self._ended_because = f"every idea has played {pairs} pairs, chosen beforehand"
        else:
            self._ended_because = _EVERY_PAIR

    def _informative_round(self, number: int, pairs_so_far: frozenset[Pair]) -> Round:
        results, seed = self._overall_tally(), self._judge.seed
        if self._group_of is None:
            return next_round(number, results, pairs_so_far, self._parameters, seed)
        return next_bridges(number, results, self._group_of, pairs_so_far, self._parameters, seed)

    def _overall_tally(self) -> Tally:
        """Return the tally that decides the schedule."""
        matches = (*self._within, *self._matches)
        overall = (match for match in matches if match.dimension == OVERALL.name)
        return tally(tuple(self._of), overall, self._prior, self._group_of)

    async def _ask_pairs(self, pairs: tuple[Pair, ...], number: int) -> list[Match]:
        both = self._parameters.both_orders
        orders = (order for pair in pairs for order in ((pair, pair[::-1]) if both else (pair,)))
        matches_of_pairs = await side_by_side(
            self._judge.verdicts(self._of[first], self._of[second], self._name, number)
            for first, second in orders
        )
        return [match for matches in matches_of_pairs for match in matches]

    def ratings(self, with_votes: bool) -> tuple[Rating, ...]:
        ids, matches, seed = tuple(self._of), self.matches, self._judge.seed
        ratings: list[Rating] = []
        for dimension in self._judge.dimensions:
            name, prior = dimension.name, self._prior if dimension.name == OVERALL.name else None
            ratings += (
                rate(self._name, ids, matches, name, seed, prior, with_votes=with_votes)
                if self._group_of is None
                # Without Elo, which only moves ideas that meet.
                else rate_across(self._group_of, (*self._within, *matches), name, prior)
            )
        return tuple(ratings)

    def summary(self) -> GroupSummary:
        bias, agreement = compare_orders(self._matches)
        return GroupSummary(
            group=self._name,
            idea_count=len(self._of),
            match_count=len(self._matches),
            unscored_match_count=sum(match.winner is None for match in self._matches),
            schedule=self._kind,
            ended_because=self._ended_because,
            island_count=len(set(self._overall_tally().islands.tolist())),
            position_bias=bias,
            order_agreement_0_to_1=agreement,
        )
