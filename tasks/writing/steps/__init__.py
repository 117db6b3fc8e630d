"""The steps of a draft."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
