"""Outcomes of steps, either scored or unscored, and confidences of scores from 0 to 3.

A missing answer is never a number.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from statistics import median_low
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import Field, model_validator

from schemas.base import ColumnInfo, Noun
from schemas.reasons import About, Reason, reasons_about

ValueT = TypeVar("ValueT")
OtherT = TypeVar("OtherT")


class Provenance(Noun):
    """Origin of an answer, sufficient to reproduce it and to find its paid calls."""

    step: str = Field(description="Step that judged.")
    step_version: int = Field(ge=1, description="Version of the step.")
    prompt_sha256: str = Field(description="Hash of the step's prompt template.")
    engine: str = Field(description="Engine that answered: extractive or litellm:<model>.")
    model_requested: str = Field(description="Model asked for.")
    model_answered: str | None = Field(
        description="Model as the provider names it; None without a reply.",
    )
    seed: int | None = Field(description="Seed sent to the model; None when none was.")
    created_at: datetime = Field(description="When the judgement was made.")
    shortening: str | None = Field(
        default=None,
        description="Parts left out of a long input, with the rule; None: nothing.",
    )
    call_ids: tuple[str, ...] = Field(
        default=(),
        description="Rows of llm_calls paid for the judgement.",
    )

    @property
    def model_seed(self) -> int | None:
        """The seed, under the column's name in tables that have another `seed`."""
        return self.seed


@dataclass(frozen=True, slots=True)
class Scored(Generic[ValueT]):
    """Answer of a step."""

    value: ValueT
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Unscored:
    """Missing answer of a step, with a reason from the closed list."""

    reason: Reason
    detail: str
    provenance: Provenance

    @property
    def columns(self) -> dict[str, Any]:
        """Columns of a row without a score."""
        return {
            "unscored_reason": self.reason,
            "unscored_detail": self.detail,
            "provenance": self.provenance,
        }


Outcome = Scored[ValueT] | Unscored

UnscoredReason = Annotated[
    Annotated[Reason, ColumnInfo(allowed=reasons_about(About.SCORE))] | None,
    Field(description="Why there is no score; None when scored."),
]
UnitUnscoredReason = Annotated[
    Annotated[
        Reason, ColumnInfo(allowed=(*reasons_about(About.SCORE), *reasons_about(About.COMMAND)))
    ]
    | None,
    Field(description="Why the whole unit has no outcome; None if it has one."),
]
"""Reason of a unit of work, which includes errors of Assay itself."""
UnscoredDetail = Annotated[
    str,
    Field(description="One line about the reason; empty when scored."),
]


class Judged(Noun):
    """Base of nouns with either a judgement or the reason why it is missing.

    Attributes:
        JUDGEMENT: fields of the judgement; None and empty values count as missing.
        REASON: field of the reason.
        MAY_BE_NEITHER: whether both may be missing.
    """

    JUDGEMENT: ClassVar[tuple[str, ...]]
    REASON: ClassVar[str] = "unscored_reason"
    MAY_BE_NEITHER: ClassVar[bool] = False

    @model_validator(mode="after")
    def _a_judgement_or_a_reason(self) -> Self:
        has_judgement = any(getattr(self, name) not in (None, "", ()) for name in self.JUDGEMENT)
        has_reason = getattr(self, self.REASON) is not None
        if has_judgement and has_reason:
            raise ValueError(f"{', '.join(self.JUDGEMENT)} and {self.REASON}: one of both only")
        if not (has_judgement or has_reason or self.MAY_BE_NEITHER):
            raise ValueError(f"{', '.join(self.JUDGEMENT)} or {self.REASON}: one is needed")
        return self


CONFIDENCE_MEANING = (
    "0 none or too little evidence, 1 little, 2 fair, 3 several strong and independent pieces"
)
Confidence = Annotated[int, Field(ge=0, le=3)]


def confidence_by_evidence(*, strong: int, fair: int) -> int:
    """Return the confidence, 0 to 3, of a score with `strong` and `fair` pieces of evidence.

    With w = 2 · strong + fair: 0 if w < 2; 1 if w < 4; 3 if w ≥ 6 and at least two pieces are
    strong; else 2.
    """
    weight = 2 * strong + fair
    if weight < 2:
        return 0
    if weight < 4:
        return 1
    return 3 if weight >= 6 and strong >= 2 else 2


def confidence_of_all(confidences: Iterable[int | None]) -> int:
    """Return the lower median of confidences; None counts as 0, and none at all as 0."""
    numbers = [confidence or 0 for confidence in confidences]
    return median_low(numbers) if numbers else 0
