"""The steps of the assessment, in alphabetical order; they are asked in the reverse one."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
