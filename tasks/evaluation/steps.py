"""Steps of an idea's evaluation, by topic."""

from typing import Any

from tasks.assessment.steps import STEPS as ASSESSMENT_STEPS
from tasks.committee.steps import STEPS as COMMITTEE_STEPS
from tasks.contribution.steps import STEPS as CONTRIBUTION_STEPS
from tasks.evaluation.preparation import PREPARATION_STEPS
from tasks.judging.step import Step
from tasks.judging.steps import STEPS as SHARED_STEPS
from tasks.novelty.steps import STEPS as NOVELTY_STEPS
from tasks.recommendation.steps import STEPS as RESOURCE_STEPS
from tasks.soundness.steps import STEPS as SOUNDNESS_STEPS
from tasks.survey.steps import STEPS as SURVEY_STEPS

STEPS: tuple[Step[Any, Any], ...] = (
    *SOUNDNESS_STEPS,
    *CONTRIBUTION_STEPS,
    *COMMITTEE_STEPS,
    *NOVELTY_STEPS,
    *ASSESSMENT_STEPS,
    *SHARED_STEPS,
    *RESOURCE_STEPS,
    *SURVEY_STEPS,
    *PREPARATION_STEPS,
)
