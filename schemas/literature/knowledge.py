"""Items and queries of sources other than the literature gateway: papers, web pages, code."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from pydantic import Field, ValidationInfo, field_validator

from schemas.base import Noun
from schemas.failure import Answer
from schemas.formats import PublicationDay
from schemas.literature.paper_state import StateOrOfTitle
from schemas.literature.publication import DatePrecision
from schemas.literature.source_text import SourceText, plain_abstract


class SourceKind(StrEnum):
    PAPERS = "papers"
    WEB = "web"
    CODE = "code"


class KnowledgeItem(Noun):
    """Item found by a source; its texts are untrusted."""

    kind: SourceKind
    source: str = Field(min_length=1, description="Name of the source that found it.")
    title: SourceText = Field(description="Empty if the source has none.")
    url: str = Field(pattern="^https?://", description="Address for readers.")
    text: SourceText = Field(
        default="",
        description="Abstract, snippet or description; empty if the source has none.",
    )
    published: PublicationDay = Field(
        default=None,
        description=(
            "Latest possible publication day, such as 31 December if only the year is known. None"
            " without a date."
        ),
    )
    precision: DatePrecision | None = Field(
        default=None, description="Precision of `published`; None: the day, or no date."
    )
    updated: date | None = Field(default=None, description="Last change, if the source knows it.")
    authors: tuple[SourceText, ...] = ()
    venue: SourceText = Field(default="", description="Journal, conference, site or owner.")
    citation_count: int | None = Field(default=None, ge=0)
    stars: int | None = Field(
        default=None, ge=0, description="Stars of a repository, votes of a data set or notebook."
    )
    doi: str | None = None
    version_dois: tuple[str, ...] = Field(
        default=(), description="Of other versions of the work, if the source links them."
    )
    arxiv_id: str | None = Field(default=None, description="Without the version.")
    pdf_url: str | None = None
    state: StateOrOfTitle = Field(
        default=None,
        validate_default=True,
        description="Why it does not count as evidence; None: no known state.",
    )
    language: str | None = Field(default=None, description="Programming language.")
    topics: tuple[str, ...] = ()

    @field_validator("text")
    @classmethod
    def _describing(cls, text: str, info: ValidationInfo) -> str:
        if info.data.get("kind") is not SourceKind.PAPERS:
            return text
        return plain_abstract(text, info.data.get("title", "")) or ""

    def admissible(self, after: date | None, before: date | None) -> bool:
        """Return whether the item is dated within both inclusive bounds.

        An undated item is admissible only without bounds: it may be later than the cutoff.
        """
        if after is None and before is None:
            return True
        if self.published is None:
            return False
        return (after is None or self.published >= after) and (
            before is None or self.published <= before
        )


class SourceQuery(Noun):
    """Query to a source: words to search for, or DOIs to look up."""

    text: str = ""
    dois: tuple[str, ...] = Field(
        default=(), description="Looked up instead of searched for; `limit` does not bound them."
    )
    limit: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="Maximum number of items.",
    )
    published_after: date | None = Field(default=None, description="First admissible day.")
    published_before: date | None = Field(
        default=None, description="Last admissible day: an idea's cutoff date."
    )


@dataclass(frozen=True, slots=True)
class KnowledgeAnswer(Answer[KnowledgeItem]):
    """Answer of a source, with details of the query sent.

    Attributes:
        query_sent: the words as sent; empty for a look-up by DOI.
        shortening: part cut from an over-long query, with the limit; None: nothing.
        undated_count: number of inadmissible items without a date.
        notes: other events, such as a retried page.
    """

    query_sent: str = ""
    shortening: str | None = None
    undated_count: int = 0
    notes: tuple[str, ...] = ()
