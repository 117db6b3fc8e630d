"""What a run will take, before paying: requests, calls, tokens, dollars and hours, from the profile and the ideas.

Held against runs of the bundled ideas over a snapshot of 87,106 papers, with a model server on loopback that named 7 methods
and 8 statements in 4 dimensions and found 38 % of the papers relevant (`tests/flows/test_estimate.py` keeps the figures).
How long a model's answers are depends on the model: completion tokens are those of ScholarEval's released code.
"""

import math
from collections.abc import Sequence

from pydantic import Field

from schemas.base import Noun
from schemas.idea import Idea
from schemas.run import Module, RunRequest
from schemas.settings import Settings
from tasks.judging.registry import STEPS

CHARACTERS_PER_TOKEN = 4.0
FRAME_TOKENS = 120
"""Of every prompt beside template, idea and evidence: tags, keys, titles and the question itself."""
TOKENS_PER_WORD = 1.35
ABSTRACT_TOKENS = 290
"""Of 87,106 abstracts, 1,144 characters on average."""
DIMENSION_TOKENS = 120
"""Name and statements of one dimension."""
EXPECTED_METHODS = 7
EXPECTED_DIMENSIONS = 4
EXPECTED_STATEMENTS_PER_DIMENSION = 2
"""ScholarEval's released code on five ideas: 6 to 8 methods, 5 to 11 contribution statements."""
EXPECTED_RELEVANT_SHARE = 0.38
EXPECTED_NEW_PER_QUERY_SHARE = 0.8
SECONDS_PER_CALL = 5.0
PAPERS_PER_REFERENCE_BATCH = 100


class StepEstimate(Noun):
    """Calls and tokens of one step, per idea."""

    step: str
    calls: float = Field(ge=0)
    prompt_tokens: float = Field(ge=0)
    completion_tokens: float = Field(ge=0)


class Estimate(Noun):
    """What a whole run is expected to take. `cost_usd` is None when no price is known, 0 without a model."""

    ideas: int
    rejected: int
    literature_requests: int
    model_calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    hours: float
    bound_by: str = Field(description="What the hours are spent waiting for: literature rate, model, or processor.")
    steps: tuple[StepEstimate, ...]


def estimate_run(
    ideas: Sequence[Idea], rejected: int, request: RunRequest, settings: Settings, price: tuple[float, float] | None
) -> Estimate:
    """Predict a run over `ideas` that are all still to be evaluated.

    Args:
        price: dollars per prompt and per completion token; None when unknown; ignored by the extractive engine.
    """
    idea_tokens = sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(len(ideas), 1)
    steps, requests = _per_idea(request, idea_tokens)
    paid = () if request.engine == "extractive" else steps
    count = len(ideas)
    calls = count * sum(step.calls for step in paid)
    prompt, completion = (count * sum(getattr(step, name) for step in paid) for name in ("prompt_tokens", "completion_tokens"))
    cost = 0.0 if request.engine == "extractive" else None if price is None else prompt * price[0] + completion * price[1]
    hours, bound_by = _hours(count, count * requests, calls, request, settings)
    return Estimate(
        ideas=count,
        rejected=rejected,
        literature_requests=round(count * requests),
        model_calls=round(calls),
        prompt_tokens=round(prompt),
        completion_tokens=round(completion),
        cost_usd=cost,
        hours=hours,
        bound_by=bound_by,
        steps=paid,
    )


def _per_idea(request: RunRequest, idea_tokens: float) -> tuple[tuple[StepEstimate, ...], float]:
    counts: dict[str, tuple[float, float, float]] = {}
    requests = 0.0
    if Module.SOUNDNESS in request.modules:
        counts |= _soundness(request)
        requests += 2 * min(request.profile.soundness.maximum_methods, EXPECTED_METHODS)
    if Module.CONTRIBUTION in request.modules:
        contribution, contribution_requests = _contribution(request)
        counts |= contribution
        requests += contribution_requests
    steps = []
    for step in STEPS:
        if step.name in counts:
            calls, data_tokens, completion = counts[step.name]
            prompt = len(step.template) / CHARACTERS_PER_TOKEN + FRAME_TOKENS + idea_tokens + data_tokens
            steps.append(StepEstimate(step=step.name, calls=calls, prompt_tokens=calls * prompt, completion_tokens=calls * completion))
    return tuple(steps), requests


def _soundness(request: RunRequest) -> dict[str, tuple[float, float, float]]:
    parameters = request.profile.soundness
    methods = min(parameters.maximum_methods, EXPECTED_METHODS)
    papers = parameters.papers_per_method
    if request.literature.startswith("snapshot:"):
        papers = min(papers, parameters.snippets_per_method)  # a snapshot's passages cite no further papers
    readings = math.ceil(papers / parameters.papers_per_reading_call)
    paper = min(parameters.section_word_limit * TOKENS_PER_WORD * 3, 6400) if request.full_text else ABSTRACT_TOKENS
    return {
        "extract_methods": (1, 0, 600),
        "soundness_query": (methods, 60, 40),
        "method_evidence": (methods * readings, parameters.papers_per_reading_call * paper, parameters.papers_per_reading_call * 250),
        "soundness_review": (methods, papers * EXPECTED_RELEVANT_SHARE * 250, 700),
        "soundness_summary": (1, methods * 700, 350),
    }


def _contribution(request: RunRequest) -> tuple[dict[str, tuple[float, float, float]], float]:
    parameters = request.profile.contribution
    dimensions = min(parameters.maximum_dimensions, EXPECTED_DIMENSIONS)
    queries = dimensions * EXPECTED_STATEMENTS_PER_DIMENSION * parameters.queries_per_statement
    found = min(queries * parameters.papers_per_query * EXPECTED_NEW_PER_QUERY_SHARE, parameters.maximum_judged_papers)
    seeds = min(found * EXPECTED_RELEVANT_SHARE, parameters.maximum_seeds)
    per_call = parameters.papers_per_relevance_call
    relevance_calls = math.ceil(found / per_call) + math.ceil(parameters.embedding_top / per_call)
    compared = parameters.papers_compared
    comparison_calls = math.ceil(compared / parameters.papers_per_comparison_call)
    requests = queries + (seeds if parameters.recommendations_per_seed else 0)
    requests += math.ceil(seeds / PAPERS_PER_REFERENCE_BATCH) if parameters.references_per_seed else 0
    counts = {
        "extract_dimensions": (1.0, 0.0, 425.0),
        "contribution_queries": (dimensions, 80, 60),
        "relevance": (relevance_calls, per_call * ABSTRACT_TOKENS, per_call * 100),
        "compare_paper": (
            comparison_calls,
            parameters.papers_per_comparison_call * ABSTRACT_TOKENS + dimensions * DIMENSION_TOKENS,
            parameters.papers_per_comparison_call * dimensions * 110,
        ),
        "contribution_review": (dimensions, compared * 90, 600),
    }
    return counts, requests


def _hours(ideas: int, requests: float, calls: float, request: RunRequest, settings: Settings) -> tuple[float, str]:
    waits = {"processor": ideas * 4.0 / request.workers}
    if not request.literature.startswith("snapshot:"):
        waits["literature rate"] = requests / settings.literature.requests_per_second
    if calls:
        in_flight = min(settings.language_model.maximum_concurrency, request.ideas_in_flight * 4) * request.workers
        waits["model"] = calls * SECONDS_PER_CALL / in_flight
        if settings.language_model.requests_per_minute:
            waits["model rate"] = calls * 60 / settings.language_model.requests_per_minute
    slowest = max(waits, key=lambda name: waits[name])
    return waits[slowest] / 3600, slowest
