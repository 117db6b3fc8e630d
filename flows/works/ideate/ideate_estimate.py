"""What an ideation will take, before it is paid for: rounds of versions, made and evaluated."""

from typing import Any

from pydantic import Field

from flows.run.estimates.estimate import estimate_run
from flows.run.estimates.work_estimate import WorkEstimate, estimate_steps
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.settings import Settings
from schemas.works.ideation_run import IdeationRequest
from tasks.ideation.steps.ideate_keyword import IDEATE_KEYWORD
from tasks.ideation.steps.ideate_proposal import IDEATE_PROPOSAL
from tasks.judging.expected import CHARACTERS_PER_TOKEN, Asked, StepEstimate
from tasks.judging.step import Step

PROPOSAL_TOKENS, RELATION_TOKENS, FINDING_TOKENS, PASSAGE_TOKENS = 1_000, 60, 120, 110
PROPOSAL_WORDS = 600


class IdeationEstimate(WorkEstimate):
    """What a whole run is expected to take where no version is dropped; `steps` of one version."""

    seeds: int = Field(ge=0)
    rounds: int = Field(ge=1)
    versions: int = Field(ge=0)
    literature_requests: int = Field(ge=0)


def estimate_ideation(request: IdeationRequest, settings: Settings) -> IdeationEstimate:
    """Predict a run of which no round is made yet; nothing is asked."""
    evaluation, parameters = request.evaluation, request.parameters
    writes = not evaluation.engine.is_baseline
    per_round = len(request.seeds) * parameters.per_seed
    versions = per_round * (parameters.rounds if writes else 1)
    made = _making(request, settings) if writes else []
    judged = estimate_run([_expected_version()], 0, evaluation, settings) if writes else None
    steps = (*made, *(judged.steps if judged is not None else ()))
    per_version = judged.literature_requests + 1 if judged is not None else 0
    return IdeationEstimate.of(
        steps,
        versions,
        seeds=len(request.seeds),
        rounds=parameters.rounds if writes else 1,
        versions=versions,
        literature_requests=versions * per_version,
    )


def _making(request: IdeationRequest, settings: Settings) -> list[StepEstimate]:
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
    return estimate_steps(asked, evaluation.profile.judging, evaluation.engine, settings, seed)


def _expected_version() -> Idea:
    return Idea(idea_id=IdeaId("expected"), title="", text="word " * PROPOSAL_WORDS)
