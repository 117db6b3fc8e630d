"""The steps of the contribution module (ScholarEval §2.2, B.2.2)."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
