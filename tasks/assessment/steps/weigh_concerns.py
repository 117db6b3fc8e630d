"""`weigh_concerns`: the concerns that decide, each once, over all that is known of the idea.

Baseline: none. Classic text processing cannot tell what would change a decision.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.soundness import ConcernKind, ConcernSeverity
from schemas.judging import StepKind
from tasks.assessment.steps.shown import ConcernShown, MethodShown, WorkShown
from tasks.judging.reply_fields import Key, Prose, SoundEntries, schema_of, word_of
from tasks.judging.step import Step, no_baseline

# The words that the prompt defines.
_KINDS = tuple(kind for kind in ConcernKind if kind is not ConcernKind.STRENGTH)
_SEVERITIES = (ConcernSeverity.FATAL, ConcernSeverity.MAJOR, ConcernSeverity.MINOR)


class WeighInput(Noun):
    """Input of `weigh_concerns`.

    Attributes:
        unjudged_methods: methods of which the literature shown says nothing.
        unknown: why it is not known what exists; empty where works were compared.
        measured: a line each, what experiments on tasks found of the idea.
    """

    idea: str
    maximum_concerns: int = Field(ge=1)
    concerns: tuple[ConcernShown, ...]
    questions: tuple[ConcernShown, ...]
    strengths: tuple[str, ...]
    methods: tuple[MethodShown, ...]
    unjudged_methods: int = Field(ge=0)
    works: tuple[WorkShown, ...]
    unknown: str
    measured: str


class WeighedPoint(Reply):
    """One concern that decides. It holds where its kind and severity are known, and its quote
    stands in the plan or it names an omission.
    """

    sources: list[Key] = Field(
        default_factory=list,
        description="Keys of the points and questions that it says; empty: it is none of them.",
    )
    kind: Annotated[Annotated[ConcernKind, schema_of(_KINDS)] | None, word_of(_KINDS)] = Field(
        description="What it is about; never strength."
    )
    severity: Annotated[
        Annotated[ConcernSeverity, schema_of(_SEVERITIES)] | None, word_of(_SEVERITIES)
    ] = Field(description="fatal, major or minor.")
    point: Prose = Field(description="One or two whole sentences, at most 30 words.")
    why: Prose = Field(description="Why it would change the decision, at most 15 words.")
    quote: Prose = Field(
        default="", description="Four to twelve words of the plan, copied; else empty."
    )
    omission: Prose = Field(default="", description="What the plan lacks; empty beside a quote.")
    action: Prose = Field(default="", description="The remedy, at most 15 words.")
    would_change: Prose = Field(
        default="", description="The fact or result that would settle it, at most 12 words."
    )


class WeighReply(Reply):
    """Reply to `weigh_concerns`: what would change the decision most comes first."""

    concerns: Annotated[tuple[WeighedPoint, ...], SoundEntries]


WEIGH_CONCERNS = Step(
    name="weigh_concerns",
    version=3,
    package="tasks.assessment",
    input_model=WeighInput,
    output_model=WeighReply,
    baseline=no_baseline("concerns were not weighed; use --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)
