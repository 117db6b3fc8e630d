"""`plan_review`: objections of an expert to the plan, and its strengths.

Baseline: none, as text processing cannot judge a design.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.soundness import (
    ConcernKind,
    ConcernSeverity,
)
from schemas.judgement.suggestion import ActionEffort
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.judging.reply_fields import Prose, schema_of, word_of
from tasks.judging.step import Step, no_baseline

# The words that the prompt defines.
KINDS = tuple(
    kind
    for kind in ConcernKind
    if kind not in (ConcernKind.WORTH, ConcernKind.NOVELTY, ConcernKind.DERIVATION)
)
_SEVERITIES = (ConcernSeverity.FATAL, ConcernSeverity.MAJOR, ConcernSeverity.MINOR)


class PlanInput(Noun):
    idea: str
    maximum_points: int = Field(ge=1)
    words_per_point: int | None = Field(
        default=None, ge=20, description="Asked of one point; None: as many as it needs."
    )
    near_works: str = Field(
        default="", description="A line each: what near works used, with keys; empty: not known."
    )
    measured: str = Field(
        default="",
        description=(
            "A line each: what experiments on tasks found of the idea; empty: none is known."
        ),
    )


class ProposedPoint(Reply):
    """One point about the plan. It holds where its kind is known and it has a quote or an
    omission.
    """

    kind: Annotated[Annotated[ConcernKind, schema_of(KINDS)] | None, word_of(KINDS)]
    # Questions have a list of their own, and become points of that severity once they are read.
    severity: Annotated[
        Annotated[ConcernSeverity, schema_of(_SEVERITIES)] | None, word_of(ConcernSeverity)
    ] = Field(default=None, description="null for a strength.")
    point: Prose = Field(description="One or two short sentences.")
    quote: Prose = Field(default="", description="4 to 20 words of the plan, copied; else empty.")
    omission: Prose = Field(
        default="", description="What was looked for, in a few words; empty beside a quote."
    )
    why: Prose
    would_change: Prose = ""
    action: Prose = ""
    effort: Annotated[ActionEffort | None, word_of(ActionEffort)] = None


class PlanReply(Reply):
    """Reply to `plan_review`: the point that would change the decision most comes first."""

    # A plan without a flaw has a strength: without any point nobody judged it.
    points: tuple[ProposedPoint, ...] = Field(min_length=1)


PLAN_REVIEW = Step(
    name="plan_review",
    version=5,
    package="tasks.soundness",
    input_model=PlanInput,
    output_model=PlanReply,
    baseline=no_baseline(
        "the plan itself was not judged; use --engine litellm:MODEL for a review of it"
    ),
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
