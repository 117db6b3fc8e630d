"""Steps about the plan: objections, questions, and the evidence on both.

Baselines: none, as text processing cannot judge a design.
"""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.soundness import ConcernKind, ConcernSeverity
from schemas.judgement.suggestion import ActionEffort
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.judging.findings_of_judges import Finding, FindingsReply
from tasks.judging.reply_fields import Key, Prose, SoundEntries, schema_of, word_of
from tasks.judging.step import Step, no_baseline

# Words defined in the prompt.
KINDS = tuple(
    kind
    for kind in ConcernKind
    if kind not in (ConcernKind.WORTH, ConcernKind.NOVELTY, ConcernKind.DERIVATION)
)
_QUESTION_KINDS = tuple(kind for kind in KINDS if kind is not ConcernKind.STRENGTH)
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


class ProposedPoint(Finding):
    """One point about the plan. It holds where its kind is known and it has a quote or an
    omission.
    """

    TEXT = "point"

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


class PlanReply(FindingsReply):
    """Reply to `plan_review`: the point that would change the decision most comes first."""

    LIST = "points"

    # A plan without a flaw has a strength: without any point nobody judged it.
    points: tuple[ProposedPoint, ...] = Field(min_length=1)


_NO_REVIEW = no_baseline(
    "the plan itself was not judged; use --engine litellm:MODEL for a review of it"
)


PLAN_REVIEW = Step(
    name="plan_review",
    version=5,
    package="tasks.soundness",
    input_model=PlanInput,
    output_model=PlanReply,
    baseline=_NO_REVIEW,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)


class QuestionsInput(Noun):
    idea: str
    maximum_questions: int = Field(ge=1)


class ProposedQuestion(Finding):
    """A doubt about a single thing that the plan names. It holds where its kind is known."""

    TEXT, QUOTE = "question", "about"

    about: Prose = Field(description="Two to eight words of the plan, copied.")
    question: Prose = Field(description="At most 30 words.")
    kind: Annotated[
        Annotated[ConcernKind, schema_of(_QUESTION_KINDS)] | None, word_of(_QUESTION_KINDS)
    ]


class QuestionsReply(FindingsReply):
    """Reply to `plan_questions`, in the order of the plan."""

    LIST = "questions"

    questions: Annotated[tuple[ProposedQuestion, ...], SoundEntries]


PLAN_QUESTIONS = Step(
    name="plan_questions",
    version=1,
    package="tasks.soundness",
    input_model=QuestionsInput,
    output_model=QuestionsReply,
    baseline=_NO_REVIEW,
    kind=StepKind.JUDGEMENT,
)


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
