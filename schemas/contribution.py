"""Nouns of the contribution module (ScholarEval §2.2, B.2)."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.citation import RemovedCitationCount, UncitedSentenceCount
from schemas.failure import Failure
from schemas.identifiers import DimensionId, FoundPaperId, RetrievedPaperId
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason


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
    rationale: Prose = Field(default="", description="Why that relevance.")
    unscored_reason: UnscoredReason = None
    seed: bool = Field(default=False, description="Relevant enough to start augmentation from.")
    compared: bool = Field(default=False, description="Among the papers compared.")
    provenance: Provenance | None = Field(
        default=None, description="None when filtered out before judgement."
    )


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
        description="+1 the idea is more novel, 0 neither, -1 the paper; None when unscored.",
    )
    overall_comparison: Prose = Field(default="", description="The same on every row of the paper.")
    unscored_reason: UnscoredReason = None
    provenance: Provenance


class ContributionReview(Judged):
    """What an idea adds along one dimension. Texts are Markdown with rendered citations."""

    JUDGEMENT = ("strengths", "weaknesses", "suggestions")
    MAY_BE_NEITHER = True  # the engine may find nothing to say

    dimension_id: DimensionId
    dimension: str = Field(description="Name of the dimension.")
    strengths: Prose = Field(
        default="",
        description="Where it goes beyond the papers, Markdown with citations.",
    )
    weaknesses: Prose = Field(default="", description="Where papers were first.")
    suggestions: Prose = Field(default="", description="What would set it apart.")
    mean_comparison_score: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="Over scored comparisons only; None without any.",
    )
    scored_comparison_count: int = Field(ge=0, description="Comparisons with a score.")
    unscored_comparison_count: int = Field(ge=0, description="Comparisons without.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    provenance: Provenance


class ContributionEvaluation(Noun):
    """All that the contribution module found out about one idea."""

    dimensions: tuple[Dimension, ...]
    candidates: tuple[Candidate, ...]
    comparisons: tuple[Comparison, ...]
    reviews: tuple[ContributionReview, ...]
    failures: tuple[Failure, ...]
