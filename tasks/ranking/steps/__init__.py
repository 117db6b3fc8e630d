"""The step of the ranking module: pairwise comparisons along the dimensions.

Source: InnoEval, "Report Generation".
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
