"""The one list of steps, topic by topic.

Flows, tests, the plan and the data dictionary iterate it.
"""

from typing import Any

from tasks.benchmarks.steps import STEPS as BENCHMARK_STEPS
from tasks.curation.steps import STEPS as CURATION_STEPS
from tasks.evaluation.steps import STEPS as EVALUATION_STEPS
from tasks.experiments.steps import STEPS as EXPERIMENT_STEPS
from tasks.ideation.steps import STEPS as IDEATION_STEPS
from tasks.judging.step import Step
from tasks.manuscripts.steps import STEPS as MANUSCRIPT_STEPS
from tasks.ranking.steps import STEPS as RANKING_STEPS
from tasks.writing.steps import STEPS as DRAFT_STEPS

STEPS: tuple[Step[Any, Any], ...] = (
    *EVALUATION_STEPS,
    *RANKING_STEPS,
    *MANUSCRIPT_STEPS,
    *CURATION_STEPS,
    *EXPERIMENT_STEPS,
    *IDEATION_STEPS,
    *DRAFT_STEPS,
    *BENCHMARK_STEPS,
)
