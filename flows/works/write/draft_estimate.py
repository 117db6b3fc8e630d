"""What a draft by a model will take, before it is paid for."""

from pydantic import Field

from flows.run.estimates.work_estimate import WorkEstimate, estimate_steps
from flows.works.write.draft_review import review_request
from schemas.settings import Settings
from schemas.works.draft_run import DraftRequest
from schemas.works.manuscripts import ManuscriptForm
from tasks.judging.expected import StepEstimate
from tasks.manuscripts.expected import asked_by_review
from tasks.manuscripts.read import Manuscript
from tasks.writing.draft_shard import sees
from tasks.writing.expected import asked_of_draft, drawing_model


class DraftEstimate(WorkEstimate):
    """What a draft is expected to take."""

    sections: int = Field(ge=0)


def estimate_draft(request: DraftRequest, settings: Settings) -> DraftEstimate:
    """Predict a draft of which nothing has landed yet; nothing is asked."""
    asked = asked_of_draft(
        request.material,
        request.outline,
        sees=sees(request, settings),
        review=request.review,
        draws=drawing_model(request.profile.judging) is not None,
    )
    asked = {step: each for step, each in asked.items() if each.calls}
    steps = estimate_steps(asked, request.profile.judging, request.engine, settings)
    if request.review:
        steps += _reviewing(request, settings)
    return DraftEstimate.of(steps, sections=len(request.outline))


def _reviewing(request: DraftRequest, settings: Settings) -> list[StepEstimate]:
    """What a review of a text as long as the outline plans asks."""
    text = "\n\n".join(
        f"# {section.heading}\n\n{'word ' * section.planned_words}" for section in request.outline
    )
    draft = Manuscript(request.draft_id, "draft.md", "", ManuscriptForm.TEXT, "", text)
    review = review_request(request)
    asked = asked_by_review(draft, review.parameters, looks_up=False)
    return estimate_steps(asked, review.profile.judging, review.engine, settings)
