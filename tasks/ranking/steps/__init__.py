"""The step of the ranking module (InnoEval, "Report Generation": pairwise comparisons along the
dimensions).
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
