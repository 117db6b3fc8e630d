"""The steps of the benchmarks: judges of reviews (ScholarEval E.1, E.3) and baselines that are systems of their own (F.1)."""

from typing import Any

from tasks.benchmarks.steps.judge_coverage import JUDGE_COVERAGE
from tasks.benchmarks.steps.judge_preference import JUDGE_PREFERENCE
from tasks.benchmarks.steps.prompt_only import PROMPT_ONLY
from tasks.benchmarks.steps.prompt_with_search import PROMPT_WITH_SEARCH
from tasks.judging.step import Step

STEPS: tuple[Step[Any, Any], ...] = (
    JUDGE_COVERAGE,
    JUDGE_PREFERENCE,
    PROMPT_ONLY,
    PROMPT_WITH_SEARCH,
)
