"""What a draft by a model will take, before it is paid for."""

from collections.abc import Iterator

from pydantic import Field

from flows.check_estimate import asked_by_review
from flows.estimate import unpriced
from schemas.base import Noun
from schemas.check_run import CheckRequest
from schemas.draft_run import DraftRequest
from schemas.manuscripts import ManuscriptForm
from schemas.settings import Settings
from tasks.judging.expected import StepEstimate, estimate_step, total_usd
from tasks.manuscripts.read import Manuscript
from tasks.writing.draft_shard import sees
from tasks.writing.expected import asked_of_draft

MOST_PROBLEMS = 8
"""Asked of the review of a draft."""


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
    asked = asked_of_draft(
        request.material, request.outline, sees=sees(request, settings), review=request.review
    )
    estimates = (
        estimate_step(step, one, 0.0, judging, engine, settings.language_model)
        for step, one in asked.items()
        if one.calls
    )
    steps = tuple(each for each in estimates if each is not None)
    if request.review:
        steps += tuple(_reviewing(request, settings))
    return DraftEstimate(
        sections=len(request.outline),
        model_calls=round(sum(step.calls for step in steps)),
        prompt_tokens=round(sum(step.prompt_tokens for step in steps)),
        completion_tokens=round(sum(step.completion_tokens for step in steps)),
        cost_usd=total_usd(step.cost_usd for step in steps),
        unpriced_models=unpriced(steps),
        steps=steps,
    )


def _reviewing(request: DraftRequest, settings: Settings) -> Iterator[StepEstimate]:
    """What a review of a text as long as the outline plans asks."""
    text = "\n\n".join(
        f"# {section.heading}\n\n{'word ' * section.planned_words}" for section in request.outline
    )
    draft = Manuscript(request.draft_id, "draft.md", "", ManuscriptForm.TEXT, "", text)
    asked = CheckRequest(
        sources=(),
        warehouse=request.warehouse,
        engine=request.engine,
        maximum_problems=MOST_PROBLEMS,
        review=True,
    )
    yield from asked_by_review(draft, asked, settings)
