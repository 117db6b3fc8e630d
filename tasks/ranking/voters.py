"""Voters: how well their votes can be foretold, who votes without reading,
and how far they agree.
"""

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
CARELESS_BEFOREHAND = 0.1
"""Share of voters taken to be careless before any of their votes is looked at."""
_FAILS_CAREFUL, _FAILS_CARELESS = 0.05, 0.5
"""Share of attention checks that either kind of voter fails."""

Vector = NDArray[np.float64]
Pair = tuple[IdeaId, IdeaId]


def chances(counted: Tally, pairs: Sequence[Pair]) -> Vector:
    """Probability that the first of each pair wins the next vote, shape (pairs,).

    By Bradley–Terry, drawn toward one half by how unsure the strengths are (MacKay, The evidence
    framework applied to classification networks, Neural Computation 1992); one half where either
    is unknown.
    """
    place = {idea_id: number for number, idea_id in enumerate(counted.idea_ids)}
    found = np.full(len(pairs), 0.5)
    if not place:
        return found
    fitted = fit(counted)
    spread = covariance(counted, fitted)
    for number, (first, second) in enumerate(pairs):
        if first in place and second in place:
            one, other = place[first], place[second]
            variance = spread[one, one] + spread[other, other] - 2 * spread[one, other]
            gap = fitted.strengths[one] - fitted.strengths[other]
            found[number] = expit(gap / math.sqrt(1 + math.pi * variance / 8))
    return found


def voter_of(vote: Match) -> str:
    return vote.judge.partition(":")[2]


def by_group(votes: Iterable[Match]) -> dict[str, list[Match]]:
    found: dict[str, list[Match]] = defaultdict(list)
    for vote in votes:
        found[vote.group].append(vote)
    return dict(found)


def tally_of(votes: Iterable[Match]) -> Tally:
    """Votes of one group, with whoever they are about."""
    listed = list(votes)
    ids = {idea for vote in listed for idea in (vote.first_idea_id, vote.second_idea_id)}
    return tally(tuple(ids), listed)


def care_of_voters(
    votes: Sequence[Match], checks: Mapping[str, tuple[int, int]] | None = None
) -> tuple[Care, ...]:
    """One for each voter, by name.

    A voter's votes are held against strengths from the votes of others alone: a tenth of the voters
    at a time is left out.

    Args:
        votes: of any number of groups.
        checks: attention checks (failed, passed) by voter.
    """
    known = checks or {}
    foretold: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for group in by_group(votes).values():
        for fold in range(FOLDS):
            own = [vote for vote in group if _fold(voter_of(vote)) == fold]
            others = [vote for vote in group if _fold(voter_of(vote)) != fold]
            pairs = [(vote.first_idea_id, vote.second_idea_id) for vote in own]
            for vote, chance in zip(own, chances(tally_of(others), pairs), strict=True):
                share = vote.first_share_0_to_1
                if share is not None:
                    foretold[voter_of(vote)].append((share, float(chance)))
    voters = sorted(foretold.keys() | known.keys())
    return tuple(_care(one, foretold.get(one, []), *known.get(one, (0, 0))) for one in voters)


def _fold(voter: str) -> int:
    return int(content_hash("fold", voter, length=8), 16) % FOLDS


def _care(voter: str, told: Sequence[tuple[float, float]], failed: int, passed: int) -> Care:
    shares, expected = np.array(told, dtype=np.float64).reshape(-1, 2).T
    count, firsts = len(shares), float(shares.sum())
    careful = float((shares * np.log(expected) + (1 - shares) * np.log1p(-expected)).sum())
    careful += failed * math.log(_FAILS_CAREFUL) + passed * math.log1p(-_FAILS_CAREFUL)
    coin = -count * math.log(2)
    habit = float(betaln(firsts + 1, count - firsts + 1))
    careless = float(logsumexp([coin, habit])) - math.log(2)
    careless += failed * math.log(_FAILS_CARELESS) + passed * math.log1p(-_FAILS_CARELESS)
    beforehand = math.log(CARELESS_BEFOREHAND / (1 - CARELESS_BEFOREHAND))
    return Care(
        voter=voter,
        vote_count=count,
        first_share_0_to_1=firsts / count if count else 0.5,
        checks_failed=failed,
        checks_passed=passed,
        careless_0_to_1=float(expit(beforehand + careless - careful)),
    )


def agreement(votes: Iterable[Match]) -> Estimate:
    """Krippendorff's alpha over pairs that several people voted on: one, the other, or a tie."""
    rows: dict[tuple[str, Pair], list[str | None]] = defaultdict(list)
    for vote in votes:
        pair, label = _labelled(vote)
        rows[vote.group, pair].append(label)
    return krippendorff_alpha(list(rows.values()), "nominal")


def kappa_with_engine(votes: Iterable[Match], matches: Iterable[Match]) -> Estimate:
    """Cohen's kappa of each vote with the engine's verdict on the same pair: the mean of both
    orders, a tie where they contradict each other. Its interval draws whole voters.
    """
    shares: dict[Pair, list[float]] = defaultdict(list)
    for match in matches:
        share = match.first_share_0_to_1
        if share is not None:
            pair = _pair(match)
            shares[pair].append(share if match.first_idea_id == pair[0] else 1 - share)
    verdicts = {pair: _word(sum(one) / len(one)) for pair, one in shares.items()}
    listed = list(votes)
    labelled = [_labelled(vote) for vote in listed]
    return cohen_kappa(
        [label for _, label in labelled],
        [verdicts.get(pair) for pair, _ in labelled],
        clusters=[voter_of(vote) for vote in listed],
    )


def _labelled(vote: Match) -> tuple[Pair, str | None]:
    if vote.winner is None:
        return _pair(vote), None
    if vote.winner is Winner.TIE:
        return _pair(vote), "tie"
    return _pair(vote), "first" if vote.winner_idea_id == _pair(vote)[0] else "second"


@lru_cache(maxsize=65_536)
def _turned(one: IdeaId, other: IdeaId) -> Pair:
    """Both in an order that has nothing to do with either: were it that of the ids, which may be
    that of quality, one label would stand for most verdicts, and agreement seem due to chance.
    """
    turn = int(content_hash("order", one, other, length=8), 16) % 2
    return (other, one) if turn else (one, other)


def _pair(match: Match) -> Pair:
    one, other = sorted((match.first_idea_id, match.second_idea_id))
    return _turned(one, other)


def _word(share: float) -> str:
    return "tie" if share == 0.5 else "first" if share > 0.5 else "second"
