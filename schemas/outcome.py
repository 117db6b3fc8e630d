"""Outcome = Scored | Unscored. An answer that could not be had is never a number."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Generic, Self, TypeVar

from pydantic import Field, model_validator

from schemas.base import Noun, Stored
from schemas.reasons import About, Reason, reasons_about

ValueT = TypeVar("ValueT")
OtherT = TypeVar("OtherT")


class Provenance(Noun):
    """What made an answer: enough to make it again and to find the calls that were paid for it."""

    step: str = Field(description="Step that judged.")
    step_version: int = Field(ge=1, description="Version of the step.")
    prompt_sha256: str = Field(description="Hash of the step's prompt template.")
    engine: str = Field(description="Engine that answered: extractive or litellm:<model>.")
    model_requested: str = Field(description="Model asked for.")
    model_answered: str | None = Field(
        description="Model as the provider names it; None when nothing was answered.",
    )
    seed: int | None = Field(description="Seed sent to the model; None when none was.")
    created_at: datetime = Field(description="When the judgement was made.")
    shortening: str | None = Field(
        default=None,
        description="What was left out of a long input, by which rule; None: nothing.",
    )
    call_ids: tuple[str, ...] = Field(
        default=(),
        description="Rows of llm_calls paid for the judgement.",
    )


@dataclass(frozen=True, slots=True)
class Scored(Generic[ValueT]):
    """A step's answer."""

    value: ValueT
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Unscored:
    """There is no answer, for a reason from the closed list."""

    reason: Reason
    detail: str
    provenance: Provenance


Outcome = Scored[ValueT] | Unscored

UnscoredReason = Annotated[
    Annotated[Reason, Stored(allowed=reasons_about(About.SCORE))] | None,
    Field(description="Why there is no score; None when scored."),
]
UnitUnscoredReason = Annotated[
    Annotated[Reason, Stored(allowed=(*reasons_about(About.SCORE), *reasons_about(About.COMMAND)))]
    | None,
    Field(description="Why the whole unit has no outcome; None where it has one."),
]
"""Of a unit of work, over which Assay itself can fail."""
UnscoredDetail = Annotated[
    str,
    Field(description="One line about the reason; empty when scored."),
]


class Judged(Noun):
    """A noun that holds a judgement or the reason why there is none: never both, never neither.

    Attributes:
        JUDGEMENT: the fields that hold the judgement; None and empty ones hold none.
        REASON: the field that holds the reason.
        MAY_BE_NEITHER: whether there may be no judgement and no reason for that.
    """

    JUDGEMENT: ClassVar[tuple[str, ...]]
    REASON: ClassVar[str] = "unscored_reason"
    MAY_BE_NEITHER: ClassVar[bool] = False

    @model_validator(mode="after")
    def _a_judgement_or_a_reason(self) -> Self:
        judged = any(getattr(self, name) not in (None, "", ()) for name in self.JUDGEMENT)
        explained = getattr(self, self.REASON) is not None
        if judged and explained:
            raise ValueError(f"{', '.join(self.JUDGEMENT)} and {self.REASON}: one of both only")
        if not (judged or explained or self.MAY_BE_NEITHER):
            raise ValueError(f"{', '.join(self.JUDGEMENT)} or {self.REASON}: one is needed")
        return self
