"""The steps of the manuscript checker (quality checker, sections 2.2 and 2.3, appendix A)."""

from typing import Any

from tasks.judging.step import Step
from tasks.manuscripts.steps.find_problems import FIND_PROBLEMS
from tasks.manuscripts.steps.judge_hit import JUDGE_HIT

STEPS: tuple[Step[Any, Any], ...] = (FIND_PROBLEMS, JUDGE_HIT)
