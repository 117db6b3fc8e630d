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
    """A facet along which an idea claims to advance its field (ScholarEval §2.2)."""

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
    """A paper considered for comparison, and how far it came."""

    JUDGEMENT = ("relevance_0_to_5",)
    MAY_BE_NEITHER = True  # not every candidate is judged

    paper_id: FoundPaperId
    origin: CandidateOrigin = Field(description="How it was found.")
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
        default="", description="Why that relevance; empty: none was asked for, or given."
    )
    unscored_reason: UnscoredReason = None
    seed: bool = Field(default=False, description="Relevant enough to start augmentation from.")
    compared: bool = Field(default=False, description="Among the papers compared.")
    provenance: Provenance | None = Field(
        default=None, description="None when filtered out before judgement."
    )


class Overlap(StrEnum):
    """How much of what an idea claims along a dimension a paper already has.

    Not addressed: the abstract does not say enough of the dimension to tell.
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
"""What a work leaves new, 0 to 1, by (overlap, score); the closest works come first. A paper that
does not address a dimension is not listed: it leaves open whether the idea is new there.
"""
_PLACES = {answer: place for place, answer in enumerate(NEWNESS)}
WORKS_PER_MISREADING = 20
"""The closest work of every twenty is left out, and one of fewer: where one reading in twenty takes
a work for closer than it is, those are the ones misread (docs/quality/reviews.md).
"""
CLOSEST_SHOWN = 3
"""Works of which a review is shown all that was said."""
_TAIL = 0.025


class Comparison(Judged):
    """An idea against one paper along one dimension."""

    JUDGEMENT = ("score",)

    paper_id: RetrievedPaperId
    dimension_id: DimensionId
    dimension: str = Field(description="Name of the dimension.")
    comparison: Prose = Field(default="", description="What differs.")
    score: int | None = Field(
        ge=-1,
        le=1,
        description=(
            "+1 the idea is more novel, 0 level or not addressed, -1 the paper; None when unscored."
        ),
    )
    overlap: Overlap | None = Field(
        default=None,
        description="How much of the idea along the dimension the paper has; None: not told.",
    )
    overall_comparison: Prose = Field(default="", description="The same on every row of the paper.")
    remains: Prose = Field(
        default="",
        description="What remains new if the paper is granted; the same on every row of the paper.",
    )
    quote: Prose = Field(
        default="",
        description=(
            "The abstract's own words where it overlaps most; the same on every row of the paper."
        ),
    )
    removed_citation_count: int = Field(
        default=0,
        ge=0,
        description=(
            "References the reply made up and keys that were never shown, taken out of"
            " `comparison`; on the paper's first row also those of `overall_comparison` and"
            " `remains`."
        ),
    )
    unscored_reason: UnscoredReason = None
    provenance: Provenance

    @property
    def closeness_place(self) -> int | None:
        """0 is the closest a work can come; None where overlap or score is missing."""
        if self.overlap is None or self.score is None:
            return None
        return _PLACES.get((self.overlap, self.score), len(_PLACES))

    @property
    def newness(self) -> float | None:
        """Return what the work leaves new, 0 to 1; None where overlap or score is missing, and
        where the work does not address the dimension.
        """
        if self.overlap is None or self.score is None:
            return None
        return NEWNESS.get((self.overlap, self.score))


def closest_first(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """Those with overlap and score, the closest work first; ties keep their order."""
    placed = [(each.closeness_place, each) for each in comparisons]
    comparable = [(place, each) for place, each in placed if place is not None]
    return [each for _, each in sorted(comparable, key=lambda pair: pair[0])]


NOVELTY_RULE = "the next work after the closest twentieth"
"""What `novelty_of` does: part of the evaluation key, as another rule gives another score."""


def novelty_of(comparisons: Iterable[Comparison]) -> float | None:
    """Novelty along one dimension, 0 to 10; None where too few works tell their overlap.

    The closest twentieth of the works, rounded up, is left out as possibly misread: the next work
    decides, so that no reading does alone. A work that does not address the dimension decides
    nothing.
    """
    newness, work_count = _newness_by_work(comparisons)
    left_out = _left_out(work_count)
    return 10 * newness[left_out] if left_out < len(newness) else None


def novelty_interval(comparisons: Iterable[Comparison]) -> tuple[float, float] | None:
    """Return the ends of the 95 % bootstrap interval over works of `novelty_of`.

    They are exact, as if drawn without end: the deciding work of a resample is among the j closest
    when more works than are left out are drawn from these. Resamples in which no work decides are
    left out. None where no work decides.
    """
    newness, count = _newness_by_work(comparisons)
    left_out = _left_out(count)
    if left_out >= len(newness):
        return None
    among = [_more_than(left_out, count, place / count) for place in range(len(newness) + 1)]
    chances = sorted(
        (value, (among[place + 1] - among[place]) / among[-1])
        for place, value in enumerate(newness)
    )
    return 10 * _quantile(chances, _TAIL), 10 * _quantile(chances, 1 - _TAIL)


def _newness_by_work(comparisons: Iterable[Comparison]) -> tuple[list[float], int]:
    """Return what each work that addresses the dimension leaves new, the closest first, and the
    number of all works read; a work counts once, as its closest reading.
    """
    works: dict[PaperId, float | None] = {}
    for each in closest_first(comparisons):
        works.setdefault(each.paper_id, each.newness)
    # Any work may be misread as close, so that the share left out is one of all of them.
    return [newness for newness in works.values() if newness is not None], len(works)


def _quantile(chances: Sequence[tuple[float, float]], share: float) -> float:
    """The least value that `share` of the probability does not exceed, of values in order."""
    reached = accumulate(chance for _, chance in chances)
    for (value, _), total in zip(chances, reached, strict=True):
        if total >= share:
            return value
    return chances[-1][0]  # the sum of all probabilities may round to less than one


def _left_out(work_count: int) -> int:
    return -(-work_count // WORKS_PER_MISREADING)


def _more_than(successes: int, trials: int, chance: float) -> float:
    """Probability of more than so many successes in independent trials."""
    if chance >= 1:
        return 1.0 if trials > successes else 0.0
    term = (1 - chance) ** trials
    total = term
    for number in range(1, successes + 1):
        term *= (trials - number + 1) / number * chance / (1 - chance)
        total += term
    return 1 - total


def confidence_of(comparisons: Iterable[Comparison]) -> int | None:
    """Return how sure `novelty_of` the same comparisons is, 0 to 3; None where that is None.

    That nothing like it was found proves little: two overlapping works are needed for 3.
    """
    ordered = closest_first(comparisons)
    if novelty_of(ordered) is None:
        return None
    closest = {each.paper_id: each for each in reversed(ordered)}
    works = closest.values()
    strong = sum(each.overlap in (Overlap.SAME, Overlap.SUBSTANTIAL) for each in works)
    silent = sum(
        each.overlap is Overlap.NOT_ADDRESSED or (each.overlap is Overlap.NONE and each.score == 0)
        for each in works
    )
    return confidence_by_evidence(strong=strong, fair=len(works) - silent - strong)


class ContributionReview(Judged):
    """Review of what an idea adds along one dimension. Texts are Markdown with rendered citations."""

    JUDGEMENT = ("strengths", "weaknesses", "suggestions")
    MAY_BE_NEITHER = True  # the engine may find nothing to say

    dimension_id: DimensionId
    dimension: str = Field(description="Name of the dimension.")
    strengths: Prose = Field(
        default="",
        description="Where it goes beyond the papers, Markdown with citations.",
    )
    weaknesses: Prose = Field(default="", description="Where papers were first.")
    suggestions: Prose = Field(
        default="", description="What would set it apart: its rows of `suggestions` as Markdown."
    )
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
            "10 × what the deciding work leaves new. Works stand by closeness: most overlap, then"
            " lowest score; the closest twentieth of them, rounded up, is left out as possibly"
            " misread, and the next that addresses the dimension decides, so that no comparison does"
            " alone. A work leaves new 0"
            " (same; 0.1 when the idea is ahead), 0.15, 0.3 or 0.45 (substantial; paper ahead,"
            " level, idea ahead), 0.45, 0.6 or 0.75 (partial), 1 (none, on the subject), 0.5 (none"
            " otherwise). None when no work is next: too few works tell their overlap."
        ),
    )
    novelty_lower_0_to_10: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description=(
            "Lower end of the 95 % bootstrap interval of `novelty_0_to_10` over works: how it would"
            " move with other such works. None when no work decides."
        ),
    )
    novelty_upper_0_to_10: float | None = Field(
        default=None, ge=0, le=10, description="Upper end of that interval."
    )
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            f"How sure `novelty_0_to_10` is: {CONFIDENCE_MEANING}. With w = 2 × works of overlap"
            " same or substantial + other works on the subject: 0 where w < 2, 1 where w < 4, 3"
            " where w ≥ 6 with two works of the first kind, else 2; works that do not address the"
            " dimension count nothing. None without `novelty_0_to_10`."
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
    provenance: Provenance


class JudgedBefore(Noun):
    """Judgements of an earlier run on papers, for an idea that is evaluated again."""

    dimensions: tuple[Dimension, ...]
    candidates: tuple[Candidate, ...]
    comparisons: tuple[Comparison, ...]
    paper_sha256: dict[PaperId, str] = Field(description="Of title and abstract as they were.")


class ContributionEvaluation(Noun):
    """All that the contribution module found out about one idea."""

    dimensions: tuple[Dimension, ...]
    candidates: tuple[Candidate, ...]
    comparisons: tuple[Comparison, ...]
    reviews: tuple[ContributionReview, ...]
    failures: tuple[Failure, ...]
