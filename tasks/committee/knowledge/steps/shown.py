"""A part of an idea as the steps that make queries show it."""

from pydantic import Field

from schemas.base import Noun


class PartShown(Noun):
    """One part of the idea and its claims."""

    part: str
    claims: tuple[str, ...] = Field(min_length=1)
