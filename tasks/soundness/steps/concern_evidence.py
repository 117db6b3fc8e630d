"""`concern_evidence`: which evidence supports or weakens the points about a plan.

Baseline: none. It would need the review of the plan, which has none either.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Key, Prose, SoundEntries, word_of
from tasks.judging.step import Step, no_baseline


class ConcernShown(Noun):
    """A point about the plan, without its severity."""

    key: str = Field(description="C1, C2, …")
    point: str


class EvidenceOfMethod(Noun):
    """The evidence on one method, with citation keys that hold across the whole idea."""

    method: str
    support: str
    contradictions: str


class BearingsInput(Noun):
    concerns: tuple[ConcernShown, ...] = Field(min_length=1)
    reviews: tuple[EvidenceOfMethod, ...] = Field(
        min_length=1, description="In order of the methods' importance."
    )


class Bearing(StrEnum):
    """Whether evidence makes a concern weightier or lighter."""

    SUPPORTS = "supports"
    WEAKENS = "weakens"


class ConcernBearing(Reply):
    """What the evidence says about one concern; None: a word outside the list."""

    concern: Key = Field(description="The key of the concern, such as C3.")
    bearing: Annotated[Bearing | None, word_of(Bearing)]
    reason: Prose = Field(
        description="The finding, in one sentence of at most 25 words, with keys such as [P3]."
    )


class BearingsReply(Reply):
    """Reply to `concern_evidence`: concerns on which the evidence bears."""

    bearings: Annotated[tuple[ConcernBearing, ...], SoundEntries]


CONCERN_EVIDENCE = Step(
    name="concern_evidence",
    version=1,
    package="tasks.soundness",
    input_model=BearingsInput,
    output_model=BearingsReply,
    baseline=no_baseline(
        "concerns were not held against the evidence; use --engine litellm:MODEL for it"
    ),
    kind=StepKind.JUDGEMENT,
)
