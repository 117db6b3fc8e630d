"""`assess_plan`: how probable it is, by each criterion, that reviewers of the field prefer the plan
to the median plan submitted to their usual venue.

Baseline: none. Classic text processing has no idea of what reviewers prefer.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judgement.assessment import AssessmentCriterion
from schemas.judging import StepKind
from tasks.assessment.steps.shown import ConcernShown, MethodShown, WorkShown
from tasks.judging.reply_fields import OptionalPercent, SoundEntries, Text, by_key
from tasks.judging.step import Step, no_baseline

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
        """Return the entry for `criterion`; None: there is none."""
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
