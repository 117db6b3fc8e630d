"""Outcome = Scored | Unscored. An answer that could not be had is never a number. And how sure a
score is, apart from the score itself: 0 to 3.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median_low
from typing import Annotated, ClassVar, Generic, Self, TypeVar

from pydantic import Field, model_validator

from schemas.base import Noun, Stored
from schemas.reasons import About, Reason, reasons_about

ValueT = TypeVar("ValueT")
OtherT = TypeVar("OtherT")


class Provenance(Noun):
    """Origin of an answer: enough to make it again and to find the calls that were paid for it."""

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

    @property
    def model_seed(self) -> int | None:
        """The seed, as the column is called beside a `seed` of what was judged."""
        return self.seed


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


CONFIDENCE_MEANING = (
    "0 none or too little evidence, 1 little, 2 fair, 3 several strong and independent pieces"
)
Confidence = Annotated[int, Field(ge=0, le=3)]


def confidence_by_evidence(*, strong: int, fair: int) -> int:
    """Confidence 0 to 3 in a score that rests on `strong` and `fair` pieces of evidence.

    With w = 2 · strong + fair: 0 where w < 2; 1 where w < 4; 3 where w ≥ 6 and two pieces are
    strong; else 2.
    """
    weight = 2 * strong + fair
    if weight < 2:
        return 0
    if weight < 4:
        return 1
    return 3 if weight >= 6 and strong >= 2 else 2


def confidence_of_all(confidences: Iterable[int | None]) -> int:
    """Of several judgements together: the median, the lower of two; None, an unscored one, counts
    as 0. 0 without any.
    """
    numbers = [confidence or 0 for confidence in confidences]
    return median_low(numbers) if numbers else 0
