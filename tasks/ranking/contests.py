"""Contests decided by blind votes: matches, strengths and the next pairs."""

from collections.abc import Iterable, Mapping, Sequence

from schemas.identifiers import IdeaId
from schemas.judgement.ranking import Match, Rating, RatingMethod, Winner
from schemas.people.votes import (
    Choice,
    Contender,
    Contest,
    HumanVote,
    Standing,
    Track,
    VotedStrength,
)
from schemas.profile import RankingParameters
from tasks.ranking.dimensions import OVERALL
from tasks.ranking.rating import rate_votes
from tasks.ranking.schedule import Pair, next_round
from tasks.ranking.tally import HUMAN, tally

_WINNERS = {Choice.FIRST: Winner.FIRST, Choice.SECOND: Winner.SECOND}
_ADAPTIVE_ROUND = 3
"""First adaptive round of a schedule; it never ends early."""


def matches_of(votes: Iterable[HumanVote], *, across_runs: bool = True) -> tuple[Match, ...]:
    """Convert votes to matches judged by `human:<voter>`, in order of time.

    Attention checks are excluded.

    Args:
        across_runs: if True, texts of two runs about one idea are two contenders; else ideas keep
            their own ids.
    """
    real_votes = [vote for vote in votes if vote.check_passed is None]
    matches = []
    for vote in sorted(real_votes, key=lambda each: (each.voted_at, each.vote_id)):
        sides = (
            Contender(run_id=vote.run_id, item_id=vote.first_id),
            Contender(run_id=vote.second_run_id, item_id=vote.second_id),
        )
        first, second = (IdeaId(side.name) if across_runs else side.item_id for side in sides)
        matches.append(
            Match(
                match_id=vote.vote_id,
                group=vote.group,
                first_idea_id=first,
                second_idea_id=second,
                dimension=OVERALL.name,
                winner=_WINNERS.get(vote.choice, Winner.TIE),
                rationale=vote.reason or "",
                round=1,
                judge=f"{HUMAN}{vote.voter}",
                words_difference=vote.first_words - vote.second_words,
                created_at=vote.voted_at,
            )
        )
    return tuple(matches)


def votes_of(contest: Contest, votes: Iterable[HumanVote]) -> list[HumanVote]:
    """Return the votes between two contenders of the contest."""
    names = {contender.name for contender in contest.contenders}
    return [
        vote
        for vote in votes
        if (vote.track, vote.group) == (contest.track, contest.group)
        and f"{vote.run_id}/{vote.first_id}" in names
        and f"{vote.second_run_id}/{vote.second_id}" in names
    ]


def standing_of(contest: Contest, votes: Sequence[HumanVote]) -> Standing:
    """Return the standing of a contest by its own votes."""
    matches = matches_of(votes_of(contest, votes))
    names = tuple(IdeaId(contender.name) for contender in contest.contenders)
    return Standing(
        vote_count=len(matches),
        strengths=strengths_by(contest.group, names, matches),
        next_pairs=informative_pairs(names, matches),
    )


def strengths_by(
    group: str, names: Sequence[IdeaId], votes: Sequence[Match]
) -> tuple[VotedStrength, ...]:
    """Return strengths by both methods, strongest first, without contenders without votes."""
    ratings = rate_votes(group, names, votes, OVERALL.name, 0)
    elo = {one.idea_id: one for one in ratings if one.method is RatingMethod.ELO}
    strengths = (
        _strength(rating, elo[rating.idea_id])
        for rating in ratings
        if rating.method is RatingMethod.BRADLEY_TERRY and rating.rank is not None
    )
    return tuple(sorted(strengths, key=lambda one: (one.rank, -one.strength, one.name)))


def informative_pairs(
    idea_ids: Sequence[IdeaId], votes: Sequence[Match], seed: int = 0
) -> tuple[Pair, ...]:
    """Return pairs whose vote is most informative, pairs without votes first."""
    results, parameters = tally(idea_ids, votes), RankingParameters()
    pairs_with_votes = frozenset(
        (min(pair), max(pair))
        for pair in ((vote.first_idea_id, vote.second_idea_id) for vote in votes)
    )
    pairs = next_round(_ADAPTIVE_ROUND, results, pairs_with_votes, parameters, seed).pairs
    return pairs or next_round(_ADAPTIVE_ROUND, results, frozenset(), parameters, seed).pairs


def _strength(rating: Rating, elo: Rating) -> VotedStrength:
    assert rating.strength is not None  # a rating with a rank has all of them
    assert rating.lower is not None
    assert rating.upper is not None
    assert rating.rank is not None
    assert elo.strength is not None
    return VotedStrength(
        group=rating.group,
        name=rating.idea_id,
        rank=rating.rank,
        strength=rating.strength,
        lower=rating.lower,
        upper=rating.upper,
        elo=elo.strength,
        vote_count=round(rating.wins + rating.losses + rating.ties),
    )


def votes_on_ideas(votes: Iterable[HumanVote], group_of: Mapping[IdeaId, str]) -> tuple[Match, ...]:
    """Convert votes about ranked ideas to matches of their groups.

    Other votes are excluded.
    """
    idea_votes = (
        vote
        for vote in votes
        if vote.track is Track.IDEAS
        and vote.first_id in group_of
        and group_of[vote.first_id] == group_of.get(vote.second_id)
    )
    return tuple(
        match.model_copy(update={"group": group_of[match.first_idea_id]})
        for match in matches_of(idea_votes, across_runs=False)
    )
