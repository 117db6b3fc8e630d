"""Steps of the benchmarks: judges of reviews (ScholarEval E.1, E.3) and baseline systems (F.1)."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
