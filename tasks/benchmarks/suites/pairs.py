"""Suite `pairs` (InnoEval, pairwise task): two submissions with different decisions; which one is
better.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from schemas.judgement.benchmark import BenchmarkItem, BenchmarkScore
from schemas.reasons import Reason
from tasks.benchmarks.innoeval import (
    DECIDED,
    PAIR_FILES,
    Submission,
    SubmissionPair,
    connected,
    read_pairs,
)
from tasks.benchmarks.ranking import RankedMembers
from tasks.benchmarks.suite import Suite, submission_conditions
from tasks.benchmarks.suites.matches import ideas_of, ranked_by_system
from tasks.benchmarks.trial import SuiteData, Trial
from tasks.metrics.chance import STRATIFIED_RANDOM, fixed_orders, random_order
from tasks.metrics.estimate import benchmark_score
from tasks.metrics.labelled import GRADES
from tasks.metrics.means import share_of
from tasks.metrics.rankings import TIE, Group, Pair, best_of_group, pairwise_accuracy
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS

NAME = "pairs"


class _Judged(NamedTuple):
    """A pair with a right answer; `kind`: its two decisions, as the file names them."""

    pair: Pair
    kind: str


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Accuracy on easy and hard pairs and by their two decisions, with the share of ties, which
    count as wrong; intervals draw pairs that share submissions together.
    """
    pairs = _pairs(trial)
    scores: list[BenchmarkScore] = []
    contests = _contests(pairs)
    clusters = connected(contests)
    for system, ranked in ranked_by_system(trial, contests).items():
        trial.record(_items(pairs, ranked, system))
        judged = [
            found
            for pair in pairs
            if (found := _judged(pair, _preferred(ranked[pair.pair_id]), clusters)) is not None
        ]
        scores += _scores(judged, system, trial.seed)
        scores += _tie_shares(judged, system)
    return [*scores, *_baselines(pairs, clusters, trial.seed)]


def _pairs(data: SuiteData) -> list[SubmissionPair]:
    listed = [
        data.draw(read_pairs(data.file(name), difficulty))
        for difficulty, name in PAIR_FILES.items()
    ]
    drawn = [pair for part in listed for pair in part]
    texts = data.submissions(one for pair in drawn for one in (pair.first, pair.second))
    return [
        replace(
            pair,
            first=replace(pair.first, idea=texts[str(pair.first.idea.idea_id)].idea),
            second=replace(pair.second, idea=texts[str(pair.second.idea.idea_id)].idea),
        )
        for pair in drawn
    ]


def _contests(pairs: Sequence[SubmissionPair]) -> dict[str, tuple[Submission, Submission]]:
    return {pair.pair_id: (pair.first, pair.second) for pair in pairs}


def _scores(judged: Sequence[_Judged], system: str, seed: int) -> Iterator[BenchmarkScore]:
    for part, of_part in _parts(judged).items():
        estimate = pairwise_accuracy(of_part, seed)
        yield benchmark_score(estimate, NAME, "pairwise_accuracy", system, part)


def _parts(judged: Sequence[_Judged]) -> dict[str, list[Pair]]:
    """By difficulty, then by the two decisions."""
    found: dict[str, list[Pair]] = {}
    for one in sorted(judged, key=lambda one: one.pair.difficulty):
        found.setdefault(f"difficulty={one.pair.difficulty}", []).append(one.pair)
    for one in sorted((one for one in judged if one.kind), key=lambda one: one.kind):
        found.setdefault(f"decisions={one.kind}", []).append(one.pair)
    return found


def _tie_shares(judged: Sequence[_Judged], system: str) -> Iterator[BenchmarkScore]:
    for difficulty in PAIR_FILES:
        tied = [
            None if one.pair.preferred is None else one.pair.preferred == TIE
            for one in judged
            if one.pair.difficulty == difficulty
        ]
        yield benchmark_score(share_of(tied), NAME, "tie_share", system, f"difficulty={difficulty}")


def _baselines(
    pairs: Sequence[SubmissionPair], clusters: Mapping[str, str], seed: int
) -> Iterator[BenchmarkScore]:
    """A coin, and always the place (by identifier) that is right more often, or the first one."""
    judged = [one for pair in pairs if (one := _judged(pair, None, clusters)) is not None]
    as_groups = [
        Group(str(place), {one.pair.better: 1.0, one.pair.worse: 0.0}, {})
        for place, one in enumerate(judged)
    ]
    for system, ordered in fixed_orders(as_groups).items():
        answered = [
            one._replace(pair=replace(one.pair, preferred=_highest(group.predicted)))
            for one, group in zip(judged, ordered, strict=True)
        ]
        yield from _scores(answered, system, seed)
    for part, of_part in _parts(judged).items():
        listed = [Group("", {one.better: 1.0, one.worse: 0.0}, {}) for one in of_part]
        drawn = random_order(listed, best_of_group, seed)
        yield benchmark_score(drawn, NAME, "pairwise_accuracy", STRATIFIED_RANDOM, part)


def _highest(strengths: Mapping[str, float | None]) -> str:
    known = {name: value for name, value in strengths.items() if value is not None}
    return max(known, key=lambda name: known[name])


def _judged(
    pair: SubmissionPair, preferred: str | None, clusters: Mapping[str, str]
) -> _Judged | None:
    """None for a pair without two different decisions: it has no right answer."""
    if (
        pair.first.decision is None
        or pair.second.decision is None
        or pair.first.decision == pair.second.decision
    ):
        return None
    better, worse = sorted((pair.first, pair.second), key=lambda one: -GRADES[one.decision or ""])
    found = Pair(
        str(better.idea.idea_id),
        str(worse.idea.idea_id),
        preferred,
        pair.difficulty,
        clusters[pair.pair_id],
    )
    return _Judged(found, pair.kind)


def _preferred(ranked: RankedMembers) -> str | None:
    """The stronger one; None unless both have a strength."""
    values = list(ranked.strengths.values())
    if len(values) < 2 or any(value is None for value in values):
        return None
    return TIE if len(set(values)) == 1 else _highest(ranked.strengths)


def _items(
    pairs: Sequence[SubmissionPair], ranked: Mapping[str, RankedMembers], system: str
) -> Iterator[BenchmarkItem]:
    for pair in pairs:
        one = ranked[pair.pair_id]
        preferred = _preferred(one)
        judged = _judged(pair, None, {pair.pair_id: ""})
        right = judged.pair.better if judged is not None else None
        yield BenchmarkItem(
            item_id=pair.pair_id,
            task=f"pair {pair.difficulty}",
            system=system,
            gold=right,
            answer=preferred,
            value=float(preferred == right)
            if right is not None and preferred is not None
            else None,
            explanation=one.explanation if preferred is not None else "",
            unscored_reason=None
            if preferred is not None
            else one.unscored_reason or Reason.NO_EVIDENCE,
            unscored_detail=""
            if preferred is not None
            else one.unscored_detail or "not both have a score",
            provenance=one.provenance,
        )


SUITE = Suite(
    NAME,
    "Does it prefer the better of two submissions?",
    tuple(PAIR_FILES.values()),
    run,
    steps=(COMPARE_IDEAS,),
    ideas=lambda data: ideas_of(_contests(_pairs(data))),
    conditions=submission_conditions,
    labels_public_since=DECIDED,
)
