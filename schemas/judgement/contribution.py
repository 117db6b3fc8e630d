"""Nouns of the contribution module (ScholarEval §2.2, B.2)."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import accumulate

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.failure import Failure
from schemas.identifiers import DimensionId, FoundPaperId, PaperId, RetrievedPaperId
from schemas.literature.citation import (
    CheckedSentenceCount,
    CorrectedSentenceCount,
    DroppedSentenceCount,
    RemovedCitationCount,
    UncitedSentenceCount,
    UndecidedSentenceCount,
)
from schemas.outcome import (
    CONFIDENCE_MEANING,
    Confidence,
    Judged,
    Provenance,
    UnscoredDetail,
    UnscoredReason,
    confidence_by_evidence,
)


class Dimension(Noun):
    """Facet along which an idea claims to advance its field (ScholarEval §2.2)."""

    dimension_id: str = Field(description="d1, d2, … unique within the idea.")
    name: str = Field(min_length=1, description="Name of the dimension.")
    statements: tuple[str, ...] = Field(
        min_length=1,
        description="Statements that claim the advance.",
    )
    queries: tuple[str, ...] = Field(
        default=(),
        description="Search queries made for the statements, in order.",
    )
    provenance: Provenance


class CandidateOrigin(StrEnum):
    SEARCH = "search"
    RECOMMENDATION = "recommendation"
    REFERENCE = "reference"


class Candidate(Judged):
    """Paper considered for comparison, with its scores and selection."""

    JUDGEMENT = ("relevance_0_to_5",)
    MAY_BE_NEITHER = True  # not every candidate is judged

    paper_id: FoundPaperId
    origin: CandidateOrigin = Field(description="Origin of the paper.")
    found_by: str = Field(description="The query, or the paper_id of the seed.")
    similarity_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Embedding similarity to the idea; None when not computed.",
    )
    relevance_0_to_5: int | None = Field(
        default=None,
        ge=0,
        le=5,
        description="None when not judged or unscored.",
    )
    rationale: Prose = Field(
        default="", description="Reason of the relevance; empty: not requested, or not given."
    )
    unscored_reason: UnscoredReason = None
    seed: bool = Field(default=False, description="Whether augmentation starts from it.")
    compared: bool = Field(default=False, description="Whether it is compared with the idea.")
    provenance: Provenance | None = Field(
        default=None, description="None when filtered out before judgement."
    )


class Overlap(StrEnum):
    """Share of an idea's claims along a dimension that a paper already has.

    Not addressed: the abstract says too little about the dimension.
    """

    NOT_ADDRESSED = "not_addressed"
    NONE = "none"
    PARTIAL = "partial"
    SUBSTANTIAL = "substantial"
    SAME = "same"


NEWNESS: dict[tuple[Overlap, int], float] = {
    (Overlap.SAME, -1): 0.0,
    (Overlap.SAME, 0): 0.0,
    (Overlap.SAME, 1): 0.1,
    (Overlap.SUBSTANTIAL, -1): 0.15,
    (Overlap.SUBSTANTIAL, 0): 0.3,
    (Overlap.SUBSTANTIAL, 1): 0.45,
    (Overlap.PARTIAL, -1): 0.45,
    (Overlap.PARTIAL, 0): 0.6,
    (Overlap.PARTIAL, 1): 0.75,
    (Overlap.NONE, -1): 0.5,
    (Overlap.NONE, 1): 1.0,
    (Overlap.NONE, 0): 0.5,
}
"""Remaining novelty, 0 to 1, by (overlap, score), in order of closeness.

Without papers that do not address a dimension: they say nothing about the idea's novelty there.
"""
_PLACES = {answer: place for place, answer in enumerate(NEWNESS)}
WORKS_PER_MISREADING = 20
"""Works per left-out work, rounded up: at an error rate of one reading in twenty, the closest
twentieth are the misread ones (docs/quality/reviews.md).
"""
CLOSEST_SHOWN = 3
"""Closest works whose comparisons a review sees in full."""
_TAIL = 0.025


class Comparison(Judged):
    """Comparison of an idea with one paper along one dimension."""

    JUDGEMENT = ("score",)

    paper_id: RetrievedPaperId
    dimension_id: DimensionId
    dimension: str = Field(description="Name of the dimension.")
    comparison: Prose = Field(default="", description="Differences.")
    score: int | None = Field(
        ge=-1,
        le=1,
        description=(
            "+1 the idea is more novel, 0 level or not addressed, -1 the paper; None when unscored."
        ),
    )
    overlap: Overlap | None = Field(
        default=None,
        description="Share of the idea along the dimension that the paper has; None: not stated.",
    )
    overall_comparison: Prose = Field(
        default="", description="Comparison as a whole; the same on every row of the paper."
    )
    remains: Prose = Field(
        default="",
        description="Remaining novelty beyond the paper; the same on every row of the paper.",
    )
    quote: Prose = Field(
        default="",
        description="Abstract's sentence of greatest overlap; the same on every row of the paper.",
    )
    removed_citation_count: int = Field(
        default=0,
        ge=0,
        description=(
            "Invented references and unknown keys removed from `comparison`; on the paper's first"
            " row also those of `overall_comparison` and `remains`."
        ),
    )
    unscored_reason: UnscoredReason = None
    provenance: Provenance

    @property
    def closeness_place(self) -> int | None:
        """Return the rank of closeness, from 0; None if overlap or score is missing."""
        if self.overlap is None or self.score is None:
            return None
        return _PLACES.get((self.overlap, self.score), len(_PLACES))

    @property
    def newness(self) -> float | None:
        """Return the remaining novelty, 0 to 1.

        None if overlap or score is missing, or if the work does not address the dimension.
        """
        if self.overlap is None or self.score is None:
            return None
        return NEWNESS.get((self.overlap, self.score))


def closest_first(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the comparisons with overlap and score, closest first; ties keep their order."""
    placed_comparisons = [(each.closeness_place, each) for each in comparisons]
    comparable = [(place, each) for place, each in placed_comparisons if place is not None]
    return [each for _, each in sorted(comparable, key=lambda pair: pair[0])]


def closest_overlaps(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Return the closest comparison of each paper with an overlap, closest paper first."""
    closest: dict[PaperId, Comparison] = {}
    for each in closest_first(comparisons):
        if each.overlap not in (None, Overlap.NONE, Overlap.NOT_ADDRESSED):
            closest.setdefault(each.paper_id, each)
    return list(closest.values())


NOVELTY_RULE = "the next work after the closest twentieth"
"""Name of the rule of `novelty_of`, part of the evaluation key."""


def novelty_of(comparisons: Iterable[Comparison]) -> float | None:
    """Return the novelty along one dimension, 0 to 10; None if too few works have an overlap.

    The closest twentieth of the works, rounded up, is left out as possibly misread, and the next
    work that addresses the dimension decides, so that no single reading decides alone.
    """
    newness, work_count = _newness_by_work(comparisons)
    left_out_count = _left_out(work_count)
    return 10 * newness[left_out_count] if left_out_count < len(newness) else None


def novelty_interval(comparisons: Iterable[Comparison]) -> tuple[float, float] | None:
    """Return the 95 % bootstrap interval of `novelty_of` over works; None if it is None.

    Computed exactly instead of by resampling: the deciding work of a resample is among the j
    closest if more of them are drawn than are left out. Resamples without a deciding work are
    excluded.
    """
    newness, count = _newness_by_work(comparisons)
    left_out_count = _left_out(count)
    if left_out_count >= len(newness):
        return None
    among = [_more_than(left_out_count, count, place / count) for place in range(len(newness) + 1)]
    chances = sorted(
        (value, (among[place + 1] - among[place]) / among[-1])
        for place, value in enumerate(newness)
    )
    return 10 * _quantile(chances, _TAIL), 10 * _quantile(chances, 1 - _TAIL)


def _newness_by_work(comparisons: Iterable[Comparison]) -> tuple[list[float], int]:
    """Return the remaining novelty by work, closest first, and the number of all works.

    A work counts once, by its closest reading; works that do not address the dimension are counted
    only.
    """
    works: dict[PaperId, float | None] = {}
    for each in closest_first(comparisons):
        works.setdefault(each.paper_id, each.newness)
    # Any work may be misread as close, so the left-out share is of all works.
    return [newness for newness in works.values() if newness is not None], len(works)


def _quantile(chances: Sequence[tuple[float, float]], share: float) -> float:
    """Return the quantile of sorted (value, probability) pairs."""
    running_totals = accumulate(chance for _, chance in chances)
    for (value, _), total in zip(chances, running_totals, strict=True):
        if total >= share:
            return value
    return chances[-1][0]  # the sum of all probabilities may round to less than one


def _left_out(work_count: int) -> int:
    return -(-work_count // WORKS_PER_MISREADING)


def _more_than(successes: int, trials: int, chance: float) -> float:
    """Return the binomial probability of more than `successes`."""
    if chance >= 1:
        return 1.0 if trials > successes else 0.0
    term = (1 - chance) ** trials
    total = term
    for number in range(1, successes + 1):
        term *= (trials - number + 1) / number * chance / (1 - chance)
        total += term
    return 1 - total


def confidence_of(comparisons: Iterable[Comparison]) -> int | None:
    """Return the confidence of `novelty_of`, 0 to 3; None if that is None.

    Absence of similar works is weak evidence: a confidence of 3 needs two overlapping works.
    """
    sorted_comparisons = closest_first(comparisons)
    if novelty_of(sorted_comparisons) is None:
        return None
    closest = {each.paper_id: each for each in reversed(sorted_comparisons)}
    works = closest.values()
    strong = sum(each.overlap in (Overlap.SAME, Overlap.SUBSTANTIAL) for each in works)
    silent = sum(
        each.overlap is Overlap.NOT_ADDRESSED or (each.overlap is Overlap.NONE and each.score == 0)
        for each in works
    )
    return confidence_by_evidence(strong=strong, fair=len(works) - silent - strong)


class ContributionReview(Judged):
    """Review of an idea's contribution along one dimension; Markdown with rendered citations."""

    JUDGEMENT = ("strengths", "weaknesses", "suggestions")
    MAY_BE_NEITHER = True  # the engine may find nothing to say

    dimension_id: DimensionId
    dimension: str = Field(description="Name of the dimension.")
    strengths: Prose = Field(
        default="",
        description="Advances beyond the papers, Markdown with citations.",
    )
    weaknesses: Prose = Field(default="", description="Parts that papers already have.")
    suggestions: Prose = Field(default="", description="Its rows of `suggestions` as Markdown.")
    mean_comparison_score: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Over scored comparisons only; None without any.",
    )
    novelty_0_to_10: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description=(
            "10 × the remaining novelty of the deciding work. Works are ordered by closeness (most"
            " overlap, then lowest score); the closest twentieth, rounded up, is left out as"
            " possibly misread, and the next that addresses the dimension decides. Remaining"
            " novelty: 0 (same; 0.1 if the idea is ahead), 0.15, 0.3 or 0.45 (substantial; paper"
            " ahead, level, idea ahead), 0.45, 0.6 or 0.75 (partial), 1 (none, on the subject), 0.5"
            " (none otherwise). None if too few works have an overlap."
        ),
    )
    novelty_lower_0_to_10: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description=(
            "Lower end of the 95 % bootstrap interval of `novelty_0_to_10` over works. None without"
            " a deciding work."
        ),
    )
    novelty_upper_0_to_10: float | None = Field(
        default=None, ge=0, le=10, description="Upper end of that interval."
    )
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            f"Confidence of `novelty_0_to_10`: {CONFIDENCE_MEANING}. With w = 2 × works of overlap"
            " same or substantial + other works on the subject: 0 if w < 2, 1 if w < 4, 3 if w ≥ 6"
            " with two works of the first kind, else 2; works that do not address the dimension do"
            " not count. None without `novelty_0_to_10`."
        ),
    )
    scored_comparison_count: int = Field(ge=0, description="Comparisons with a score.")
    unscored_comparison_count: int = Field(ge=0, description="Comparisons without.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    checked_sentence_count: CheckedSentenceCount = None
    corrected_sentence_count: CorrectedSentenceCount = None
    dropped_sentence_count: DroppedSentenceCount = None
    undecided_sentence_count: UndecidedSentenceCount = None
    provenance: Provenance


class EarlierJudgements(Noun):
    """Judgements of papers in an earlier run of the same idea, for re-evaluation."""

    dimensions: tuple[Dimension, ...]
    candidates: tuple[Candidate, ...]
    comparisons: tuple[Comparison, ...]
    paper_sha256: dict[PaperId, str] = Field(description="Of title and abstract in that run.")


class ContributionEvaluation(Noun):
    """Result of the contribution module for one idea."""

    dimensions: tuple[Dimension, ...]
    candidates: tuple[Candidate, ...]
    comparisons: tuple[Comparison, ...]
    reviews: tuple[ContributionReview, ...]
    failures: tuple[Failure, ...]
