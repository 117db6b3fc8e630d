"""The steps of ideation, one module each."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
