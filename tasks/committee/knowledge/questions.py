"""What the knowledge steps are asked: one noun per step, every field of which its prompt shows."""

from pydantic import Field

from schemas.base import Noun


class PartShown(Noun):
    """One part of the idea and its claims."""

    part: str
    claims: tuple[str, ...] = Field(min_length=1)


class QueriesQuestion(Noun):
    """Which searches would bring up what is known about these parts?"""

    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...] = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per part and kind.")


class QueryOutcome(Noun):
    """What came of one query."""

    part: str
    kind: str
    query: str
    found_count: int = Field(ge=0)
    kept_count: int = Field(ge=0, description="Of its finds, those among the best of their kind.")
    mean_similarity: float = Field(ge=0, le=1, description="Of its finds to the idea; 0 without any.")
    gists: tuple[str, ...] = Field(default=(), description="Titles and beginnings of its best finds.")


class RefinementQuestion(Noun):
    """What ails the queries so far, and which would do better?"""

    idea: str = Field(min_length=1)
    parts: tuple[PartShown, ...] = Field(min_length=1)
    kinds: tuple[str, ...] = Field(min_length=1)
    outcomes: tuple[QueryOutcome, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per part and kind.")


class ItemStanding(Noun):
    """What is known about the standing of one item."""

    key: str
    kind: str
    title: str
    site: str = Field(description="Venue, site or owner; empty where unknown.")
    published: str = Field(description="YYYY-MM-DD, or `undated`.")
    citation_count: int | None = Field(ge=0)
    stars: int | None = Field(ge=0)


class StandingQuestion(Noun):
    """How much weight do these items deserve, whatever they say?"""

    idea: str = Field(min_length=1)
    items: tuple[ItemStanding, ...] = Field(min_length=1)
    as_of_year: int = Field(description="The year against which age is reckoned: the cutoff's, or the current one.")


class PageShown(Noun):
    """A web page's main text."""

    key: str
    title: str
    text: str = Field(min_length=1)


class SummariesQuestion(Noun):
    """What do these pages say that bears on the idea?"""

    idea: str = Field(min_length=1)
    pages: tuple[PageShown, ...] = Field(min_length=1)


class ItemShown(Noun):
    """One piece of knowledge as far as it was read."""

    key: str
    kind: str
    title: str
    text: str = Field(min_length=1)


class PartHeld(Noun):
    """One part, its claims, and the items to hold against it."""

    part: str
    claims: tuple[str, ...] = Field(min_length=1)
    keys: tuple[str, ...] = Field(min_length=1, description="Each item stands under exactly one part.")


class GroundingQuestion(Noun):
    """What does each of these items say for or against the part it is held against?"""

    idea: str = Field(min_length=1, description="Title and gist, which is enough to read the claims by.")
    items: tuple[ItemShown, ...] = Field(min_length=1)
    parts: tuple[PartHeld, ...] = Field(min_length=1)
