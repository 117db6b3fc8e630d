"""Suggestions: actionable changes to an idea, from any review."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import ColumnInfo, Noun, Prose
from schemas.outcome import Provenance


class ActionEffort(StrEnum):
    """Approximate effort of an action for the authors of the plan."""

    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"


class Suggestion(Noun):
    """One change to an idea, with its reason and the outcome that would confirm it."""

    module: str = Field(
        description="Module of the suggestion: soundness, contribution, committee or assessment."
    )
    subject: str = Field(
        description=(
            "Review of the suggestion: method_id, dimension_id, `plan` for the review of the plan"
            " and for the assessment, `meta_review`."
        )
    )
    rank: int = Field(ge=1, description="1 is the most useful of its review.")
    change: Prose = Field(min_length=1, description="Content to change, add, replace or drop.")
    because: Prose = Field(
        description=(
            "Reason: Markdown with citations; of the plan's review a quote of the plan, or the"
            " content missing from it."
        )
    )
    how: Prose = Field(
        default="",
        description="Data set, baseline, sample size or statistic; empty: not stated.",
    )
    effort: ActionEffort | None = Field(
        default=None,
        description="Effort of the change; None: not stated.",
    )
    deciding_outcome: Prose = Field(
        default="", description="Outcome that would decide whether the change was right."
    )
    concern_id: Annotated[str, ColumnInfo(references="concerns.concern_id")] | None = Field(
        default=None, description="The concern that it answers; None: no particular one."
    )
    citation_keys: tuple[str, ...] = Field(
        default=(),
        description="Keys of its citations in `citations`, by its module and subject.",
    )
    provenance: Provenance
