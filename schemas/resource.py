"""What papers say they used: data sets, baselines, metrics, models, hyper-parameters."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Severity, Stored
from schemas.identifiers import FoundPaperId, PaperId
from schemas.outcome import Provenance


class ResourceKind(StrEnum):
    """What a paper used; a baseline is a work that it compares itself with."""

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
