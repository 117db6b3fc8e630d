"""The steps of the novelty module (RINoBench §4, Table 1)."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
