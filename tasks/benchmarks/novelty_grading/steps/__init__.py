"""The grading steps, in order of work (RINoBench §4.2.2: G-Eval for alignment, FActScore's extract and verify for aspects)."""

from typing import Any

from tasks.benchmarks.novelty_grading.steps.check_aspect import CHECK_ASPECT
from tasks.benchmarks.novelty_grading.steps.extract_aspects import EXTRACT_ASPECTS
from tasks.benchmarks.novelty_grading.steps.judge_alignment import JUDGE_ALIGNMENT
from tasks.judging.step import Step

STEPS: tuple[Step[Any, Any], ...] = (EXTRACT_ASPECTS, JUDGE_ALIGNMENT, CHECK_ASPECT)
