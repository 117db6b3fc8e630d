"""What engines answer to the steps of the benchmarks."""

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from schemas.base import Reply
from tasks.judging.reply_fields import Prose, SoundEntries
from tasks.ranking.steps.compare_ideas import spelled

Better = Annotated[Literal["A", "B", "tie"], BeforeValidator(spelled)]


class CoverageReply(Reply):
    """How far the review expresses the statement."""

    reason: Prose = Field(description="Where the review says it, or what it misses, in one or two sentences.")
    score: int = Field(ge=1, le=5, description="1 not at all, 5 clearly and whole.")


class PreferenceReply(Reply):
    """A verdict for each criterion, each with its reason."""

    evidence_reason: Prose = ""
    evidence: Better = Field(description="A, B or tie.")
    actionability_reason: Prose = ""
    actionability: Better = Field(description="A, B or tie.")
    depth_reason: Prose = ""
    depth: Better = Field(description="A, B or tie.")


class ReviewedMethod(Reply):
    """One method of the idea."""

    method: Prose = Field(description="The method, in a few words.")
    support: Prose = ""
    contradictions: Prose = ""
    suggestions: Prose = ""


class ReviewedDimension(Reply):
    """One facet of the contribution."""

    dimension: Prose = Field(description="Its name.")
    strengths: Prose = ""
    weaknesses: Prose = ""
    suggestions: Prose = ""


class WholeReview(Reply):
    """A review in the form that Assay's own evaluations have; a broken entry is left out, not the others."""

    methods: Annotated[list[ReviewedMethod], SoundEntries] = Field(default_factory=list)
    dimensions: Annotated[list[ReviewedDimension], SoundEntries] = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.methods or self.dimensions):
            raise ValueError("neither a method nor a dimension is reviewed")
        return self
