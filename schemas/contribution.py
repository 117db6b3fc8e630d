"""Nouns of the contribution module (ScholarEval §2.2, B.2)."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.outcome import Provenance
from schemas.reasons import Reason


class Dimension(Noun):
    """A facet along which the idea claims to advance its field, with the statements that claim it."""

    dimension_id: str = Field(description="d1, d2, … unique within the idea.")
    name: str = Field(min_length=1)
    statements: tuple[str, ...] = Field(min_length=1)
    queries: tuple[str, ...] = Field(default=(), description="Search queries made for the statements, in order.")
    provenance: Provenance


class CandidateOrigin(StrEnum):
    SEARCH = "search"
    RECOMMENDATION = "recommendation"
    REFERENCE = "reference"


class Candidate(Noun):
    """A paper considered for comparison, and how far it came."""

    paper_id: PaperId
    origin: CandidateOrigin
    found_by: str = Field(description="The query, or the paper_id of the seed.")
    similarity_0_to_1: float | None = Field(
        default=None, ge=0, le=1, description="Embedding similarity to the idea; None when not computed."
    )
    relevance_0_to_5: int | None = Field(default=None, ge=0, le=5, description="None when not judged or unscored.")
    rationale: str = ""
    unscored_reason: Reason | None = None
    seed: bool = Field(default=False, description="Relevant enough to start augmentation from.")
    compared: bool = Field(default=False, description="Among the papers compared.")
    provenance: Provenance | None = Field(default=None, description="None when filtered out before judgement.")


class Comparison(Noun):
    """The idea against one paper along one dimension."""

    paper_id: PaperId
    dimension_id: str
    dimension: str
    comparison: str = ""
    score: int | None = Field(
        ge=-1, le=1, description="+1 the idea is more novel, 0 neither or not addressed, -1 the paper; None when unscored."
    )
    overall_comparison: str = Field(default="", description="The same text on every row of the paper.")
    unscored_reason: Reason | None = None
    provenance: Provenance


class ContributionReview(Noun):
    """What the idea adds along one dimension. Texts are Markdown with rendered citations."""

    dimension_id: str
    dimension: str
    strengths: str = ""
    weaknesses: str = ""
    suggestions: str = ""
    mean_comparison_score: float | None = Field(default=None, ge=-1, le=1, description="Over scored comparisons only.")
    scored_comparison_count: int = Field(ge=0)
    unscored_comparison_count: int = Field(ge=0)
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    removed_citation_count: int = Field(default=0, ge=0)
    uncited_sentence_count: int = Field(default=0, ge=0)
    provenance: Provenance


class ContributionEvaluation(Noun):
    """All that the contribution module found out about one idea."""

    dimensions: tuple[Dimension, ...]
    candidates: tuple[Candidate, ...]
    comparisons: tuple[Comparison, ...]
    reviews: tuple[ContributionReview, ...]
    failures: tuple[Failure, ...]
