"""The committee's steps (InnoEval, "Method"); those of the search for knowledge among them."""

from tasks.committee.knowledge.steps import STEPS as KNOWLEDGE_STEPS
from tasks.judging.step import steps_in

STEPS = (*KNOWLEDGE_STEPS, *steps_in(__name__))
