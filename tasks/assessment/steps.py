"""Steps of the assessment, in order: weigh, challenge, assess."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judgement.assessment import AssessmentCriterion
from schemas.judgement.soundness import ConcernKind, ConcernSeverity, ConfirmedSeverity
from schemas.judging import StepKind
from tasks.judging.reply_fields import (
    Key,
    OptionalPercent,
    Prose,
    SoundEntries,
    Text,
    by_key,
    schema_of,
    word_of,
)
from tasks.judging.step import Step, no_baseline, steps_in


class WorkShown(Noun):
    key: str
    title: str
    year: int | None
    overlap: str
    remains: str


class MethodShown(Noun):
    method: str
    support: str
    against: str


class ConcernShown(Noun):
    """A concern with its key; `weakened` is the evidence against it."""

    key: str
    point: str
    about: str
    why: str
    weakened: str = ""
    defense: str = ""


# Words defined in the prompt.
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


class ChallengeInput(Noun):
    """Input of `challenge_concerns`: no severity is shown."""

    idea: str
    concerns: tuple[ConcernShown, ...] = Field(min_length=1)
    works: tuple[WorkShown, ...]


class Defended(Reply):
    """The plan defended against one concern. It holds where the defense says something."""

    concern: Key = Field(description="The key of the concern, exactly as shown.")
    defense: Prose = Field(description="The strongest defense, at most 30 words.")
    remains: Annotated[ConfirmedSeverity | None, word_of(ConfirmedSeverity)] = Field(
        description="What remains of the concern beside the defense."
    )

    @property
    def key(self) -> str:
        return self.concern


class ChallengeReply(Reply):
    """Reply to `challenge_concerns`: one entry for each concern."""

    concerns: Annotated[tuple[Defended, ...], SoundEntries]


CHALLENGE_CONCERNS = Step(
    name="challenge_concerns",
    version=2,
    package="tasks.assessment",
    input_model=ChallengeInput,
    output_model=ChallengeReply,
    baseline=no_baseline("concerns were not challenged; use --engine litellm:MODEL"),
    kind=StepKind.JUDGEMENT,
)


MOST_REASONS = 3


class AssessInput(Noun):
    """Input of `assess_plan`.

    Attributes:
        concerns: those that stand, what would change the decision most first; no severity is shown.
        concerns_unknown: nobody could be asked for concerns, or the answers were unusable.
        strengths: of the plan, as its review names them.
        methods: the most important ones.
        unjudged_methods: methods of which the literature shown says nothing.
        unknown: why it is not known what exists; empty where works were compared.
        measured: a line each, what experiments on tasks found of the idea.
    """

    idea: str
    concerns: tuple[ConcernShown, ...]
    concerns_unknown: bool
    strengths: tuple[str, ...]
    methods: tuple[MethodShown, ...]
    unjudged_methods: int = Field(ge=0)
    works: tuple[WorkShown, ...]
    unknown: str
    measured: str


def _first_reasons(value: Any) -> Any:
    return value[:MOST_REASONS] if isinstance(value, list) else value


class CriterionReply(Reply):
    """One criterion. A panel settles what is called `score`."""

    criterion: AssessmentCriterion
    reasons: Annotated[list[Text], BeforeValidator(_first_reasons)] = Field(
        min_length=1,
        max_length=MOST_REASONS,
        description=(
            "Two or three that decide, most important first, each a sentence of at most 15 words."
        ),
    )
    score: OptionalPercent = Field(
        description=(
            "Probability in whole percent that the reviewers prefer this plan to the median plan;"
            " null for new where it is not known what exists."
        ),
    )

    @property
    def key(self) -> str:
        return self.criterion


def _uncontradicted(entries: Sequence[CriterionReply]) -> list[CriterionReply]:
    return list(by_key(entries, AssessmentCriterion).values())


class AssessReply(Reply):
    """Reply to `assess_plan`: one entry for each criterion, in the order asked for.

    A criterion that is answered twice with different content is left out.
    """

    venue: Text = Field(
        description="The usual venue and its median submitted plan: a sentence of at most 25 words."
    )
    criteria: Annotated[
        list[CriterionReply], Field(min_length=1), SoundEntries, AfterValidator(_uncontradicted)
    ]

    def of(self, criterion: AssessmentCriterion) -> CriterionReply | None:
        return next((each for each in self.criteria if each.criterion is criterion), None)


ASSESS_PLAN = Step(
    name="assess_plan",
    version=3,
    package="tasks.assessment",
    input_model=AssessInput,
    output_model=AssessReply,
    baseline=no_baseline("the plan was not assessed; use --engine litellm:MODEL"),
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
)


STEPS = steps_in(__name__)
