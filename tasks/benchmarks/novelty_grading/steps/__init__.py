"""The grading steps (RINoBench §4.2.2: G-Eval for alignment, FActScore's extract and verify for
aspects).
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
