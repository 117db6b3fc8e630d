"""Estimate of a ranking: calls, tokens and cost from the sizes of its groups."""

from collections import Counter
from collections.abc import Collection, Sequence

from pydantic import Field

from schemas.base import Noun
from schemas.idea import Idea
from schemas.judgement.run_request import RunRequest
from schemas.profile import Profile, RankingParameters
from schemas.run import Module
from schemas.settings import Settings
from tasks.judging.batches.expected import BatchEstimate, estimate_waves
from tasks.judging.expected import CHARACTERS_PER_TOKEN, CLAIM_TOKENS, ExpectedCalls, estimate_step
from tasks.ranking.dimensions import dimensions_of
from tasks.ranking.dossier import EVIDENCE_SHOWN, TEXTS_SHOWN
from tasks.ranking.schedule import most_bridges
from tasks.ranking.steps.compare_ideas import COMPARE_IDEAS

TOKENS_PER_TEXT = 130
"""Tokens of a strength, weakness or paper text; measured on 40 ideas of real groups."""
TOKENS_PER_DIMENSION = 45
TOKENS_PER_VERDICT = 70
TOKENS_PER_READING = 130
"""Tokens written about each idea before the comparison."""


class RankingEstimate(Noun):
    """Upper bound of a ranking.

    The schedule of a large group often ends earlier.

    `cost_usd` is None if a price is unknown.
    """

    groups: int = Field(ge=0)
    pairs: int = Field(ge=0, description="Pairs of ideas that meet, within groups and between.")
    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0, description="As they are billed: answers and thinking.")
    thinking_tokens: int = Field(ge=0, description="Of the completion tokens.")
    cost_usd: float | None
    unpriced_models: tuple[str, ...] = Field(
        default=(), description="Models whose price is unknown."
    )
    batches: BatchEstimate | None = Field(
        default=None, description="None: questions are asked by calls."
    )


def estimate_ranking(
    ideas: Sequence[Idea], request: RunRequest, settings: Settings, *, ranked: bool = False
) -> RankingEstimate:
    """Estimate the ranking of `ideas` in their given groups.

    In a batch the matches of all groups are independent and form one wave.

    Args:
        ranked: True if these ideas are already ranked and nothing is left to call.
    """
    modules = request.parameters.modules
    groups, pairs, calls = calls_of_ranking(ideas, request.profile, modules)
    pairs = 0 if ranked else pairs
    step = estimate_step(
        COMPARE_IDEAS,
        calls,
        0.0,
        request.profile.judging,
        request.engine,
        settings.language_model,
        by_batch=request.parameters.batch,
    )
    if ranked:
        step = None
    return RankingEstimate(
        groups=groups,
        pairs=pairs,
        model_calls=round(step.calls) if step else 0,
        prompt_tokens=round(step.prompt_tokens) if step else 0,
        completion_tokens=round(step.completion_tokens) if step else 0,
        thinking_tokens=round(step.thinking_tokens) if step else 0,
        cost_usd=step.cost_usd if step else 0.0,
        unpriced_models=step.unpriced_models if step else (),
        batches=estimate_waves(1 if step and pairs else 0) if request.parameters.batch else None,
    )


def calls_of_ranking(
    ideas: Sequence[Idea], profile: Profile, modules: Collection[Module]
) -> tuple[int, int, ExpectedCalls]:
    """Return the number of groups, the number of pairs, and the expected calls at most.

    Args:
        modules: modules of the evaluation.
    """
    sizes, parameters = Counter(idea.group for idea in ideas), profile.ranking
    bridge_count = most_bridges(len(sizes), parameters)
    pairs = bridge_count + sum(most_pairs(size, parameters) for size in sizes.values())
    calls = calls_of(pairs, parameters)
    idea_tokens = sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(len(ideas), 1)
    claims = CLAIM_TOKENS if Module.COMMITTEE in modules else 0.0
    tokens_per_idea = idea_tokens + claims + (EVIDENCE_SHOWN + 2 * TEXTS_SHOWN) * TOKENS_PER_TEXT
    dimensions = len(dimensions_of(profile))
    data = calls * (dimensions * TOKENS_PER_DIMENSION + 2 * tokens_per_idea)
    reply_tokens = dimensions * TOKENS_PER_VERDICT + 2 * TOKENS_PER_READING
    return len(sizes), pairs, ExpectedCalls(calls, data, calls * reply_tokens)


def most_calls(size: int, parameters: RankingParameters) -> int:
    """Return the most comparisons that a group of `size` ideas can need."""
    return calls_of(most_pairs(size, parameters), parameters)


def calls_of(pairs: int, parameters: RankingParameters) -> int:
    """Return the calls for this number of pairs."""
    return pairs * (2 if parameters.both_orders else 1)


def most_pairs(size: int, parameters: RankingParameters) -> int:
    """Return all pairs of a small group, or the limit of a large one.

    The limit follows from `matches_per_idea`.
    """
    every = size * (size - 1) // 2
    return (
        every
        if size <= parameters.round_robin_limit
        else min(every, size * parameters.matches_per_idea // 2)
    )
