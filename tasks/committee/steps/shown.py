"""An idea's parts and the knowledge about it, as the committee's steps show them."""

from pydantic import Field

from schemas.base import Noun
from schemas.committee import IdeaPart


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


def in_words(part: str) -> str:
    """The name of a part inside a sentence."""
    return "gist" if part == IdeaPart.TLDR else part.replace("_", " ")
