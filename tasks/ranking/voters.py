"""Statistics of voters: predictability, careless voting and agreement."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, expit, logsumexp

from schemas.identifiers import IdeaId, content_hash
from schemas.judgement.ranking import Match, Winner
from schemas.people.vote_report import Care
from tasks.metrics.agreement import cohen_kappa, krippendorff_alpha
from tasks.metrics.estimate import Estimate
from tasks.ranking.strengths import covariance, fit
from tasks.ranking.tally import Tally, tally

FOLDS = 10
CARELESS_PRIOR = 0.1
"""Prior share of careless voters."""
_FAILS_CAREFUL, _FAILS_CARELESS = 0.05, 0.5
"""Share of attention checks that careful and careless voters fail."""

Vector = NDArray[np.float64]
Pair = tuple[IdeaId, IdeaId]


def chances(results: Tally, pairs: Sequence[Pair]) -> Vector:
    """Return the probability that the first contender wins, shape (pairs,).

    Bradley–Terry, moderated toward one half by the uncertainty of the strengths (MacKay, The
    evidence framework applied to classification networks, Neural Computation 1992); one half for
    unknown contenders.
    """
    place = {idea_id: number for number, idea_id in enumerate(results.idea_ids)}
    probabilities = np.full(len(pairs), 0.5)
    if not place:
        return probabilities
    posterior = fit(results)
    spread = covariance(results, posterior)
    for number, (first, second) in enumerate(pairs):
        if first in place and second in place:
            one, other = place[first], place[second]
            variance = spread[one, one] + spread[other, other] - 2 * spread[one, other]
            gap = posterior.strengths[one] - posterior.strengths[other]
            probabilities[number] = expit(gap / math.sqrt(1 + math.pi * variance / 8))
    return probabilities


def voter_of(vote: Match) -> str:
    return vote.judge.partition(":")[2]


def by_group(votes: Iterable[Match]) -> dict[str, list[Match]]:
    votes_of_group: dict[str, list[Match]] = defaultdict(list)
    for vote in votes:
        votes_of_group[vote.group].append(vote)
    return dict(votes_of_group)


def tally_of(votes: Iterable[Match]) -> Tally:
    """Tally votes of one group, with all ideas they are about."""
    vote_list = list(votes)
    ids = {idea for vote in vote_list for idea in (vote.first_idea_id, vote.second_idea_id)}
    return tally(tuple(ids), vote_list)


def care_of_voters(
    votes: Sequence[Match], checks: Mapping[str, tuple[int, int]] | None = None
) -> tuple[Care, ...]:
    """Return the care of each voter, by name.

    A voter's votes are compared with strengths from others' votes: a tenth of the voters is left out
    at a time.

    Args:
        votes: votes of any number of groups.
        checks: attention checks (failed, passed) by voter.
    """
    checks_of_voter = checks or {}
    predictions: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for group in by_group(votes).values():
        for fold in range(FOLDS):
            votes_in_fold = [vote for vote in group if _fold(voter_of(vote)) == fold]
            other_votes = [vote for vote in group if _fold(voter_of(vote)) != fold]
            pairs = [(vote.first_idea_id, vote.second_idea_id) for vote in votes_in_fold]
            for vote, chance in zip(
                votes_in_fold, chances(tally_of(other_votes), pairs), strict=True
            ):
                share = vote.first_share_0_to_1
                if share is not None:
                    predictions[voter_of(vote)].append((share, float(chance)))
    voters = sorted(predictions.keys() | checks_of_voter.keys())
    return tuple(
        _care(one, predictions.get(one, []), *checks_of_voter.get(one, (0, 0))) for one in voters
    )


def _fold(voter: str) -> int:
    return int(content_hash("fold", voter, length=8), 16) % FOLDS


def _care(
    voter: str, predictions: Sequence[tuple[float, float]], failed_count: int, passed_count: int
) -> Care:
    shares, expected_shares = np.array(predictions, dtype=np.float64).reshape(-1, 2).T
    count, firsts = len(shares), float(shares.sum())
    careful = float(
        (shares * np.log(expected_shares) + (1 - shares) * np.log1p(-expected_shares)).sum()
    )
    careful += failed_count * math.log(_FAILS_CAREFUL) + passed_count * math.log1p(-_FAILS_CAREFUL)
    coin = -count * math.log(2)
    habit = float(betaln(firsts + 1, count - firsts + 1))
    careless = float(logsumexp([coin, habit])) - math.log(2)
    careless += failed_count * math.log(_FAILS_CARELESS) + passed_count * math.log1p(
        -_FAILS_CARELESS
    )
    prior = math.log(CARELESS_PRIOR / (1 - CARELESS_PRIOR))
    return Care(
        voter=voter,
        vote_count=count,
        first_share_0_to_1=firsts / count if count else 0.5,
        checks_failed=failed_count,
        checks_passed=passed_count,
        careless_0_to_1=float(expit(prior + careless - careful)),
    )


def agreement(votes: Iterable[Match]) -> Estimate:
    """Compute Krippendorff's alpha over pairs with several voters: first, second or tie."""
    rows: dict[tuple[str, Pair], list[str | None]] = defaultdict(list)
    for vote in votes:
        pair, label = _label(vote)
        rows[vote.group, pair].append(label)
    return krippendorff_alpha(list(rows.values()), "nominal")


def kappa_with_engine(votes: Iterable[Match], matches: Iterable[Match]) -> Estimate:
    """Compute Cohen's kappa of each vote with the engine's verdict on the same pair.

    The verdict is the mean of both orders, a tie if they contradict. The interval resamples voters.
    """
    shares: dict[Pair, list[float]] = defaultdict(list)
    for match in matches:
        share = match.first_share_0_to_1
        if share is not None:
            pair = _pair(match)
            shares[pair].append(share if match.first_idea_id == pair[0] else 1 - share)
    verdicts = {pair: _word(sum(one) / len(one)) for pair, one in shares.items()}
    vote_list = list(votes)
    labels = [_label(vote) for vote in vote_list]
    return cohen_kappa(
        [label for _, label in labels],
        [verdicts.get(pair) for pair, _ in labels],
        clusters=[voter_of(vote) for vote in vote_list],
    )


def _label(vote: Match) -> tuple[Pair, str | None]:
    if vote.winner is None:
        return _pair(vote), None
    if vote.winner is Winner.TIE:
        return _pair(vote), "tie"
    return _pair(vote), "first" if vote.winner_idea_id == _pair(vote)[0] else "second"


@lru_cache(maxsize=65_536)
def _arbitrary_order(one: IdeaId, other: IdeaId) -> Pair:
    """Order a pair independently of the ids.

    Ids may correlate with quality; then one label would dominate, and agreement would look like
    chance.
    """
    turn = int(content_hash("order", one, other, length=8), 16) % 2
    return (other, one) if turn else (one, other)


def _pair(match: Match) -> Pair:
    one, other = sorted((match.first_idea_id, match.second_idea_id))
    return _arbitrary_order(one, other)


def _word(share: float) -> str:
    return "tie" if share == 0.5 else "first" if share > 0.5 else "second"
