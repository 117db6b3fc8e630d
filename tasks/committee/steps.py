"""The committee's steps, in order of work (InnoEval, "Method"); those of the search for knowledge among them."""

from typing import Any

from schemas.judging import StepKind
from tasks.committee.answers import LaterReply, MetaReply, PersonaReply, StructureReply
from tasks.committee.baselines.concluding import conclude
from tasks.committee.baselines.later import suggest
from tasks.committee.baselines.reviewing import review
from tasks.committee.baselines.structuring import structure
from tasks.committee.knowledge.steps import STEPS as KNOWLEDGE_STEPS
from tasks.committee.questions import LaterQuestion, MetaQuestion, PersonaQuestion, StructureQuestion
from tasks.judging.step import Step

PACKAGE = "tasks.committee"

STRUCTURE_IDEA = Step(
    name="structure_idea", version=1, package=PACKAGE, input_model=StructureQuestion, output_model=StructureReply, baseline=structure
)
PERSONA_REVIEW = Step(
    name="persona_review",
    version=1,
    package=PACKAGE,
    input_model=PersonaQuestion,
    output_model=PersonaReply,
    baseline=review,
    kind=StepKind.JUDGEMENT,
)
META_REVIEW = Step(
    name="meta_review",
    version=1,
    package=PACKAGE,
    input_model=MetaQuestion,
    output_model=MetaReply,
    baseline=conclude,
    kind=StepKind.JUDGEMENT,
)
LATER_SUGGESTIONS = Step(
    name="later_suggestions",
    version=1,
    package=PACKAGE,
    input_model=LaterQuestion,
    output_model=LaterReply,
    baseline=suggest,
    kind=StepKind.JUDGEMENT,
)

STEPS: tuple[Step[Any, Any], ...] = (STRUCTURE_IDEA, *KNOWLEDGE_STEPS, PERSONA_REVIEW, META_REVIEW, LATER_SUGGESTIONS)
