"""What a ranking will ask, from the sizes of its groups."""

from pathlib import Path

import pytest

from flows.rank_estimate import estimate_ranking
from flows.request import bundled, resolve_request
from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.run import Module
from schemas.settings import Settings

PRICE = (1e-6, 4e-6)


def ideas(*sizes: int) -> list[Idea]:
    return [
        Idea(idea_id=IdeaId(f"g{group}-{number}"), title="An idea", text="We test it on held-out data. " * 20, group=f"g{group}")
        for group, size in enumerate(sizes)
        for number in range(size)
    ]


@pytest.mark.parametrize(("sizes", "pairs"), [((1,), 0), ((2,), 1), ((4, 4), 12), ((8,), 28), ((100,), 1200), ((20,), 190)])
def test_small_groups_play_every_pair_and_large_ones_what_their_ideas_may(sizes: tuple[int, ...], pairs: int, tmp_path: Path) -> None:
    request = resolve_request(bundled("ideas.jsonl"), Settings(), warehouse=tmp_path, engine="litellm:openai/judge")
    parameters = replace(request.profile.ranking, matches_per_idea=24)
    request = replace(request, profile=replace(request.profile, ranking=parameters))
    estimate = estimate_ranking(ideas(*sizes), request, PRICE)
    assert (estimate.pairs, estimate.model_calls, estimate.groups) == (pairs, 2 * pairs, len(sizes))
    assert estimate.cost_usd == pytest.approx(estimate.prompt_tokens * PRICE[0] + estimate.completion_tokens * PRICE[1])
    assert estimate_ranking(ideas(*sizes), request, None).cost_usd is None


def test_a_committee_and_a_dimension_of_ones_own_make_prompts_longer(tmp_path: Path) -> None:
    request = resolve_request(bundled("ideas.jsonl"), Settings(), warehouse=tmp_path, engine="litellm:openai/judge")
    with_committee = replace(request, modules=(*request.modules, Module.COMMITTEE))
    fewer = replace(request.profile, ranking=replace(request.profile.ranking, dimensions=("novelty",)))
    plain, longer, shorter = (estimate_ranking(ideas(4), one, PRICE) for one in (request, with_committee, replace(request, profile=fewer)))
    assert shorter.prompt_tokens < plain.prompt_tokens < longer.prompt_tokens
    assert shorter.completion_tokens * 3 == plain.completion_tokens


def test_the_extractive_engine_asks_no_model(tmp_path: Path) -> None:
    request = resolve_request(bundled("ideas.jsonl"), Settings(), warehouse=tmp_path)
    estimate = estimate_ranking(ideas(4), request, None)
    assert (estimate.model_calls, estimate.cost_usd) == (0, 0.0)
