"""The one list of steps, topic by topic.

Flows, tests, the plan and the data dictionary iterate it.
"""

from typing import Any

from tasks.assessment.steps import STEPS as ASSESSMENT_STEPS
from tasks.benchmarks.steps import STEPS as BENCHMARK_STEPS
from tasks.committee.steps import STEPS as COMMITTEE_STEPS
from tasks.contribution.steps import STEPS as CONTRIBUTION_STEPS
from tasks.curation.steps import STEPS as CURATION_STEPS
from tasks.experiments.steps import STEPS as EXPERIMENT_STEPS
from tasks.ideation.steps import STEPS as IDEATION_STEPS
from tasks.judging.step import Step
from tasks.judging.steps import STEPS as SHARED_STEPS
from tasks.manuscripts.steps import STEPS as MANUSCRIPT_STEPS
from tasks.novelty.steps import STEPS as NOVELTY_STEPS
from tasks.ranking.steps import STEPS as RANKING_STEPS
from tasks.recommendation.steps import STEPS as RESOURCE_STEPS
from tasks.soundness.steps import STEPS as SOUNDNESS_STEPS
from tasks.survey.steps import STEPS as SURVEY_STEPS
from tasks.writing.steps import STEPS as DRAFT_STEPS

STEPS: tuple[Step[Any, Any], ...] = (
    *SOUNDNESS_STEPS,
    *CONTRIBUTION_STEPS,
    *COMMITTEE_STEPS,
    *NOVELTY_STEPS,
    *ASSESSMENT_STEPS,
    *SHARED_STEPS,
    *RESOURCE_STEPS,
    *RANKING_STEPS,
    *MANUSCRIPT_STEPS,
    *SURVEY_STEPS,
    *CURATION_STEPS,
    *EXPERIMENT_STEPS,
    *IDEATION_STEPS,
    *DRAFT_STEPS,
    *BENCHMARK_STEPS,
)
