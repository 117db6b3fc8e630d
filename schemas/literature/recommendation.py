"""What papers say they used, and what of it may serve an idea near them."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Severity, Stored
from schemas.identifiers import FoundPaperId, PaperId
from schemas.outcome import Provenance


class ResourceKind(StrEnum):
    """Kind of a resource that a paper used; a baseline is a work that it compares itself with."""

    DATA_SET = "data_set"
    BASELINE = "baseline"
    METRIC = "metric"
    MODEL = "model"
    HYPER_PARAMETER = "hyper_parameter"


class Resource(Noun):
    """One thing that one paper names as used, in the paper's own words.

    The paper may be the resource's own: then the quote is what it says of itself.
    """

    kind: ResourceKind = Field(description="What is named.")
    name: str = Field(
        min_length=1, description="The title of its own paper, or the name that is used for it."
    )
    paper_id: FoundPaperId = Field(description="The paper that names it.")
    quote: Prose = Field(
        min_length=1, description="Where it does so, word for word as its text is known."
    )
    section: str = Field(description="The heading above the quote; empty: not told.")
    value: str = Field(
        default="", description="What a hyper-parameter was set to; empty: of all other kinds."
    )
    resource_paper_id: (
        Annotated[
            PaperId, Stored(references="papers.paper_id", reference_severity=Severity.WARNING)
        ]
        | None
    ) = Field(default=None, description="The resource's own paper; None: known by name alone.")
    provenance: Provenance | None = Field(
        default=None, description="Which model found it; None: found by rule."
    )


RECOMMENDED = (ResourceKind.DATA_SET, ResourceKind.BASELINE, ResourceKind.METRIC)
"""The kinds that are recommended."""


class Use(Noun):
    """One work that used a resource, and where it says so."""

    paper_id: PaperId = Field(min_length=1, description="The work that used it.")
    title: str = Field(description="Its title.")
    year: int | None = Field(description="Its year; null: unknown.")
    url: str = Field(description="Its page; empty: unknown.")
    quote: str | None = Field(
        description="Where it says so, in its own words; null: it lists the resource's paper,"
        " and no"
        " passage is known."
    )
    section: str = Field(description="The heading above the passage; empty: not told.")
    nearness_0_to_1: float = Field(
        ge=0, le=1, description="Similarity of the work to the idea, by embeddings."
    )
    through: str | None = Field(
        description="The data set by which the work was reached; null: it is near the idea itself."
    )


class Recommendation(Noun):
    """A data set, baseline or metric that works near the idea used."""

    rank: int = Field(ge=1, description="Place among those of its kind; 1: the best.")
    kind: ResourceKind = Field(description="Data set, baseline or metric.")
    name: str = Field(description="The title of its paper, or the name works call it by.")
    paper_id: PaperId | None = Field(description="Its paper; null: known by name alone.")
    url: str = Field(description="The page of its paper; empty: unknown.")
    score_0_to_1: float = Field(
        ge=0,
        le=1,
        description=(
            "By the nearness of the works that used it and by its own; comparable within one kind"
            " and idea alone."
        ),
    )
    reason: str = Field(description="Why, in one sentence.")
    uses: tuple[Use, ...] = Field(description="The works that used it, the nearest first.")
