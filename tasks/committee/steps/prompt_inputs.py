"""Parts of an idea and knowledge in the committee's prompts."""

from pydantic import Field

from schemas.base import Noun


class PartShown(Noun):
    """One part of the idea; a missing part has no claims."""

    part: str
    claims: tuple[str, ...]


class FindingShown(Noun):
    part: str
    relation: str = Field(description="supports, refutes or neither.")
    relevance_0_to_1: float = Field(ge=0, le=1)
    evidence: str
    analysis: str


class KnowledgeShown(Noun):
    key: str
    kind: str = Field(description="papers, web or code.")
    title: str
    published: str = Field(description="YYYY-MM, or `undated`.")
    findings: tuple[FindingShown, ...] = Field(min_length=1)
