"""The committee's steps, in order of work (InnoEval, "Method"); those of the search for knowledge among them."""

from typing import Any

from tasks.committee.knowledge.steps import STEPS as KNOWLEDGE_STEPS
from tasks.committee.steps.later_suggestions import LATER_SUGGESTIONS
from tasks.committee.steps.meta_review import META_REVIEW
from tasks.committee.steps.persona_review import PERSONA_REVIEW
from tasks.committee.steps.structure_idea import STRUCTURE_IDEA
from tasks.judging.step import Step

STEPS: tuple[Step[Any, Any], ...] = (
    STRUCTURE_IDEA,
    *KNOWLEDGE_STEPS,
    PERSONA_REVIEW,
    META_REVIEW,
    LATER_SUGGESTIONS,
)
