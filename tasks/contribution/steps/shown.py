"""A dimension as the contribution steps show it."""

from pydantic import Field

from schemas.base import Noun


class ShownDimension(Noun):
    """A dimension as an engine sees it."""

    dimension_id: str
    name: str
    statements: tuple[str, ...] = Field(min_length=1)
