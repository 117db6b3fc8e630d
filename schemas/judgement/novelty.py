"""Nouns of the novelty module: a five-point judgement with its justification (RINoBench §3)."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
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
    """How much of a claimed contribution its closest work already has."""

    NONE = "none"
    PARTIAL = "partial"
    FULL = "full"


class Difference(StrEnum):
    """What a claimed contribution adds to its closest work."""

    TRIVIAL = "trivial"
    USEFUL = "useful"
    NEW = "new"


class ClaimedContribution(Noun):
    """One contribution an idea claims, beside the closest of its related works."""

    contribution: Prose = Field(description="What the idea claims.")
    paper_id: RetrievedPaperId | None = Field(
        description="The closest of the works shown; None: none of them is close, or none was told."
    )
    overlap: WorkOverlap | None = Field(
        description="How much of it that work already has; None: not told."
    )
    difference: Difference | None = Field(description="What it adds to that work; None: not told.")


class NoveltyJudgement(Judged):
    """How new an idea is beside its related works, from 1 (known) to 5 (new in every respect)."""

    JUDGEMENT = ("score_1_to_5",)

    score_1_to_5: int | None = Field(
        ge=1,
        le=5,
        description=(
            "1 known, 5 new in every respect: the likeliest score, of equally likely ones the"
            " lowest; None when unscored."
        ),
    )
    probabilities_percent: dict[str, int] = Field(
        default_factory=dict,
        description="By score from 1 to 5; they sum to 100. Empty when unscored.",
    )
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            f"How sure the score is: {CONFIDENCE_MEANING}. With w = 2 × related works that come"
            " close to a statement of the idea + other related works / 2: 0 where w < 2, 1 where"
            " w < 4, 3 where w ≥ 6 with two close works, else 2; one less, down to 0, after an"
            " unanswered search. None when unscored."
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
        description="The lower end of a 90 % interval; None without a calibrator.",
    )
    calibrated_upper_1_to_5: float | None = Field(
        default=None,
        ge=1,
        le=5,
        description="Its upper end; None without a calibrator.",
    )
    calibrator_sha256: str | None = Field(
        default=None,
        description="The calibrator applied; None: none.",
    )
    justification: Prose = Field(default="", description="The reasons, Markdown with citations.")
    known_aspects: tuple[str, ...] = Field(
        default=(),
        description="What related works have already.",
    )
    novel_aspects: tuple[str, ...] = Field(default=(), description="What they have not.")
    related_paper_ids: tuple[PaperId, ...] = Field(
        default=(),
        description="Related works shown, in order.",
    )
    statement_count: int | None = Field(
        default=None,
        ge=0,
        description="Key statements of the idea; None: nothing was measured.",
    )
    covered_share_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Share of the statements close to a related work; None: nothing was measured.",
    )
    mean_closeness_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Of a statement to its closest related work; None: nothing was measured.",
    )
    greatest_closeness_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Of any statement to any related work; None: nothing was measured.",
    )
    neighbour_density_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description=(
            "Mean similarity of the idea to its five nearest related works; None: not measured."
        ),
    )
    exemplar_count: Annotated[int, Stored(nullable=True)] = Field(
        default=0,
        ge=0,
        description="Labelled ideas shown to the judge; None: not counted.",
    )
    unanswered_search_count: Annotated[int, Stored(nullable=True)] = Field(
        default=0,
        ge=0,
        description="Searches for related works without an answer; None: not counted.",
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    provenance: Provenance


class NoveltyEvaluation(Noun):
    """All that the novelty module found out about one idea."""

    judgement: NoveltyJudgement
    contributions: tuple[ClaimedContribution, ...] = ()
    failures: tuple[Failure, ...]
