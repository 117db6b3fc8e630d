"""What a ranking will ask, from the sizes of its groups."""

from pathlib import Path

import pytest

from flows.run.requests import request_of
from flows.works.evaluate.request import bundled_file
from schemas.base import replace
from schemas.choices import EngineChoice
from schemas.idea import Idea
from schemas.identifiers import IdeaId
from schemas.judgement.run_request import RunRequest
from schemas.judging import AskingParameters, Effort, JudgingParameters
from schemas.options.commands import RunOptions
from schemas.run import Module
from schemas.settings import LanguageModelSettings, Settings
from tasks.evaluation.work import EVALUATE
from tasks.ranking.expected import TOKENS_PER_VERDICT, estimate_ranking

PRICED = LanguageModelSettings(
    prompt_price_usd_per_million_tokens=1.0, completion_price_usd_per_million_tokens=4.0
)
SETTINGS = Settings(language_model=PRICED)
PRICE = (1e-6, 4e-6)


def ideas(*sizes: int) -> list[Idea]:
    return [
        Idea(
            idea_id=IdeaId(f"g{group}-{number}"),
            title="An idea",
            text="We test it on held-out data. " * 20,
            group=f"g{group}",
        )
        for group, size in enumerate(sizes)
        for number in range(size)
    ]


def request_for(warehouse: Path, model: str | None) -> RunRequest:
    options = RunOptions(warehouse=warehouse, engine=EngineChoice(model))
    return request_of(EVALUATE, (bundled_file("ideas.jsonl"),), options, Settings())


@pytest.mark.parametrize(
    ("sizes", "pairs"),
    [((1,), 0), ((2,), 1), ((4, 4), 12), ((8,), 28), ((100,), 1200), ((20,), 190)],
)
def test_small_groups_play_every_pair_and_large_ones_what_their_ideas_may(
    sizes: tuple[int, ...], pairs: int, tmp_path: Path
) -> None:
    request = request_for(tmp_path, "openai/judge")
    parameters = replace(request.profile.ranking, matches_per_idea=24)
    request = replace(request, profile=replace(request.profile, ranking=parameters))
    estimate = estimate_ranking(ideas(*sizes), request, SETTINGS)
    assert (estimate.pairs, estimate.model_calls, estimate.groups) == (pairs, 2 * pairs, len(sizes))
    assert estimate.cost_usd == pytest.approx(
        estimate.prompt_tokens * PRICE[0] + estimate.completion_tokens * PRICE[1], rel=1e-4
    )
    unpriced = estimate_ranking(ideas(*sizes), request, Settings())
    assert (unpriced.cost_usd, unpriced.unpriced_models) == (None, ("openai/judge",))


def test_a_committee_and_a_dimension_of_ones_own_make_prompts_longer(tmp_path: Path) -> None:
    request = request_for(tmp_path, "openai/judge")
    parameters = request.parameters
    modules = (*parameters.modules, Module.COMMITTEE)
    with_committee = replace(request, parameters=replace(parameters, modules=modules))
    fewer = replace(
        request.profile, ranking=replace(request.profile.ranking, dimensions=("novelty",))
    )
    plain, longer, shorter = (
        estimate_ranking(ideas(4), one, SETTINGS)
        for one in (request, with_committee, replace(request, profile=fewer))
    )
    assert shorter.prompt_tokens < plain.prompt_tokens < longer.prompt_tokens
    said = plain.model_calls * 4 * TOKENS_PER_VERDICT
    assert plain.completion_tokens - shorter.completion_tokens == said


def test_the_extractive_engine_asks_no_model(tmp_path: Path) -> None:
    request = request_for(tmp_path, None)
    estimate = estimate_ranking(ideas(4), request, SETTINGS)
    assert (estimate.model_calls, estimate.cost_usd) == (0, 0.0)


def test_the_profiles_model_for_comparisons_is_asked_and_thinks(tmp_path: Path) -> None:
    request = request_for(tmp_path, "openai/of-our-own")
    own = JudgingParameters(
        steps={"compare_ideas": AskingParameters(model="openai/o3", effort=Effort.HIGH)}
    )
    assigned = replace(request, profile=replace(request.profile, judging=own))
    plain, thinking = (estimate_ranking(ideas(4), one, Settings()) for one in (request, assigned))
    assert thinking.model_calls == plain.model_calls
    assert (plain.thinking_tokens, plain.cost_usd) == (0, None)
    assert thinking.completion_tokens == plain.completion_tokens + thinking.thinking_tokens
    assert thinking.cost_usd == pytest.approx(
        thinking.prompt_tokens * 2e-6 + thinking.completion_tokens * 8e-6, rel=1e-4
    )


def test_pairs_between_groups_are_counted(tmp_path: Path) -> None:
    request = request_for(tmp_path, "openai/judge")
    ranking = replace(request.profile.ranking, bridge_pairs=5)
    bridged = replace(request, profile=replace(request.profile, ranking=ranking))
    estimate = estimate_ranking(ideas(4, 4, 4), bridged, SETTINGS)
    assert (estimate.pairs, estimate.model_calls) == (3 * 6 + 5, 2 * (3 * 6 + 5))
