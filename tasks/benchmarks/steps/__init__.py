"""Steps of the benchmarks: judges of reviews, and baseline systems.

Sources: ScholarEval E.1 and E.3 (judges), F.1 (baselines).
"""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
