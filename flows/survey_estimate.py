"""What a survey will take, before it is paid for."""

from typing import Any

from pydantic import Field

from flows.estimate import unpriced
from schemas.base import Noun
from schemas.settings import Settings
from schemas.survey_run import SurveyRequest
from tasks.judging.expected import CHARACTERS_PER_TOKEN, StepEstimate, estimate_step, total_usd
from tasks.judging.step import Step
from tasks.survey.expected import expected_requests, expected_survey, steps_of


class SurveyEstimate(Noun):
    """What a whole run is expected to take. `cost_usd` is None when a price is unknown, 0 without
    a model.
    """

    questions: int = Field(ge=0)
    literature_requests: int = Field(ge=0)
    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0, description="As they are billed: answers and thinking.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...] = Field(description="Models whose price is unknown.")
    steps: tuple[StepEstimate, ...] = Field(description="Of one question.")


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
    cost = total_usd(step.cost_usd for step in steps)
    requests = expected_requests(request.parameters, unlimited=request.literature.unlimited)
    return SurveyEstimate(
        questions=count,
        literature_requests=count * requests,
        model_calls=round(count * sum(step.calls for step in steps)),
        prompt_tokens=round(count * sum(step.prompt_tokens for step in steps)),
        completion_tokens=round(count * sum(step.completion_tokens for step in steps)),
        cost_usd=None if cost is None else count * cost,
        unpriced_models=unpriced(steps),
        steps=steps,
    )
