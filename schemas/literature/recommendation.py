"""Resources that papers used, and recommendations for similar ideas."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose, Severity
from schemas.identifiers import FoundPaperId, PaperId
from schemas.outcome import Provenance


class ResourceKind(StrEnum):
    """Kind of a resource that a paper used; a baseline is a work that it is compared with."""

    DATA_SET = "data_set"
    BASELINE = "baseline"
    METRIC = "metric"
    MODEL = "model"
    HYPER_PARAMETER = "hyper_parameter"


class Resource(Noun):
    """One resource that one paper names as used, with the quote.

    The paper may be the resource's own paper.
    """

    kind: ResourceKind = Field(description="Kind of the resource.")
    name: str = Field(min_length=1, description="Title of the resource's own paper, or its name.")
    paper_id: FoundPaperId = Field(description="The paper that names it.")
    quote: Prose = Field(min_length=1, description="Verbatim passage of the paper.")
    section: str = Field(description="Heading of the quote; empty: not stated.")
    value: str = Field(
        default="", description="Value of a hyper-parameter; empty for all other kinds."
    )
    resource_paper_id: (
        Annotated[
            PaperId, ColumnInfo(references="papers.paper_id", reference_severity=Severity.WARNING)
        ]
        | None
    ) = Field(default=None, description="The resource's own paper; None: known by name only.")
    provenance: Provenance | None = Field(
        default=None, description="Provenance of the extraction; None: found by rule."
    )


RECOMMENDED = (ResourceKind.DATA_SET, ResourceKind.BASELINE, ResourceKind.METRIC)
"""Kinds that are recommended."""


class Use(Noun):
    """Use of a resource by one work, with the passage."""

    paper_id: PaperId = Field(min_length=1, description="The work that used it.")
    title: str = Field(description="Its title.")
    year: int | None = Field(description="Its year; null: unknown.")
    url: str = Field(description="Its page; empty: unknown.")
    quote: str | None = Field(
        description="Verbatim passage; null: it cites the resource's paper without a known passage."
    )
    section: str = Field(description="Heading of the passage; empty: not stated.")
    nearness_0_to_1: float = Field(
        ge=0, le=1, description="Similarity of the work to the idea, by embeddings."
    )
    through: str | None = Field(
        description="Data set through which the work was found; null: it is near the idea itself."
    )


class Recommendation(Noun):
    """Data set, baseline or metric used by works near the idea."""

    rank: int = Field(ge=1, description="Rank among those of its kind; 1 is best.")
    kind: ResourceKind = Field(description="Data set, baseline or metric.")
    name: str = Field(description="Title of its paper, or its name in the works.")
    paper_id: PaperId | None = Field(description="Its paper; null: known by name only.")
    url: str = Field(description="The page of its paper; empty: unknown.")
    score_0_to_1: float = Field(
        ge=0,
        le=1,
        description=(
            "Score by the nearness of the works that used it and of the resource itself; comparable"
            " only within one kind and idea."
        ),
    )
    reason: str = Field(description="Reason in one sentence.")
    uses: tuple[Use, ...] = Field(description="The works that used it, nearest first.")
