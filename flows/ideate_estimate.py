"""What an ideation will take, before it is paid for: rounds of versions, made and evaluated."""

from typing import Any

from pydantic import Field

from flows.estimate import estimate_run, unpriced
from schemas.base import Noun
from schemas.idea import Idea
from schemas.ideation_run import IdeationRequest
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from tasks.ideation.steps.ideate_keyword import IDEATE_KEYWORD
from tasks.ideation.steps.ideate_proposal import IDEATE_PROPOSAL
from tasks.judging.expected import (
    CHARACTERS_PER_TOKEN,
    Asked,
    StepEstimate,
    estimate_step,
    total_usd,
)
from tasks.judging.step import Step

PROPOSAL_TOKENS, RELATION_TOKENS, FINDING_TOKENS, PASSAGE_TOKENS = 1_000, 60, 120, 110
PROPOSAL_WORDS = 600


class IdeationEstimate(Noun):
    """What a whole run is expected to take where no version is dropped. `cost_usd` is None when a
    price is unknown, 0 without a model.
    """

    seeds: int = Field(ge=0)
    rounds: int = Field(ge=1)
    versions: int = Field(ge=0)
    literature_requests: int = Field(ge=0)
    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0, description="As they are billed: answers and thinking.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...] = Field(description="Models whose price is unknown.")
    steps: tuple[StepEstimate, ...] = Field(description="Of one version.")


def estimate_ideation(request: IdeationRequest, settings: Settings) -> IdeationEstimate:
    """Predict a run of which no round is made yet; nothing is asked."""
    evaluation, parameters = request.evaluation, request.parameters
    writes = not evaluation.engine.is_baseline
    per_round = len(request.seeds) * parameters.per_seed
    versions = per_round * (parameters.rounds if writes else 1)
    made = _making(request, settings) if writes else ()
    judged = estimate_run([_expected_version()], 0, evaluation, settings) if writes else None
    steps = (*made, *(judged.steps if judged is not None else ()))
    cost = total_usd(step.cost_usd for step in steps)
    per_version = judged.literature_requests + 1 if judged is not None else 0
    return IdeationEstimate(
        seeds=len(request.seeds),
        rounds=parameters.rounds if writes else 1,
        versions=versions,
        literature_requests=versions * per_version,
        model_calls=round(versions * sum(step.calls for step in steps)),
        prompt_tokens=round(versions * sum(step.prompt_tokens for step in steps)),
        completion_tokens=round(versions * sum(step.completion_tokens for step in steps)),
        cost_usd=None if cost is None else versions * cost,
        unpriced_models=unpriced(steps),
        steps=steps,
    )


def _making(request: IdeationRequest, settings: Settings) -> tuple[StepEstimate, ...]:
    parameters, evaluation = request.parameters, request.evaluation
    shown, papers = parameters.candidates_shown, parameters.papers_per_relation
    seed = sum(len(seed.text) for seed in request.seeds) / CHARACTERS_PER_TOKEN / len(request.seeds)
    later = (parameters.rounds - 1) / parameters.rounds
    findings = later * parameters.findings_shown * FINDING_TOKENS
    asked: dict[Step[Any, Any], Asked] = {
        IDEATE_KEYWORD: Asked(
            1.0,
            shown * (papers * PASSAGE_TOKENS + RELATION_TOKENS) + findings,
            shown * RELATION_TOKENS,
        ),
        IDEATE_PROPOSAL: Asked(
            1.0,
            shown * RELATION_TOKENS + papers * PASSAGE_TOKENS + findings + later * PROPOSAL_TOKENS,
            PROPOSAL_TOKENS,
        ),
    }
    found = (
        estimate_step(
            step, each, seed, evaluation.profile.judging, evaluation.engine, settings.language_model
        )
        for step, each in asked.items()
    )
    return tuple(each for each in found if each is not None)


def _expected_version() -> Idea:
    return Idea(idea_id=IdeaId("expected"), title="", text="word " * PROPOSAL_WORDS)
