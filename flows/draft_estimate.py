"""What a draft by a model will take, before it is paid for."""

from pydantic import Field

from flows.estimate import unpriced
from schemas.base import Noun
from schemas.draft_run import DraftRequest
from schemas.settings import Settings
from tasks.judging.expected import StepEstimate, estimate_step, total_usd
from tasks.writing.expected import asked_of_draft


class DraftEstimate(Noun):
    """What a draft is expected to take. `cost_usd` is None when a price is unknown, 0 without a
    model.
    """

    sections: int = Field(ge=0)
    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0, description="As they are billed: answers and thinking.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...] = Field(description="Models whose price is unknown.")
    steps: tuple[StepEstimate, ...]


def estimate_draft(request: DraftRequest, settings: Settings) -> DraftEstimate:
    """Predict a draft of which nothing has landed yet; nothing is asked."""
    judging, engine = request.profile.judging, request.engine
    estimates = (
        estimate_step(step, asked, 0.0, judging, engine, settings.language_model)
        for step, asked in asked_of_draft(request.material, request.outline).items()
    )
    steps = tuple(each for each in estimates if each is not None)
    return DraftEstimate(
        sections=len(request.outline),
        model_calls=round(sum(step.calls for step in steps)),
        prompt_tokens=round(sum(step.prompt_tokens for step in steps)),
        completion_tokens=round(sum(step.completion_tokens for step in steps)),
        cost_usd=total_usd(step.cost_usd for step in steps),
        unpriced_models=unpriced(steps),
        steps=steps,
    )
