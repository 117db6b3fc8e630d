"""Suite `votes`: predicted votes, careless voters, and votes needed for rankings.

Data: 20,806 blind votes of 835 people on 645 ideas (wiki surveys of `formidable-family`). Makes no
model calls.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace as replace_fields
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.identifiers import IdeaId
from schemas.judgement.benchmark import ASSAY
from schemas.judgement.ranking import Match, Winner
from schemas.profile import RankingParameters
from tasks.benchmarks.records import Row, Text, rows_of
from tasks.benchmarks.suite import Suite, Trial
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.means import calibration_error, mean, paired_difference, share_of
from tasks.ranking.contests import informative_pairs
from tasks.ranking.dimensions import OVERALL
from tasks.ranking.schedule import Pair, leaders
from tasks.ranking.strengths import fit
from tasks.ranking.tally import HUMAN, tally
from tasks.ranking.voters import (
    agreement,
    by_group,
    care_of_voters,
    chances,
    tally_of,
    voter_of,
)

FILE = "wiki_survey_votes/votes.jsonl.gz"
COIN, SHARES, WITHOUT_CARELESS = "coin", "share_of_wins", "assay_without_careless"
HELD_OUT_FOLDS = 5
BINS = 10
"""Bins of calibration, by the probability of the likelier side."""
PLANTED_SHARE = 0.1
REPLICATES, MOST_ROUNDS = 20, 60
FOUND_SHARE = 0.8
"""Share of the true leaders that a ranking must name."""

_FIRST_VOTE_AT = datetime(2020, 1, 1, tzinfo=UTC)

Vector = NDArray[np.float64]


class WikiVote(Row):
    """One vote; `winner` is the idea on the left or the right."""

    id: Text
    topic: Text
    survey_id: Text
    voter: Text
    left: Text
    right: Text
    winner: Literal["left", "right"]


def read_wiki_votes(path: Path) -> list[Match]:
    """Return votes in file order, one group per survey, one second apart.

    Raises:
        ConfigurationError: the file is invalid.
    """
    return [
        Match(
            match_id=vote.id,
            group=f"{vote.topic} {vote.survey_id}",
            first_idea_id=IdeaId(vote.left),
            second_idea_id=IdeaId(vote.right),
            dimension=OVERALL.name,
            winner=Winner.FIRST if vote.winner == "left" else Winner.SECOND,
            round=1,
            judge=f"{HUMAN}{vote.voter}",
            created_at=_FIRST_VOTE_AT + timedelta(seconds=number),
        )
        for number, vote in enumerate(rows_of(path, WikiVote))
    ]


def run(trial: Trial) -> None:
    """Score held-out predictions, detection of careless voters, and votes needed."""
    votes = list(trial.draw(read_wiki_votes(trial.file(FILE))))
    chances_by_system = _predict_held_out(votes, trial.seed)
    for vote, chance in zip(votes, chances_by_system[ASSAY], strict=True):
        winner = str(Winner.FIRST if chance >= 0.5 else Winner.SECOND)
        gold = str(vote.winner)
        trial.record("held_out_vote", vote.match_id, winner, gold=gold, value=float(chance))
    for system, chances_of_first in chances_by_system.items():
        _score(trial, votes, chances_of_first, system)
    _score_planted(trial, votes)
    _score_votes_needed(trial, votes)
    trial.score("krippendorff_alpha", agreement(votes), "voters")


def _predict_held_out(votes: Sequence[Match], seed: int) -> dict[str, Vector]:
    """Return the predicted probability that the first wins, by system.

    Predictions come from the votes of other folds.
    """
    folds = np.random.default_rng(seed).integers(0, HELD_OUT_FOLDS, len(votes))
    systems = (ASSAY, WITHOUT_CARELESS, SHARES, COIN)
    chances_by_system = {name: np.full(len(votes), 0.5) for name in systems}
    for fold in range(HELD_OUT_FOLDS):
        training_votes = [
            vote for vote, vote_fold in zip(votes, folds, strict=True) if vote_fold != fold
        ]
        careless = {care.voter for care in care_of_voters(training_votes) if care.careless}
        groups = by_group(training_votes)
        for name in {vote.group for vote in votes}:
            places = [n for n, vote in enumerate(votes) if folds[n] == fold and vote.group == name]
            pairs = [(votes[n].first_idea_id, votes[n].second_idea_id) for n in places]
            group_votes = groups.get(name, [])
            careful = [vote for vote in group_votes if voter_of(vote) not in careless]
            chances_by_system[ASSAY][places] = chances(tally_of(group_votes), pairs)
            chances_by_system[WITHOUT_CARELESS][places] = chances(tally_of(careful), pairs)
            chances_by_system[SHARES][places] = _by_shares(group_votes, pairs)
    return chances_by_system


def _by_shares(votes: Sequence[Match], pairs: Sequence[Pair]) -> Vector:
    """Predict by the odds of each idea's share of wins.

    Shares are smoothed by one win and one loss.
    """
    wins: dict[IdeaId, list[float]] = {}
    for vote in votes:
        share = vote.first_share_0_to_1
        assert share is not None
        wins.setdefault(vote.first_idea_id, []).append(share)
        wins.setdefault(vote.second_idea_id, []).append(1 - share)
    odds = {
        one: (sum(shares) + 1) / (len(shares) - sum(shares) + 1) for one, shares in wins.items()
    }
    return np.array(
        [odds.get(one, 1.0) / (odds.get(one, 1.0) + odds.get(other, 1.0)) for one, other in pairs]
    )


def _score(trial: Trial, votes: Sequence[Match], probabilities: Vector, system: str) -> None:
    """Score one system; intervals resample whole voters."""
    voters = [voter_of(vote) for vote in votes]
    first_shares = np.array([vote.first_share_0_to_1 for vote in votes], dtype=np.float64)
    right = [
        None if chance == 0.5 else (chance > 0.5) == (y > 0.5)
        for chance, y in zip(probabilities, first_shares, strict=True)
    ]
    likelier = np.maximum(probabilities, 1 - probabilities)
    likelier_shares = np.where(probabilities >= 0.5, first_shares, 1 - first_shares)
    bins = np.minimum(((likelier - 0.5) * 2 * BINS).astype(int), BINS - 1)
    calibration = calibration_error(likelier, likelier_shares, bins, voters, 0)
    losses = -(first_shares * np.log(probabilities) + (1 - first_shares) * np.log1p(-probabilities))
    estimates = {
        "accuracy": share_of(right, 0, voters),
        "log_loss": mean(losses.tolist(), 0, voters),
        "brier": mean(((probabilities - first_shares) ** 2).tolist(), 0, voters),
        "expected_calibration_error": replace_fields(calibration, count=len(votes)),
    }
    trial.score_all(estimates, system)
    if system != ASSAY:
        return
    for name in by_group(votes):
        places = [n for n, vote in enumerate(votes) if vote.group == name]
        estimate = share_of([right[n] for n in places], 0, [voters[n] for n in places])
        trial.score("accuracy", estimate, system, f"survey={name}")


def _score_planted(trial: Trial, votes: Sequence[Match]) -> None:
    """Replace votes of some voters by careless ones, and score their detection.

    A tenth of the voters with ten votes or more answers at random, another tenth always first.
    """
    draw = np.random.default_rng([trial.seed, 1])
    counts: dict[str, int] = {}
    for vote in votes:
        counts[voter_of(vote)] = counts.get(voter_of(vote), 0) + 1
    frequent_voters = sorted(voter for voter, count in counts.items() if count >= 10)
    if len(frequent_voters) < 10:
        trial.score("careless_found", undefined("too few voters", len(frequent_voters)))
        return
    drawn_voters = draw.permutation(frequent_voters)[
        : 2 * round(PLANTED_SHARE * len(frequent_voters))
    ]
    coins, firsts = set(drawn_voters[::2].tolist()), set(drawn_voters[1::2].tolist())
    changed_votes = [_plant_answer(vote, coins, firsts, draw) for vote in votes]
    initially_flagged = {care.voter for care in care_of_voters(votes) if care.careless}
    flagged_voters = {care.voter for care in care_of_voters(changed_votes) if care.careless}

    def share_within(voters: set[str], among: set[str]) -> Estimate:
        return share_of([voter in among for voter in sorted(voters)])

    trial.score("careless_found", share_within(coins, flagged_voters), part="planted=a coin")
    trial.score(
        "careless_found", share_within(firsts, flagged_voters), part="planted=always the first"
    )
    others = counts.keys() - coins - firsts
    trial.score("careless_among_real_voters", share_within(others, flagged_voters))
    trial.score("careless_voters", share_within(set(counts), initially_flagged))


def _plant_answer(
    vote: Match, coins: set[str], firsts: set[str], draw: np.random.Generator
) -> Match:
    voter = voter_of(vote)
    if voter in firsts:
        return replace(vote, winner=Winner.FIRST)
    if voter in coins:
        return replace(vote, winner=Winner.FIRST if draw.random() < 0.5 else Winner.SECOND)
    return vote


def _score_votes_needed(trial: Trial, votes: Sequence[Match]) -> None:
    """Score the simulated votes until a ranking names most leaders.

    The true strengths are those fitted to all votes.
    """
    seed = trial.seed
    needed_counts: dict[str, list[float | None]] = {}
    for name, choose in (("adaptive_pairs", _adaptive), ("random_pairs", _random)):
        counts = (
            _votes_until(group, choose, [seed, replicate, number])
            for number, group in enumerate(by_group(votes).values())
            for replicate in range(REPLICATES)
        )
        needed_counts[name] = [None if count is None else float(count) for count in counts]
        trial.score("votes_needed", mean(needed_counts[name], seed), name)
    saving = paired_difference(needed_counts["random_pairs"], needed_counts["adaptive_pairs"], seed)
    trial.score("votes_saved", saving, "adaptive_pairs")


Choose = Callable[[int, Sequence[Match], Sequence[IdeaId], np.random.Generator], Sequence[Pair]]


def _votes_until(group: Sequence[Match], choose: Choose, seed: list[int]) -> int | None:
    """Return the number of votes until the leaders are found.

    The result is None if the rounds do not suffice.
    """
    totals = tally_of(group)
    ids, truth = totals.idea_ids, fit(totals).strengths
    top = leaders(len(ids), RankingParameters())
    place = {idea: number for number, idea in enumerate(ids)}
    best = set(np.argsort(-truth)[:top].tolist())
    draw = np.random.default_rng(seed)
    simulated_votes: list[Match] = []
    for number in range(1, MOST_ROUNDS + 1):
        for first, second in choose(number, simulated_votes, ids, draw):
            chance = 1 / (1 + np.exp(truth[place[second]] - truth[place[first]]))
            winner = Winner.FIRST if draw.random() < chance else Winner.SECOND
            simulated_votes.append(
                _simulated_vote(len(simulated_votes), first, second, winner, group[0])
            )
        top_places = np.argsort(-fit(tally(ids, simulated_votes)).strengths)[:top]
        if len(best.intersection(top_places.tolist())) >= FOUND_SHARE * top:
            return len(simulated_votes)
    return None


def _adaptive(
    number: int, simulated_votes: Sequence[Match], ids: Sequence[IdeaId], draw: np.random.Generator
) -> Sequence[Pair]:
    del draw
    return informative_pairs(ids, simulated_votes, number)


def _random(
    number: int, simulated_votes: Sequence[Match], ids: Sequence[IdeaId], draw: np.random.Generator
) -> Sequence[Pair]:
    del number, simulated_votes
    pairs = list(combinations(ids, 2))
    return [pairs[one] for one in draw.choice(len(pairs), len(ids) // 2, replace=False)]


def _simulated_vote(
    number: int, first: IdeaId, second: IdeaId, winner: Winner, like: Match
) -> Match:
    return like.model_copy(
        update={
            "match_id": f"simulated-{number}",
            "first_idea_id": first,
            "second_idea_id": second,
            "winner": winner,
            "judge": f"{HUMAN}simulated",
        }
    )


SUITE = Suite(
    "votes",
    "Can votes of people be foretold, and how many does a ranking need?",
    (FILE,),
    run,
)
