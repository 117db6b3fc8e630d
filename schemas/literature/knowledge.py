"""What sources other than the literature gateway know: papers, web pages, code; and what was asked
of them.
"""

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
    """One thing a source found. Its texts come from strangers: they are data."""

    kind: SourceKind
    source: str = Field(min_length=1, description="Name of the source that found it.")
    title: SourceText = Field(description="Empty where the source has none.")
    url: str = Field(pattern="^https?://", description="Where a reader finds it.")
    text: SourceText = Field(
        default="",
        description="Abstract, snippet or description; empty where the source gives none.",
    )
    published: PublicationDay = Field(
        default=None,
        description=(
            "The last day on which it can have appeared: 31 December of a year known alone. None"
            " where the source gives no date."
        ),
    )
    precision: DatePrecision | None = Field(
        default=None, description="How much of `published` is known; None: the day, or nothing."
    )
    updated: date | None = Field(
        default=None, description="When what is shown was last changed, where the source says so."
    )
    authors: tuple[SourceText, ...] = ()
    venue: SourceText = Field(default="", description="Journal, conference, site or owner.")
    citation_count: int | None = Field(default=None, ge=0)
    stars: int | None = Field(
        default=None, ge=0, description="Stars of a repository, votes of a data set or notebook."
    )
    doi: str | None = None
    version_dois: tuple[str, ...] = Field(
        default=(), description="Of other versions of the work, where the source links them."
    )
    arxiv_id: str | None = Field(default=None, description="Without the version.")
    pdf_url: str | None = None
    state: StateOrOfTitle = Field(
        default=None,
        validate_default=True,
        description="Why it does not count; None: nothing of the kind is known.",
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
        """Return whether it can be shown to lie within the dates, both inclusive.

        An undated item lies within no dates: with a cutoff it must not be judged by. It is
            admissible only where
        neither date is given.
        """
        if after is None and before is None:
            return True
        if self.published is None:
            return False
        return (after is None or self.published >= after) and (
            before is None or self.published <= before
        )


class SourceQuery(Noun):
    """A question to a source: words to search for, or DOIs to look up."""

    text: str = ""
    dois: tuple[str, ...] = Field(
        default=(), description="Looked up instead of searched for; `limit` does not bound them."
    )
    limit: int = Field(
        default=10,
        ge=1,
        le=1000,
        description="Items wanted; a source with one short page gives fewer.",
    )
    published_after: date | None = Field(default=None, description="First admissible day.")
    published_before: date | None = Field(
        default=None, description="Last admissible day: an idea's cutoff date."
    )


@dataclass(frozen=True, slots=True)
class KnowledgeAnswer(Answer[KnowledgeItem]):
    """An answer that also says what was really asked.

    Attributes:
        query_sent: the words as sent; empty for a look-up by DOI.
        shortening: what was cut from an over-long query, and by which limit; None: nothing.
        undated_count: how many of the inadmissible items had no date at all.
        notes: anything else that was done on the way, such as a page asked for again.
    """

    query_sent: str = ""
    shortening: str | None = None
    undated_count: int = 0
    notes: tuple[str, ...] = ()
