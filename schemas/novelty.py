"""Nouns of the novelty module: a five-point judgement with its justification (RINoBench §3)."""

from pydantic import Field

from schemas.base import Noun
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.outcome import Provenance
from schemas.reasons import Reason


class NoveltyJudgement(Noun):
    """How new the idea is beside its related works, from 1 (known) to 5 (new in every respect)."""

    score_1_to_5: int | None = Field(ge=1, le=5, description="None when unscored.")
    calibrated_score_1_to_5: float | None = Field(default=None, ge=1, le=5, description="None without a calibrator.")
    calibrated_lower_1_to_5: float | None = Field(default=None, ge=1, le=5, description="From here to `calibrated_upper_1_to_5`: 90 %.")
    calibrated_upper_1_to_5: float | None = Field(default=None, ge=1, le=5)
    calibrator_sha256: str | None = Field(default=None, description="Identity of the calibrator applied.")
    justification: str = Field(default="", description="Markdown with rendered citations.")
    known_aspects: tuple[str, ...] = ()
    novel_aspects: tuple[str, ...] = ()
    related_paper_ids: tuple[PaperId, ...] = Field(default=(), description="Related works shown, in order.")
    statement_count: int | None = Field(default=None, ge=0, description="Key statements of the idea; None when nothing was measured.")
    covered_share_0_to_1: float | None = Field(default=None, ge=0, le=1, description="Of the statements, those close to a related work.")
    mean_closeness_0_to_1: float | None = Field(default=None, ge=0, le=1, description="Of the statements to their closest related work.")
    greatest_closeness_0_to_1: float | None = Field(default=None, ge=0, le=1, description="Of any statement to any related work.")
    unanswered_search_count: int = Field(default=0, ge=0, description="Searches for related works without an answer.")
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    removed_citation_count: int = Field(default=0, ge=0)
    uncited_sentence_count: int = Field(default=0, ge=0)
    provenance: Provenance


class NoveltyEvaluation(Noun):
    """All that the novelty module found out about one idea."""

    judgement: NoveltyJudgement
    failures: tuple[Failure, ...]
