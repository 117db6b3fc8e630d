"""The step that reads what papers used."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
