"""What the contribution steps are asked: one noun per step, every field of which its prompt shows."""

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


class ShownComparison(Noun):
    """The idea against one paper along the dimension under review."""

    key: str
    title: str
    year: int | None
    score: int | None = Field(ge=-1, le=1, description="None: no comparison was made, and `comparison` is the paper's abstract.")
    comparison: str


class DimensionsQuestion(Noun):
    """Along which dimensions does the idea claim to advance its field?"""

    idea: str = Field(min_length=1)
    maximum_dimensions: int = Field(ge=1)


class QueriesQuestion(Noun):
    """Which searches would find the papers closest to these statements?

    All statements of a dimension share a call: the engine sees which neighbours a query must differ from. Statements are
    numbered from 1 over all dimensions shown.
    """

    idea: str = Field(min_length=1)
    dimensions: tuple[ShownDimension, ...] = Field(min_length=1)
    maximum_queries: int = Field(ge=1, description="Per statement.")


class RelevanceQuestion(Noun):
    """How similar are the contributions of each paper to those of the idea?"""

    idea: str = Field(min_length=1)
    papers: tuple[ShownPaper, ...] = Field(min_length=1)
    words_per_text: int | None = Field(default=None, ge=1, description="Asked of each rationale; None: as many as it needs.")


class ComparisonQuestion(Noun):
    """What is new in the idea, against each paper, along each dimension?"""

    idea: str = Field(min_length=1)
    dimensions: tuple[ShownDimension, ...] = Field(min_length=1)
    papers: tuple[ShownPaper, ...] = Field(min_length=1)
    words_per_text: int | None = Field(default=None, ge=1, description="Asked of each comparison; None: as many as it needs.")


class ReviewQuestion(Noun):
    """What do the comparisons say about the idea's contribution along one dimension?"""

    idea: str = Field(min_length=1)
    dimension: ShownDimension
    comparisons: tuple[ShownComparison, ...] = Field(min_length=1)
    words_per_text: int | None = Field(default=None, ge=1, description="Asked of each section; None: as many as it needs.")
