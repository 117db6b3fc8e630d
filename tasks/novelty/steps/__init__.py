"""The steps of the novelty module, in order of work (RINoBench §4, Table 1)."""

from typing import Any

from tasks.judging.step import Step
from tasks.novelty.steps.judge_novelty import JUDGE_NOVELTY
from tasks.novelty.steps.novelty_queries import NOVELTY_QUERIES

STEPS: tuple[Step[Any, Any], ...] = (NOVELTY_QUERIES, JUDGE_NOVELTY)
