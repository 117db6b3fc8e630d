"""Outcome = Scored | Unscored. An answer that could not be had is never a number."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from pydantic import Field

from schemas.base import Noun
from schemas.reasons import Reason

ValueT = TypeVar("ValueT")
OtherT = TypeVar("OtherT")


class Provenance(Noun):
    """What made an answer: enough to make it again and to find the calls that were paid for it."""

    step: str
    step_version: int = Field(ge=1)
    prompt_sha256: str = Field(description="Hash of the step's prompt template.")
    engine: str
    model_requested: str
    model_answered: str | None = Field(description="As the provider names it; None when nothing was answered.")
    seed: int | None
    created_at: datetime
    shortening: str | None = Field(default=None, description="What was left out of a long input, by which rule; None: nothing.")
    call_ids: tuple[str, ...] = Field(default=(), description="Rows of `llm_calls`.")


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
