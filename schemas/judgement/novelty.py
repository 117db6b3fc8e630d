"""Nouns of the novelty module: a five-point judgement with its justification (RINoBench §3)."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.failure import Failure
from schemas.identifiers import PaperId, RetrievedPaperId
from schemas.literature.citation import RemovedCitationCount, UncitedSentenceCount
from schemas.outcome import (
    CONFIDENCE_MEANING,
    Confidence,
    Judged,
    Provenance,
    UnscoredDetail,
    UnscoredReason,
)


class WorkOverlap(StrEnum):
    """Share of a claimed contribution that its closest work already has."""

    NONE = "none"
    PARTIAL = "partial"
    FULL = "full"


class Difference(StrEnum):
    """Value of what a claimed contribution adds to its closest work."""

    TRIVIAL = "trivial"
    USEFUL = "useful"
    NEW = "new"


class ClaimedContribution(Noun):
    """Contribution claimed by an idea, compared with the closest related work."""

    contribution: Prose = Field(description="The claim.")
    paper_id: RetrievedPaperId | None = Field(
        description="The closest of the works shown; None: none is close, or none was named."
    )
    overlap: WorkOverlap | None = Field(
        description="Share of it that the work already has; None: not stated."
    )
    difference: Difference | None = Field(
        description="Value of what it adds to the work; None: not stated."
    )


class NoveltyJudgement(Judged):
    """Novelty of an idea relative to related works, from 1 (known) to 5 (new in every respect)."""

    JUDGEMENT = ("score_1_to_5",)

    score_1_to_5: int | None = Field(
        ge=1,
        le=5,
        description=(
            "Likeliest score, on ties the lowest; 1 known, 5 new in every respect. None when"
            " unscored."
        ),
    )
    probabilities_percent: dict[str, int] = Field(
        default_factory=dict,
        description="By score from 1 to 5; they sum to 100. Empty when unscored.",
    )
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            f"Confidence of the score: {CONFIDENCE_MEANING}. With w = 2 × related works close to a"
            " statement of the idea + other related works / 2: 0 if w < 2, 1 if w < 4, 3 if w ≥ 6"
            " with two close works, else 2; one less, but at least 0, after a failed search. None"
            " when unscored."
        ),
    )
    calibrated_score_1_to_5: float | None = Field(
        default=None,
        ge=1,
        le=5,
        description="Expected value of the calibrated label; None without a calibrator.",
    )
    calibrated_label_1_to_5: float | None = Field(
        default=None,
        ge=1,
        le=5,
        description="By the calibrator's decision rule for macro F1; None without a calibrator.",
    )
    calibrated_lower_1_to_5: float | None = Field(
        default=None,
        ge=1,
        le=5,
        description="Lower end of a 90 % interval; None without a calibrator.",
    )
    calibrated_upper_1_to_5: float | None = Field(
        default=None,
        ge=1,
        le=5,
        description="Upper end of that interval; None without a calibrator.",
    )
    calibrator_sha256: str | None = Field(
        default=None,
        description="The calibrator applied; None: none.",
    )
    justification: Prose = Field(default="", description="The reasons, Markdown with citations.")
    known_aspects: tuple[str, ...] = Field(
        default=(),
        description="Aspects that related works already have.",
    )
    novel_aspects: tuple[str, ...] = Field(default=(), description="Aspects that they lack.")
    related_paper_ids: tuple[PaperId, ...] = Field(
        default=(),
        description="Related works shown, in order.",
    )
    statement_count: int | None = Field(
        default=None,
        ge=0,
        description="Key statements of the idea; None: not measured.",
    )
    covered_share_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the statements close to a related work; None: not measured.",
    )
    mean_closeness_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Of a statement to its closest related work; None: not measured.",
    )
    greatest_closeness_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Of any statement to any related work; None: not measured.",
    )
    neighbour_density_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description=(
            "Mean similarity of the idea to its five nearest related works; None: not measured."
        ),
    )
    exemplar_count: int = Field(default=0, ge=0, description="Labelled ideas shown to the judge.")
    unanswered_search_count: int = Field(
        default=0, ge=0, description="Failed searches for related works."
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    provenance: Provenance


class NoveltyEvaluation(Noun):
    """Result of the novelty module for one idea."""

    judgement: NoveltyJudgement
    contributions: tuple[ClaimedContribution, ...] = ()
    failures: tuple[Failure, ...]
