"""The steps that make a paper with its reviews into a rated idea (ScholarEval, appendix D.2)."""

from tasks.judging.step import steps_in

STEPS = steps_in(__name__)
