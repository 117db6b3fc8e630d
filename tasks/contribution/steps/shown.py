"""A paper and a dimension as the contribution steps show them."""

from pydantic import Field

from schemas.base import Noun


class ShownPaper(Noun):
    """A paper as an engine sees it: never its identifier, so that only shown keys can be cited."""

    key: str = Field(description="The short key to answer and cite by, such as P7.")
    title: str
    abstract: str = Field(min_length=1)


class ShownDimension(Noun):
    """A dimension as an engine sees it."""

    dimension_id: str
    name: str
    statements: tuple[str, ...] = Field(min_length=1)
