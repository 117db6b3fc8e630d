"""`plan_questions`: doubts about the single things that a plan names.

Baseline: none, as of `plan_review`.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.soundness import ConcernKind
from schemas.judging import StepKind
from tasks.judging.reply_fields import Prose, SoundEntries, schema_of, word_of
from tasks.judging.step import Step, no_baseline
from tasks.soundness.steps.plan_review import KINDS

_KINDS = tuple(kind for kind in KINDS if kind is not ConcernKind.STRENGTH)


class QuestionsInput(Noun):
    idea: str
    maximum_questions: int = Field(ge=1)


class ProposedQuestion(Reply):
    """A doubt about a single thing that the plan names. It holds where its kind is known."""

    about: Prose = Field(description="Two to eight words of the plan, copied.")
    question: Prose = Field(description="At most 30 words.")
    kind: Annotated[Annotated[ConcernKind, schema_of(_KINDS)] | None, word_of(_KINDS)]


class QuestionsReply(Reply):
    """Reply to `plan_questions`, in the order of the plan."""

    questions: Annotated[tuple[ProposedQuestion, ...], SoundEntries]


PLAN_QUESTIONS = Step(
    name="plan_questions",
    version=1,
    package="tasks.soundness",
    input_model=QuestionsInput,
    output_model=QuestionsReply,
    baseline=no_baseline(
        "the plan itself was not judged; use --engine litellm:MODEL for a review of it"
    ),
    kind=StepKind.JUDGEMENT,
)
