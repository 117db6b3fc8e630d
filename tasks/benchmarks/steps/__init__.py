"""The steps of the benchmarks: judges of reviews (ScholarEval E.1, E.3) and baselines that are
systems of their own (F.1).
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
