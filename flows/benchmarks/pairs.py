"""Suite `pairs` (InnoEval, pairwise task): two submissions with different decisions; which one is
better.
"""

from collections.abc import Iterator, Mapping, Sequence

from flows.benchmarks.matches import ranked_by_system
from flows.benchmarks.suite import Suite
from flows.benchmarks.trial import Trial
from schemas.benchmark import BenchmarkItem, BenchmarkScore
from schemas.reasons import Reason
from tasks.benchmarks.innoeval import PAIR_FILES, SubmissionPair, read_pairs
from tasks.benchmarks.ranking import RankedMembers
from tasks.metrics.estimate import benchmark_score
from tasks.metrics.groups import TIE, Pair, accuracy_by_difficulty, pairwise_accuracy
from tasks.metrics.labelled import GRADES
from tasks.metrics.means import share_of
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS

NAME = "pairs"


def run(trial: Trial) -> Sequence[BenchmarkScore]:
    """Accuracy on easy and hard pairs and by their two decisions, with the share of ties, which
    count as wrong.
    """
    listed = [
        trial.draw(read_pairs(trial.file(name), difficulty))
        for difficulty, name in PAIR_FILES.items()
    ]
    pairs = [pair for part in listed for pair in part]
    scores: list[BenchmarkScore] = []
    for system, ranked in ranked_by_system(
        trial, {pair.pair_id: (pair.first, pair.second) for pair in pairs}
    ).items():
        trial.record(_items(pairs, ranked, system))
        scores += _scores(pairs, ranked, system)
    return scores


def _scores(
    pairs: Sequence[SubmissionPair], ranked: Mapping[str, RankedMembers], system: str
) -> Iterator[BenchmarkScore]:
    """Pairs without two different decisions have no right answer and take no part."""
    judged = {
        pair.pair_id: found
        for pair in pairs
        if (found := _judged(pair, ranked[pair.pair_id])) is not None
    }
    for difficulty, estimate in accuracy_by_difficulty(list(judged.values())).items():
        yield benchmark_score(
            estimate, NAME, "pairwise_accuracy", system, f"difficulty={difficulty}"
        )
    for kind in sorted({pair.kind for pair in pairs if pair.kind}):
        of_kind = [
            judged[pair.pair_id] for pair in pairs if pair.kind == kind and pair.pair_id in judged
        ]
        yield benchmark_score(
            pairwise_accuracy(of_kind), NAME, "pairwise_accuracy", system, f"decisions={kind}"
        )
    for difficulty in PAIR_FILES:
        tied = [
            None if one.preferred is None else one.preferred == TIE
            for one in judged.values()
            if one.difficulty == difficulty
        ]
        yield benchmark_score(share_of(tied), NAME, "tie_share", system, f"difficulty={difficulty}")


def _judged(pair: SubmissionPair, ranked: RankedMembers) -> Pair | None:
    if (
        pair.first.decision is None
        or pair.second.decision is None
        or pair.first.decision == pair.second.decision
    ):
        return None
    better, worse = sorted((pair.first, pair.second), key=lambda one: -GRADES[one.decision or ""])
    return Pair(
        str(better.idea.idea_id), str(worse.idea.idea_id), _preferred(ranked), pair.difficulty
    )


def _preferred(ranked: RankedMembers) -> str | None:
    """The stronger one; None unless both have a strength."""
    values = list(ranked.strengths.values())
    if len(values) < 2 or any(value is None for value in values):
        return None
    known = {name: value for name, value in ranked.strengths.items() if value is not None}
    return TIE if len(set(known.values())) == 1 else max(known, key=lambda name: known[name])


def _items(
    pairs: Sequence[SubmissionPair], ranked: Mapping[str, RankedMembers], system: str
) -> Iterator[BenchmarkItem]:
    for pair in pairs:
        one, judged = ranked[pair.pair_id], _judged(pair, ranked[pair.pair_id])
        preferred = _preferred(one)
        yield BenchmarkItem(
            item_id=pair.pair_id,
            task=f"pair {pair.difficulty}",
            system=system,
            gold=judged.better if judged is not None else None,
            answer=preferred,
            value=float(preferred == judged.better)
            if judged is not None and preferred is not None
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
)
