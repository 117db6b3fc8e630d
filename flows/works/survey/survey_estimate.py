"""What a survey will take, before it is paid for."""

from typing import Any

from pydantic import Field

from flows.run.estimates.work_estimate import WorkEstimate
from schemas.literature.survey_run import SurveyRequest
from schemas.settings import Settings
from tasks.judging.expected import CHARACTERS_PER_TOKEN, estimate_step
from tasks.judging.step import Step
from tasks.survey.expected import expected_requests, expected_survey, steps_of


class SurveyEstimate(WorkEstimate):
    """What a whole run is expected to take; `steps` of one question."""

    questions: int = Field(ge=0)
    literature_requests: int = Field(ge=0)


def _shows_question(step: Step[Any, Any]) -> bool:
    """Whether the question stands in the step's prompt."""
    return "question" in step.input_model.model_fields


def estimate_survey(request: SurveyRequest, settings: Settings) -> SurveyEstimate:
    """Predict a run of which no question is surveyed yet; nothing is asked."""
    count = len(request.questions)
    length = sum(len(asked.question) for asked in request.questions) / max(count, 1)
    counts = expected_survey(request.parameters, full_text=request.full_text)
    known = {step.name: step for step in steps_of(request.parameters)}
    estimated = [
        estimate_step(
            known[name],
            asked,
            length / CHARACTERS_PER_TOKEN if _shows_question(known[name]) else 0.0,
            request.profile.judging,
            request.engine,
            settings.language_model,
        )
        for name, asked in counts.items()
    ]
    steps = tuple(step for step in estimated if step is not None)
    requests = expected_requests(request.parameters, unlimited=request.literature.unlimited)
    return SurveyEstimate.of(
        steps,
        count,
        questions=count,
        literature_requests=count * requests,
    )
