"""Nouns of the committee module: structure, knowledge, grounding, personas, reviews (InnoEval, "Method")."""

from datetime import date
from enum import StrEnum

from pydantic import Field

from schemas.base import Noun
from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.knowledge import SourceKind
from schemas.outcome import Provenance
from schemas.reasons import Reason


class IdeaPart(StrEnum):
    """The six parts every idea is taken apart into (InnoEval, "Overall Architecture")."""

    TLDR = "tldr"
    MOTIVATIONS = "motivations"
    RESEARCH_QUESTIONS = "research_questions"
    METHODS = "methods"
    EXPERIMENTAL_SETTINGS = "experimental_settings"
    EXPECTED_RESULTS = "expected_results"


class Claim(Noun):
    """One atomic claim of one part of the idea."""

    claim_id: str = Field(description="c1, c2, … unique within the idea.")
    part: IdeaPart
    statement: str = Field(min_length=1)
    provenance: Provenance


class KnowledgePhase(StrEnum):
    """On which side of the idea's time point a piece of knowledge lies: the first judges, the second only advises."""

    BEFORE = "before"
    AFTER = "after"


class KnowledgeRecord(Noun):
    """One paper, page or repository found for the idea, and how far it came."""

    knowledge_id: str = Field(description="k1, k2, … unique within the idea.")
    kind: SourceKind
    source: str = Field(description="Registered name of the source; `literature` for the gateway.")
    phase: KnowledgePhase
    part: IdeaPart = Field(description="The part it was searched for first.")
    query: str = Field(description="The query that found it first.")
    round: int = Field(ge=1, description="Round of search that found it.")
    title: str
    url: str
    published: date | None = None
    paper_id: PaperId | None = Field(default=None, description="Set when it is a paper of the table `papers`.")
    text: str = Field(default="", description="What the source said of it: abstract, snippet, description.")
    reading: str = Field(
        default="", description="What slow reading made of it: sections, summary, README and structure. Empty when not read."
    )
    semantic_similarity_0_to_1: float | None = Field(default=None, ge=0, le=1)
    judge_score_0_to_1: float | None = Field(default=None, ge=0, le=1, description="Standing: citations, venue, popularity, stars.")
    score_0_to_1: float | None = Field(default=None, ge=0, le=1, description="(1 - α) · semantic + α · judge.")
    selected: bool = Field(default=False, description="Among the m best of its kind.")
    unscored_reason: Reason | None = None
    provenance: Provenance | None = Field(default=None, description="Of the judge's score; None when computed without a call.")


class Relation(StrEnum):
    SUPPORTS = "supports"
    REFUTES = "refutes"
    NEITHER = "neither"


class GroundedEvidence(Noun):
    """What one piece of knowledge says about one part of the idea (InnoEval, "Knowledge Grounding")."""

    evidence_id: str = Field(description="e1, e2, … unique within the idea.")
    part: IdeaPart
    knowledge_id: str
    phase: KnowledgePhase
    relation: Relation | None = Field(description="None when unscored.")
    evidence: str = Field(default="", description="What the knowledge says, in the engine's words.")
    analysis: str = Field(default="", description="How it bears on the part.")
    relevance_0_to_1: float | None = Field(default=None, ge=0, le=1)
    passage: str = Field(default="", description="The passage it rests on, as quoted.")
    passage_verified: bool = Field(default=False, description="Whether the passage stands in the knowledge word for word.")
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    provenance: Provenance


class Persona(Noun):
    """A reviewer: who it is, what it knows, how it reviews (InnoEval, "Innovation Review Committee")."""

    persona_id: str = Field(min_length=1, pattern=r"^[a-z0-9][a-z0-9_-]*$")
    name: str = Field(min_length=1)
    profile: str = Field(min_length=1, description="Field, seniority, interests.")
    habits: str = Field(min_length=1, description="How it reviews: strictness, what it looks at first.")
    familiarity_papers_0_to_1: float = Field(ge=0, le=1, description="Share of the evidence from papers it knows.")
    familiarity_web_0_to_1: float = Field(ge=0, le=1)
    familiarity_code_0_to_1: float = Field(ge=0, le=1)


class ReviewDimension(Noun):
    """One criterion a persona scores from 0 to 10, apart from all others."""

    name: str = Field(min_length=1, pattern=r"^[a-z][a-z0-9_]*$")
    question: str = Field(min_length=1, description="What is judged, one sentence.")
    scale: str = Field(default="", description="What low, middle and high scores mean.")
    comparison: str = Field(default="", description="Asked when two ideas are held against each other; empty: made of question and scale.")
    needs_evidence: bool = Field(default=True, description="Whether there is no score without any evidence; clarity can do without.")


class PersonaReview(Noun):
    """One persona's judgement of the idea along one dimension."""

    persona_id: str
    dimension: str
    score_0_to_10: float | None = Field(ge=0, le=10, description="None when unscored.")
    review: str = Field(default="", description="Markdown with rendered citations.")
    shown_evidence_count: int = Field(ge=0)
    masked_evidence_count: int = Field(ge=0, description="Evidence withheld because the persona does not know it.")
    mask_seed: int = Field(ge=0, description="Seed of the generator that chose what to withhold.")
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    removed_citation_count: int = Field(default=0, ge=0)
    uncited_sentence_count: int = Field(default=0, ge=0)
    provenance: Provenance


class Decision(StrEnum):
    REJECT = "Reject"
    POSTER = "Poster"
    SPOTLIGHT = "Spotlight"
    ORAL = "Oral"


class MetaReview(Noun):
    """What the committee comes to (InnoEval, "Report Generation")."""

    total_score_0_to_10: float | None = Field(ge=0, le=10, description="None when unscored.")
    decision: Decision | None
    summary: str = Field(default="", description="Markdown with rendered citations.")
    strengths: str = ""
    weaknesses: str = ""
    suggestions: str = Field(default="", description="From knowledge published after the time point; empty without any.")
    dimension_means: dict[str, float] = Field(
        default_factory=dict, description="Mean over scored personas, by dimension; unscored ones absent."
    )
    dimension_spreads: dict[str, float] = Field(default_factory=dict, description="Standard deviation over personas, by dimension.")
    krippendorff_alpha: float | None = Field(
        default=None, le=1, description="Interval alpha of personas over dimensions; None when undefined."
    )
    scored_review_count: int = Field(ge=0)
    unscored_review_count: int = Field(ge=0)
    unscored_reason: Reason | None = None
    unscored_detail: str = ""
    removed_citation_count: int = Field(default=0, ge=0)
    uncited_sentence_count: int = Field(default=0, ge=0)
    provenance: Provenance


class CommitteeEvaluation(Noun):
    """All that the committee found out about one idea."""

    claims: tuple[Claim, ...]
    knowledge: tuple[KnowledgeRecord, ...]
    evidence: tuple[GroundedEvidence, ...]
    reviews: tuple[PersonaReview, ...]
    meta_review: MetaReview | None = Field(description="None when there was nothing to review.")
    failures: tuple[Failure, ...]
