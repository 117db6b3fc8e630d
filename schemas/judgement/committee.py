"""Nouns of the committee module (InnoEval, "Method")."""

from enum import StrEnum

from pydantic import Field

from schemas.base import Noun, Prose
from schemas.failure import Failure
from schemas.formats import PublicationDay, WebAddress
from schemas.identifiers import KnowledgeId, RetrievedPaperId
from schemas.literature.citation import RemovedCitationCount, UncitedSentenceCount
from schemas.literature.knowledge import SourceKind
from schemas.outcome import (
    CONFIDENCE_MEANING,
    Confidence,
    Judged,
    Provenance,
    UnscoredDetail,
    UnscoredReason,
)


class IdeaPart(StrEnum):
    """Part of an idea (InnoEval, "Overall Architecture")."""

    TLDR = "tldr"
    MOTIVATIONS = "motivations"
    RESEARCH_QUESTIONS = "research_questions"
    METHODS = "methods"
    EXPERIMENTAL_SETTINGS = "experimental_settings"
    EXPECTED_RESULTS = "expected_results"


class Claim(Noun):
    """One atomic claim of one of an idea's six parts."""

    claim_id: str = Field(description="c1, c2, … unique within the idea.")
    part: IdeaPart = Field(description="Part of the idea.")
    statement: Prose = Field(min_length=1, description="The claim.")
    provenance: Provenance


class KnowledgePhase(StrEnum):
    """Phase of a piece of knowledge: before the idea's cutoff it judges, after it only advises."""

    BEFORE = "before"
    AFTER = "after"


class KnowledgeRecord(Judged):
    """Paper, web page or repository found for an idea, with its scores and selection."""

    JUDGEMENT = ("judge_score_0_to_1",)
    MAY_BE_NEITHER = True  # not every item is judged

    knowledge_id: str = Field(description="k1, k2, … unique within the idea.")
    kind: SourceKind = Field(description="What it is.")
    source: str = Field(
        description="Name of the source that found it; `literature` for the gateway.",
    )
    phase: KnowledgePhase = Field(
        description="before: judges the idea; after: appeared after its cutoff date, only advises.",
    )
    part: IdeaPart = Field(description="The part it was searched for first.")
    query: str = Field(
        description=(
            "The first query that found it; of a followed reference, the citing sentence or the"
            " citing paper."
        )
    )
    round: int = Field(ge=1, description="Round of search that found it.")
    title: str = Field(description="Title; empty where the source has none.")
    url: WebAddress = Field(description="Address for readers.")
    published: PublicationDay = Field(
        default=None,
        description="Latest possible publication day; None when unknown.",
    )
    paper_id: RetrievedPaperId | None = Field(
        default=None,
        description="The paper in `papers`; None: not in the table.",
    )
    text: Prose = Field(
        default="",
        description="Abstract, snippet or description of the source.",
    )
    reading: Prose = Field(
        default="",
        description="Summary of its sections, README, …; empty when not read.",
    )
    semantic_similarity_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Similarity to the idea; None when not computed.",
    )
    judge_score_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Credibility: citations, venue, stars; None when not judged or unscored.",
    )
    score_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="(1 - α) · similarity + α · credibility; None without both.",
    )
    selected: bool = Field(
        default=False,
        description="Among the best of its kind: read and grounded.",
    )
    unscored_reason: UnscoredReason = None
    provenance: Provenance | None = Field(
        default=None, description="Of the judge's score; None when computed without a call."
    )


class Relation(StrEnum):
    SUPPORTS = "supports"
    REFUTES = "refutes"
    NEITHER = "neither"


class GroundedEvidence(Judged):
    """Relation of one piece of knowledge to a part of an idea (InnoEval, "Knowledge Grounding")."""

    JUDGEMENT = ("relation",)

    evidence_id: str = Field(description="e1, e2, … unique within the idea.")
    part: IdeaPart = Field(description="Part of the idea.")
    knowledge_id: KnowledgeId
    phase: KnowledgePhase = Field(
        description="before: judges the idea; after: appeared after its cutoff date, only advises.",
    )
    relation: Relation | None = Field(
        description="Whether it supports or refutes the part; None when unscored.",
    )
    evidence: Prose = Field(
        default="",
        description="Content of the knowledge, in the engine's words.",
    )
    analysis: Prose = Field(default="", description="Relevance to the part.")
    removed_citation_count: RemovedCitationCount = 0
    relevance_0_to_1: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="None when unscored.",
    )
    passage: Prose = Field(default="", description="The supporting passage, as quoted.")
    passage_verified: bool = Field(
        default=False,
        description="Whether the passage occurs verbatim in the knowledge.",
    )
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    provenance: Provenance


class Persona(Noun):
    """Simulated reviewer (InnoEval, "Innovation Review Committee")."""

    persona_id: str = Field(min_length=1, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    name: str = Field(min_length=1)
    profile: str = Field(min_length=1, description="Field, seniority, interests.")
    habits: str = Field(min_length=1, description="Reviewing habits: strictness, first focus.")
    familiarity_papers_0_to_1: float = Field(
        ge=0, le=1, description="Share of the evidence from papers that it sees."
    )
    familiarity_web_0_to_1: float = Field(ge=0, le=1)
    familiarity_code_0_to_1: float = Field(ge=0, le=1)


class ReviewDimension(Noun):
    """Criterion that personas score separately, from 0 to 10."""

    name: str = Field(min_length=1, pattern=r"^[a-z][a-z0-9_]*$")
    question: str = Field(min_length=1, description="Question of the criterion, one sentence.")
    scale: str = Field(default="", description="Meaning of low, middle and high scores.")
    comparison: str = Field(
        default="",
        description="Question that compares two ideas; empty: made of question and scale.",
    )
    needs_evidence: bool = Field(
        default=True,
        description="Whether a score requires evidence; clarity does not.",
    )


class PersonaReview(Judged):
    """One persona's judgement of an idea along one dimension."""

    JUDGEMENT = ("score_0_to_10",)

    persona_id: str = Field(description="Identifier of the reviewer in the personas file.")
    dimension: str = Field(
        description="clarity, novelty, feasibility, validity, significance, or the user's own.",
    )
    score_0_to_10: float | None = Field(ge=0, le=10, description="None when unscored.")
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            f"The reviewer's own confidence: {CONFIDENCE_MEANING}. None when unscored or not"
            " stated."
        ),
    )
    review: Prose = Field(default="", description="The reasons, Markdown with citations.")
    shown_evidence_count: int = Field(ge=0, description="Pieces of evidence the reviewer saw.")
    masked_evidence_count: int = Field(
        ge=0,
        description="Pieces withheld by the reviewer's familiarity.",
    )
    mask_seed: int = Field(ge=0, description="Seed of the withheld pieces.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    provenance: Provenance


class Decision(StrEnum):
    REJECT = "Reject"
    POSTER = "Poster"
    SPOTLIGHT = "Spotlight"
    ORAL = "Oral"


class MetaReview(Judged):
    """Joint review of a committee on an idea (InnoEval, "Report Generation")."""

    JUDGEMENT = ("decision",)

    total_score_0_to_10: float | None = Field(
        ge=0,
        le=10,
        description="Mean of the scored persona reviews; None without any.",
    )
    confidence_0_to_3: Confidence | None = Field(
        default=None,
        description=(
            "Confidence of the total: the lower median over all persona reviews; an unscored one"
            " counts as 0. None without a scored one."
        ),
    )
    decision: Decision | None = Field(description="None when unscored.")
    summary: Prose = Field(default="", description="The synthesis, Markdown with citations.")
    strengths: Prose = Field(default="", description="Arguments for the idea.")
    weaknesses: Prose = Field(default="", description="Arguments against the idea.")
    suggestions: Prose = Field(
        default="",
        description=(
            "From knowledge that appeared after the cutoff date: its rows of `suggestions` as"
            " Markdown; empty without any."
        ),
    )
    dimension_means: dict[str, float] = Field(
        default_factory=dict,
        description="Mean by dimension over the scored persona reviews, a JSON object.",
    )
    dimension_spreads: dict[str, float] = Field(
        default_factory=dict,
        description="Standard deviation by dimension over the same reviews, a JSON object.",
    )
    krippendorff_alpha: float | None = Field(
        default=None,
        le=1,
        description="Agreement of the personas, interval scale; None when undefined.",
    )
    scored_review_count: int = Field(ge=0, description="Persona reviews with a score.")
    unscored_review_count: int = Field(ge=0, description="Persona reviews without one.")
    unscored_reason: UnscoredReason = None
    unscored_detail: UnscoredDetail = ""
    removed_citation_count: RemovedCitationCount = 0
    uncited_sentence_count: UncitedSentenceCount = 0
    provenance: Provenance


class CommitteeEvaluation(Noun):
    """Result of the committee module for one idea."""

    claims: tuple[Claim, ...]
    knowledge: tuple[KnowledgeRecord, ...]
    evidence: tuple[GroundedEvidence, ...]
    reviews: tuple[PersonaReview, ...]
    meta_review: MetaReview | None = Field(description="None when there was nothing to review.")
    failures: tuple[Failure, ...]
