"""What ranking a batch by matches will take, before paying: calls, tokens and dollars, from the sizes of its groups."""

from collections import Counter
from collections.abc import Sequence

from pydantic import Field

from flows.estimate import CHARACTERS_PER_TOKEN
from schemas.base import Noun
from schemas.idea import Idea
from schemas.profile import RankingParameters
from schemas.run import Module, RunRequest
from tasks.committee.knowledge.expected import CLAIM_TOKENS
from tasks.ranking.dimensions import dimensions_of
from tasks.ranking.from_review import EVIDENCE_SHOWN, TEXTS_SHOWN
from tasks.ranking.steps import COMPARE_IDEAS

TOKENS_PER_TEXT = 130
"""Of each strength or weakness, and of what is shown of each paper, as 40 ideas of real groups were found to have."""
TOKENS_PER_DIMENSION = 45
TOKENS_PER_VERDICT = 70


class RankingEstimate(Noun):
    """Most that `assay rank` asks; the schedule of a large group often ends earlier. `cost_usd` is None when no price is known."""

    groups: int = Field(ge=0)
    pairs: int = Field(ge=0, description="Pairs of ideas that meet.")
    model_calls: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cost_usd: float | None


def estimate_ranking(ideas: Sequence[Idea], request: RunRequest, price: tuple[float, float] | None) -> RankingEstimate:
    """Predict the ranking of `ideas` in the groups they were given.

    Args:
        price: dollars per prompt and per completion token; None when unknown; ignored by the extractive engine.
    """
    sizes = Counter(idea.group for idea in ideas)
    parameters = request.profile.ranking
    pairs = sum(most_pairs(size, parameters) for size in sizes.values())
    free = request.engine == "extractive"
    calls = 0 if free else sum(most_calls(size, parameters) for size in sizes.values())
    idea_tokens = sum(len(idea.text) for idea in ideas) / CHARACTERS_PER_TOKEN / max(len(ideas), 1)
    claims = CLAIM_TOKENS if Module.COMMITTEE in request.modules else 0.0
    shown = idea_tokens + claims + (EVIDENCE_SHOWN + 2 * TEXTS_SHOWN) * TOKENS_PER_TEXT
    dimensions = len(dimensions_of(request.profile))
    prompt = round(calls * (len(COMPARE_IDEAS.template) / CHARACTERS_PER_TOKEN + dimensions * TOKENS_PER_DIMENSION + 2 * shown))
    completion = calls * dimensions * TOKENS_PER_VERDICT
    cost = 0.0 if free else None if price is None else prompt * price[0] + completion * price[1]
    return RankingEstimate(
        groups=len(sizes), pairs=pairs, model_calls=calls, prompt_tokens=prompt, completion_tokens=completion, cost_usd=cost
    )


def most_calls(size: int, parameters: RankingParameters) -> int:
    """Times that a group of `size` ideas has two of them compared, at most."""
    return most_pairs(size, parameters) * (2 if parameters.both_orders else 1)


def most_pairs(size: int, parameters: RankingParameters) -> int:
    """All pairs of a small group; of a large one at most so many as its ideas may play."""
    every = size * (size - 1) // 2
    return every if size <= parameters.round_robin_limit else min(every, size * parameters.matches_per_idea // 2)
