"""What blind votes say: matches of them, strengths of a contest, and which pairs to ask next."""

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
_TELLING_ROUND = 3
"""Of a schedule: the first that chooses pairs by what they would tell, and ends for no reason."""


def matches_of(votes: Iterable[HumanVote], *, across_runs: bool = True) -> tuple[Match, ...]:
    """Votes as matches judged by `human:<voter>`, in order of time; attention checks are left out.

    Args:
        across_runs: whether what one run and another wrote about one thing are two; else ideas
            bear their own ids.
    """
    counted = (vote for vote in votes if vote.check_passed is None)
    return tuple(
        _match(vote, across_runs) for vote in sorted(counted, key=lambda v: (v.voted_at, v.vote_id))
    )


def _match(vote: HumanVote, across_runs: bool) -> Match:
    sides = (
        Contender(run_id=vote.run_id, item_id=vote.first_id),
        Contender(run_id=vote.second_run_id, item_id=vote.second_id),
    )
    first, second = (IdeaId(side.name) if across_runs else side.item_id for side in sides)
    return Match(
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


def votes_of(contest: Contest, votes: Iterable[HumanVote]) -> list[HumanVote]:
    """Those between two contenders of the contest."""
    names = {contender.name for contender in contest.contenders}
    return [
        vote
        for vote in votes
        if (vote.track, vote.group) == (contest.track, contest.group)
        and f"{vote.run_id}/{vote.first_id}" in names
        and f"{vote.second_run_id}/{vote.second_id}" in names
    ]


def standing_by(contest: Contest, votes: Sequence[HumanVote]) -> Standing:
    """Return how a contest stands by `votes`, those of other contests left out."""
    matches = matches_of(votes_of(contest, votes))
    names = tuple(IdeaId(contender.name) for contender in contest.contenders)
    return Standing(
        vote_count=len(matches),
        strengths=strengths_by(contest.group, names, matches),
        next_pairs=telling_pairs(names, matches),
    )


def strengths_by(
    group: str, names: Sequence[IdeaId], votes: Sequence[Match]
) -> tuple[VotedStrength, ...]:
    """By both methods, the strongest first; who took part in no vote is left out."""
    rated = rate_votes(group, names, votes, OVERALL.name, 0)
    elo = {one.idea_id: one for one in rated if one.method is RatingMethod.ELO}
    found = (
        _strength(rating, elo[rating.idea_id])
        for rating in rated
        if rating.method is RatingMethod.BRADLEY_TERRY and rating.rank is not None
    )
    return tuple(sorted(found, key=lambda one: (one.rank, -one.strength, one.name)))


def telling_pairs(
    idea_ids: Sequence[IdeaId], votes: Sequence[Match], seed: int = 0
) -> tuple[Pair, ...]:
    """Pairs of which a vote tells most: such as nobody has voted on, while there are any."""
    counted, parameters = tally(idea_ids, votes), RankingParameters()
    asked = frozenset(
        (min(pair), max(pair))
        for pair in ((vote.first_idea_id, vote.second_idea_id) for vote in votes)
    )
    found = next_round(_TELLING_ROUND, counted, asked, parameters, seed).pairs
    return found or next_round(_TELLING_ROUND, counted, frozenset(), parameters, seed).pairs


def _strength(rating: Rating, elo: Rating) -> VotedStrength:
    assert rating.strength is not None  # whoever has a rank has them all
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
    """Votes about ideas that are being ranked, as matches of their groups; others are left out."""
    about = (
        vote
        for vote in votes
        if vote.track is Track.IDEAS
        and vote.first_id in group_of
        and group_of[vote.first_id] == group_of.get(vote.second_id)
    )
    return tuple(
        match.model_copy(update={"group": group_of[match.first_idea_id]})
        for match in matches_of(about, across_runs=False)
    )
