"""The hybrid score, and who gets through: 3 m by similarity, m by score, per kind and side of the
time point (InnoEval, "Method", 1).
"""

from collections.abc import Iterable

from schemas.committee import KnowledgePhase
from schemas.knowledge import SourceKind
from tasks.committee.knowledge.pool import Candidate, Pool

SIMILARITY_SHARE = 3
"""Of each kind, this many times m come through by similarity alone."""


def score_0_to_1(candidate: Candidate, judge_weight: float) -> float | None:
    """(1 - α) · similarity + α · judge; None where the judge gave no score.

    With α = 0 there is no judge to wait for.
    """
    if candidate.semantic_0_to_1 is None or (candidate.judge_0_to_1 is None and judge_weight > 0):
        return None
    return round(
        (1 - judge_weight) * candidate.semantic_0_to_1
        + judge_weight * (candidate.judge_0_to_1 or 0.0),
        4,
    )


def shortlist(pool: Pool, limit: int) -> list[Candidate]:
    """The `SIMILARITY_SHARE` · `limit` nearest of every kind and phase."""
    return [
        candidate
        for phase in KnowledgePhase
        for kind in SourceKind
        for candidate in sorted(pool.of(phase, kind), key=_nearness)[: SIMILARITY_SHARE * limit]
    ]


def select(
    candidates: Iterable[Candidate], pool: Pool, limit: int, judge_weight: float
) -> list[Candidate]:
    """Mark the `limit` best of every kind and phase among `candidates` as selected, all others as
    not, and return them.

    One without a judge's score is placed by its similarity: as if its credibility neither helped nor
    harmed it.
    """
    through = {id(candidate) for candidate in candidates}
    chosen: list[Candidate] = []
    for phase in KnowledgePhase:
        for kind in SourceKind:
            ranked = sorted(
                (candidate for candidate in pool.of(phase, kind) if id(candidate) in through),
                key=lambda candidate: -_place(candidate, judge_weight),
            )
            chosen += ranked[:limit]
    selected = {id(candidate) for candidate in chosen}
    for candidate in pool:
        candidate.selected = id(candidate) in selected
    return chosen


def _place(candidate: Candidate, judge_weight: float) -> float:
    score = score_0_to_1(candidate, judge_weight)
    return score if score is not None else candidate.semantic_0_to_1 or 0.0


def _nearness(candidate: Candidate) -> float:
    return -(candidate.semantic_0_to_1 or 0.0)
