"""A suggestion: one change to an idea that can be carried out, whichever review makes it."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Prose, Stored
from schemas.outcome import Provenance


class ActionEffort(StrEnum):
    """What an action takes the authors of the plan, roughly."""

    HOURS = "hours"
    DAYS = "days"
    WEEKS = "weeks"
    MONTHS = "months"


class Suggestion(Noun):
    """One change to an idea, with its reason and what would decide whether it was right."""

    module: str = Field(
        description="soundness, contribution, committee or assessment: who makes it."
    )
    subject: str = Field(
        description=(
            "The review that makes it: method_id, dimension_id, `plan` for the review of the plan"
            " itself and for the assessment, `meta_review`."
        )
    )
    rank: int = Field(ge=1, description="1 is the most useful of its review.")
    change: Prose = Field(min_length=1, description="What to change, add, replace or drop.")
    because: Prose = Field(
        description=(
            "Why: Markdown with citations; of the plan's review the plan's own words, or what"
            " was looked for in it."
        )
    )
    how: Prose = Field(
        default="",
        description="With which data set, baseline, sample size, statistic; empty: not said.",
    )
    effort: ActionEffort | None = Field(
        default=None,
        description="What the change takes; None: not said.",
    )
    deciding_outcome: Prose = Field(
        default="", description="Which outcome would decide whether it was right."
    )
    concern_id: Annotated[str, Stored(references="concerns.concern_id")] | None = Field(
        default=None, description="The concern that it answers; None: no particular one."
    )
    citation_keys: tuple[str, ...] = Field(
        default=(),
        description="What it cites: keys of the rows of `citations` of its module and subject.",
    )
    provenance: Provenance
