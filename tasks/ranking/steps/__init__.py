"""The step of the ranking module (InnoEval, "Report Generation": pairwise comparisons along the dimensions)."""

from typing import Any

from tasks.judging.step import Step
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS

STEPS: tuple[Step[Any, Any], ...] = (COMPARE_IDEAS,)
