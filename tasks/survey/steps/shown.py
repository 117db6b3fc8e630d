"""How the steps of a survey's review show works: by key, with the passages that were read."""

from pydantic import Field

from schemas.base import Noun


class ShownWork(Noun):
    """A work under its key, and what was read of it, one passage a line."""

    key: str
    title: str
    year: int | None
    evidence: str


class ShownJoin(Noun):
    """Two works of which neither cites the other, and what a third says of both."""

    key: str
    other_key: str
    third_key: str
    passage: str


class ShownSection(Noun):
    """A section of the review as it stands, citing by key."""

    heading: str
    text: str = Field(min_length=1)
