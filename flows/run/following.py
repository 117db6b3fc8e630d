"""Runs of one command, of any kind: their campaigns, steps and estimates."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from flows.run.estimates.work_estimate import WorkEstimate, estimate_steps
from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId, RunId
from schemas.run import WorkRequest
from schemas.settings import Settings
from schemas.work import Summary
from schemas.works.manuscripts import ManuscriptForm
from tasks.judging.expected import StepEstimate
from tasks.judging.step import Step
from tasks.work.course import Follow
from tasks.works import WORKS, work_named

if TYPE_CHECKING:
    from flows.run.campaign import Campaign

_CAMPAIGNS = {"evaluate": "flows.works.evaluate.evaluate:Evaluation"}
"""Of kinds that are not declared."""


@dataclass(frozen=True, slots=True)
class Following:
    """Implements `Runs` by what runs campaigns.

    Attributes:
        ran: every run that was worked on, in order.
    """

    run: "Callable[[Campaign[Any, Any]], Summary[Any]]"
    ran: list[RunId] = field(default_factory=list)

    def __call__(self, name: str, request: WorkRequest) -> Summary[Any]:
        summary = self.run(campaign_of(name, request))
        self.ran.append(RunId(summary.head.run_id))
        return summary

    def run_id(self, name: str, request: WorkRequest) -> RunId:
        campaign = campaign_of(name, request)
        with campaign.open():
            return RunId(campaign.run_id)


def campaign_of(name: str, request: Any) -> "Campaign[Any, Any]":
    """The campaign of work of any kind."""
    if name in WORKS:
        from flows.run.declared import Declared

        return Declared(work_named(name), request)
    campaign: Campaign[Any, Any] = resolve_name(_CAMPAIGNS[name])(request)
    return campaign


def steps_following(follow: Follow) -> Sequence[Step[Any, Any]]:
    """The steps that a run asks to which another one leads."""
    request: Any = follow.request
    if follow.name in WORKS:
        return work_named(follow.name).steps(request)
    from tasks.evaluation.modules import steps_of
    from tasks.steps import STEPS

    return tuple(steps_of(request.modules, STEPS, surveyed=request.survey))


def estimate_following(follow: Follow, settings: Settings) -> WorkEstimate:
    """What runs will take to which another one leads, as often as they may be done."""
    request: Any = follow.request
    counts: dict[str, int] = {}
    if follow.name in WORKS:
        from tasks.manuscripts.expected import asked_by_review
        from tasks.manuscripts.read import Manuscript

        text = Manuscript("expected", "draft.md", "", ManuscriptForm.TEXT, "", follow.text)
        looks_up = request.literature is not None
        asked = asked_by_review(text, request.parameters, looks_up=looks_up)
        steps = estimate_steps(asked, request.profile.judging, request.engine, settings)
    else:
        from flows.run.estimates.estimate import estimate_run

        idea = Idea(idea_id=IdeaId("expected"), title="", text=follow.text)
        found = estimate_run([idea], 0, request, settings)
        steps = list(found.steps)
        counts = {"literature_requests": follow.times * found.literature_requests}
    return WorkEstimate.of([_times(step, follow.times) for step in steps], counts=counts)


def _times(step: StepEstimate, times: int) -> StepEstimate:
    names = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens", "thinking_tokens")
    cost = None if step.cost_usd is None else times * step.cost_usd
    more = {name: times * getattr(step, name) for name in names}
    return replace(step, cost_usd=cost, **more)
