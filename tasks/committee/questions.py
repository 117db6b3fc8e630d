"""What the committee's steps are asked about. Every field is shown in the step's prompt."""

from pydantic import Field

from schemas.base import Noun


class StructureQuestion(Noun):
    """Input of `structure_idea`."""

    idea: str = Field(min_length=1)


class PartShown(Noun):
    """One part of the idea; a part that the idea does not have has no claims."""

    part: str
    claims: tuple[str, ...]


class FindingShown(Noun):
    """What one piece of knowledge says about one part."""

    part: str
    relation: str = Field(description="supports, refutes or neither.")
    relevance_0_to_1: float = Field(ge=0, le=1)
    evidence: str
    analysis: str


class KnowledgeShown(Noun):
    """One piece of knowledge under the key a reply must cite it by."""

    key: str
    kind: str = Field(description="papers, web or code.")
    title: str
    published: str = Field(description="YYYY-MM, or `undated`.")
    findings: tuple[FindingShown, ...] = Field(min_length=1)


class ReviewerShown(Noun):
    """Who is to review."""

    name: str
    profile: str
    habits: str


class DimensionShown(Noun):
    """One criterion."""

    name: str
    question: str
    scale: str


class PersonaQuestion(Noun):
    """Input of `persona_review`. The evidence is what this reviewer knows, nothing else."""

    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...]
    evidence: tuple[KnowledgeShown, ...] = Field(description="Most relevant first; empty when nothing is known to the reviewer.")
    unanswered_searches: int = Field(ge=0, description="What they would have shown is unknown.")
    reviewer: ReviewerShown
    dimensions: tuple[DimensionShown, ...] = Field(min_length=1)


class ReviewShown(Noun):
    """One scored review, with citation keys that hold across the whole committee."""

    reviewer: str
    dimension: str
    score_0_to_10: float = Field(ge=0, le=10)
    review: str


class DimensionFigures(Noun):
    """The scored reviews of one dimension in figures."""

    name: str
    mean: float = Field(ge=0, le=10)
    spread: float | None = Field(description="Standard deviation over reviewers; None with a single one.")
    scored_count: int = Field(ge=1)


class MetaQuestion(Noun):
    """Input of `meta_review`. The total is computed, not asked for."""

    idea: str = Field(min_length=1)
    total_score_0_to_10: float = Field(ge=0, le=10)
    figures: tuple[DimensionFigures, ...] = Field(min_length=1)
    unscored_count: int = Field(ge=0)
    reviews: tuple[ReviewShown, ...] = Field(min_length=1)


class LaterQuestion(Noun):
    """Input of `later_suggestions`: what appeared after the idea's time point, and where the idea was found weak."""

    idea: str = Field(min_length=1)
    weaknesses: str
    knowledge: tuple[KnowledgeShown, ...] = Field(min_length=1)
