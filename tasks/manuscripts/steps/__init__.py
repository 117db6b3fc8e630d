"""The steps of the manuscript checker (quality checker, sections 2.2 and 2.3, appendix A)."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
