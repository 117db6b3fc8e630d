"""Nouns of the soundness module (ScholarEval §2.1, B.1)."""

from pydantic import Field

from schemas.base import Noun
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.outcome import Provenance
from schemas.paper import PaperSection, Passage
from schemas.reasons import Reason


class Method(Noun):
    """One thing the idea proposes to do, understandable on its own."""

    method_id: str = Field(description="m1, m2, … in order of importance, unique within the idea.")
    rank: int = Field(ge=1, description="1 is the most important to the idea.")
    text: str = Field(min_length=1, description="The method with the context needed to read it alone.")
    quote: str = Field(description="The idea's own words; empty when the engine gave none that occur in the idea.")
    query: str | None = Field(default=None, description="The snippet query, at most 70 words; None when none could be made.")
    provenance: Provenance


class MethodEvidence(Noun):
    """What one paper has to say about one method."""

    method_id: str
    paper_id: PaperId
    relevant: bool | None = Field(description="None when unscored.")
    method: str = Field(default="", description="What the paper did.")
    results: str = Field(default="", description="What came of it.")
    context: str = Field(default="", description="Under which conditions.")
    unscored_reason: Reason | None = None
    provenance: Provenance


class SoundnessReview(Noun):
    """The literature's verdict on one method. Texts are Markdown with rendered citations."""

    method_id: str
    support: str = ""
    contradictions: str = ""
    suggestions: str = ""
    score_0_to_10: float | None = Field(default=None, ge=0, le=10, description="None exactly when unscored.")
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    evidence_count: int = Field(ge=0, description="Relevant papers shown to the engine.")
    removed_citation_count: int = Field(default=0, ge=0, description="Citations of keys that were never shown.")
    uncited_sentence_count: int = Field(default=0, ge=0)
    provenance: Provenance


class SoundnessSummary(Noun):
    """The three most important strengths, weaknesses and suggestions over all methods."""

    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    unscored_reason: Reason | None = None
    provenance: Provenance


class SoundnessEvaluation(Noun):
    """All that the soundness module found out about one idea."""

    methods: tuple[Method, ...]
    passages: tuple[Passage, ...]
    passage_method_ids: tuple[str, ...] = Field(description="Parallel to `passages`: the method each was found for.")
    sections: tuple[PaperSection, ...]
    evidence: tuple[MethodEvidence, ...]
    reviews: tuple[SoundnessReview, ...]
    summary: SoundnessSummary | None
    failures: tuple[Failure, ...]
