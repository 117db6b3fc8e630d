"""Nouns of the soundness module (ScholarEval §2.1, B.1)."""

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.citation import RemovedCitationCount, UncitedSentenceCount
from schemas.failure import Failure
from schemas.identifiers import MethodId, RetrievedPaperId
from schemas.outcome import Judged, Provenance, UnscoredDetail, UnscoredReason
from schemas.paper import PaperSection, Passage


class Method(Noun):
    """One thing an idea proposes to do, understandable on its own (ScholarEval §2.1)."""

    method_id: str = Field(description="m1, m2, … in order of importance, unique within the idea.")
    rank: int = Field(ge=1, description="1 is the most important to the idea.")
    text: Prose = Field(
        min_length=1,
        description="The method with the context needed to read it alone.",
    )
    quote: Prose = Field(
        description="The idea's own words; empty when none given occur in the idea.",
    )
    query: str | None = Field(
        default=None,
        description="The snippet query, at most 70 words; None when none could be made.",
    )
    provenance: Provenance


class MethodEvidence(Judged):
    """What one paper has to say about one method."""

    JUDGEMENT = ("relevant",)

    method_id: MethodId
    paper_id: RetrievedPaperId
    relevant: bool | None = Field(description="Whether it bears on the method; None when unscored.")
    method: Prose = Field(default="", description="What the paper did.")
    results: Prose = Field(default="", description="What came of it.")
    context: Prose = Field(default="", description="Under which conditions.")
    unscored_reason: UnscoredReason = None
    provenance: Provenance


class SoundnessReview(Judged):
    """The literature's verdict on one method. Texts are Markdown with rendered citations."""

    JUDGEMENT = ("score_0_to_10",)

    method_id: MethodId
    support: Prose = Field(default="", description="What speaks for it, Markdown with citations.")
    contradictions: Prose = Field(default="", description="What speaks against it.")
    suggestions: Prose = Field(default="", description="What to change.")
    score_0_to_10: float | None = Field(
        default=None,
        ge=0,
        le=10,
        description="Soundness; None exactly when unscored.",
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    evidence_count: int = Field(ge=0, description="Relevant papers shown to the engine.")
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    provenance: Provenance


class SoundnessSummary(Judged):
    """Up to three strengths, weaknesses and suggestions over all methods of one idea."""

    JUDGEMENT = ("strengths", "weaknesses", "suggestions")
    MAY_BE_NEITHER = True  # the engine may find nothing to say

    strengths: tuple[str, ...] = Field(
        default=(),
        description="At most three, most important first.",
    )
    weaknesses: tuple[str, ...] = Field(
        default=(),
        description="At most three, most important first.",
    )
    suggestions: tuple[str, ...] = Field(
        default=(),
        description="At most three, most important first.",
    )
    unscored_reason: UnscoredReason = None
    provenance: Provenance


class SoundnessEvaluation(Noun):
    """All that the soundness module found out about one idea."""

    methods: tuple[Method, ...]
    passages: tuple[Passage, ...]
    passage_method_ids: tuple[str, ...] = Field(
        description="Parallel to `passages`: the method each was found for."
    )
    sections: tuple[PaperSection, ...]
    evidence: tuple[MethodEvidence, ...]
    reviews: tuple[SoundnessReview, ...]
    summary: SoundnessSummary | None
    failures: tuple[Failure, ...]
