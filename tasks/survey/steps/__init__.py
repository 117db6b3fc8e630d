"""The steps of a survey."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
