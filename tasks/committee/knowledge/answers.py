"""What engines answer to the knowledge steps. Entries outside their bounds are left out, a reply without a sound one is unparsable."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Reply
from schemas.committee import IdeaPart, Relation
from schemas.knowledge import SourceKind
from tasks.judging.reply_fields import KeyedEntry, SoundEntries, Text


class PartQueries(Reply):
    """Queries for one part in one kind of place."""

    part: IdeaPart
    kind: SourceKind
    queries: Annotated[list[Text], Field(min_length=1)] = Field(description="Established terms first, then synonyms.")


class QueriesAnswer(Reply):
    entries: Annotated[list[PartQueries], Field(min_length=1), SoundEntries]


class QueryTrouble(StrEnum):
    """What can ail a query (InnoEval, "Iterative Refinement")."""

    LOW_RELEVANCE = "low_relevance"
    TOO_GENERAL = "too_general"
    TOO_SPECIFIC = "too_specific"
    NONE = "none"


class RefinedQueries(Reply):
    """The verdict on one part's queries in one kind of place, and new ones, if any."""

    part: IdeaPart
    kind: SourceKind
    trouble: QueryTrouble
    queries: list[Text] = Field(description="May be empty.")


class RefinementAnswer(Reply):
    entries: Annotated[list[RefinedQueries], Field(min_length=1), SoundEntries]


class StandingEntry(KeyedEntry):
    reason: str = Field(description="One short sentence: the fact that decided.")
    score: int = Field(ge=0, le=10)


class StandingAnswer(Reply):
    items: Annotated[list[StandingEntry], Field(min_length=1), SoundEntries]


class PageSummary(KeyedEntry):
    summary: Text
    passages: list[str] = Field(description="Copied from the page word for word.")


class SummariesAnswer(Reply):
    pages: Annotated[list[PageSummary], Field(min_length=1), SoundEntries]


class GroundingEntry(KeyedEntry):
    relation: Relation
    evidence: str = Field(description="What the item says, in one to three sentences.")
    analysis: str = Field(description="How it bears on the claims.")
    relevance: int = Field(ge=0, le=10)
    passage: str = Field(description="Copied from the item word for word; empty for no evidence.")


class GroundingAnswer(Reply):
    items: Annotated[list[GroundingEntry], Field(min_length=1), SoundEntries]
