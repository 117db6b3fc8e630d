"""The plan before paying, held against what runs really took."""

from pathlib import Path

import pytest

from flows.estimate import Estimate, estimate_run
from flows.request import bundled, resolve_request
from schemas.idea import Idea
from schemas.settings import Settings
from tasks.ideas.read import read_ideas

PRICE = (2e-6, 8e-6)

RAN = {
    "economy": {
        "extract_methods": (1, 1_120),
        "soundness_query": (6, 5_919),
        "method_evidence": (12, 31_034),
        "soundness_review": (6, 12_051),
        "extract_dimensions": (1, 1_103),
        "contribution_queries": (4, 4_639),
        "relevance": (5, 37_682),
        "compare_paper": (3, 10_186),
        "contribution_review": (4, 9_481),
    },
    "faithful": {
        "extract_methods": (1, 1_165),
        "soundness_query": (7, 7_184),
        "method_evidence": (140, 236_724),
        "soundness_review": (7, 20_802),
        "extract_dimensions": (1, 1_147),
        "contribution_queries": (4, 4_818),
        "relevance": (486, 740_549),
        "compare_paper": (25, 54_565),
        "contribution_review": (4, 13_037),
    },
}
"""Calls and prompt tokens per idea: bundled ideas, 87,106 papers, a model server on loopback that answers as the estimate expects.

The summary is left out: it reads the reviews, and those of the server are shorter than a model's.
"""
REQUESTS_THAT_RAN = {"economy": 41.0, "faithful": 174.5}


@pytest.fixture(scope="module")
def ideas() -> tuple[Idea, ...]:
    return read_ideas(bundled("ideas.jsonl"), default_cutoff=None).ideas


def estimated(ideas: tuple[Idea, ...], *, price: tuple[float, float] | None = PRICE, **options: str) -> Estimate:
    options = {"engine": "litellm:openai/judge", "literature": f"snapshot:{bundled('papers.jsonl')}", **options}
    request = resolve_request(bundled("ideas.jsonl"), Settings(), warehouse=Path("none"), **options)  # type: ignore[arg-type]
    return estimate_run(ideas, 0, request, Settings(), price)


@pytest.mark.parametrize("profile", RAN)
def test_calls_and_prompt_tokens_of_every_step_come_within_a_quarter_of_a_run(profile: str, ideas: tuple[Idea, ...]) -> None:
    steps = {step.step: step for step in estimated(ideas, profile=profile).steps}
    for name, (calls, prompt_tokens) in RAN[profile].items():
        assert steps[name].calls == pytest.approx(calls, rel=0.25), name
        assert steps[name].prompt_tokens == pytest.approx(prompt_tokens, rel=0.25 if name != "soundness_review" else 0.3), name


@pytest.mark.parametrize("profile", RAN)
def test_literature_requests_come_within_a_quarter_of_a_run(profile: str, ideas: tuple[Idea, ...]) -> None:
    estimate = estimated(ideas, profile=profile)
    assert estimate.literature_requests / len(ideas) == pytest.approx(REQUESTS_THAT_RAN[profile], rel=0.25)


def test_more_ideas_take_more_of_everything(ideas: tuple[Idea, ...]) -> None:
    few, many = estimated(ideas[:4]), estimated(ideas)
    for name in ("literature_requests", "model_calls", "prompt_tokens", "completion_tokens", "cost_usd", "hours"):
        assert getattr(few, name) < getattr(many, name), name


def test_longer_ideas_take_more_prompt_tokens(ideas: tuple[Idea, ...]) -> None:
    longer = tuple(idea.model_copy(update={"text": idea.text * 3}) for idea in ideas)
    assert estimated(longer).prompt_tokens > estimated(ideas).prompt_tokens
    assert estimated(longer).model_calls == estimated(ideas).model_calls


def test_the_extractive_engine_costs_nothing_and_still_asks_the_literature(ideas: tuple[Idea, ...]) -> None:
    estimate = estimated(ideas, engine="extractive", price=None)
    assert estimate.cost_usd == 0
    assert (estimate.model_calls, estimate.prompt_tokens, estimate.steps) == (0, 0, ())
    assert estimate.literature_requests > 0


def test_an_unknown_price_is_no_price_not_zero(ideas: tuple[Idea, ...]) -> None:
    assert estimated(ideas, price=None).cost_usd is None


def test_the_faithful_profile_takes_more_than_the_economy_profile(ideas: tuple[Idea, ...]) -> None:
    economy, faithful = estimated(ideas, profile="economy"), estimated(ideas, profile="faithful")
    assert faithful.model_calls > 5 * economy.model_calls
    assert faithful.literature_requests > economy.literature_requests
    assert (faithful.cost_usd or 0) > (economy.cost_usd or 0)


def test_one_module_takes_less_than_both(ideas: tuple[Idea, ...]) -> None:
    both = estimated(ideas)
    alone = [estimated(ideas, modules=name) for name in ("soundness", "contribution")]
    assert sum(estimate.model_calls for estimate in alone) == both.model_calls
    assert sum(estimate.literature_requests for estimate in alone) == both.literature_requests


def test_no_idea_takes_nothing() -> None:
    estimate = estimated(())
    assert (estimate.model_calls, estimate.literature_requests, estimate.cost_usd, estimate.hours) == (0, 0, 0, 0)


def test_live_literature_is_bound_by_its_rate(ideas: tuple[Idea, ...]) -> None:
    estimate = estimated(ideas, engine="extractive", literature="live")
    assert estimate.bound_by == "literature rate"
    assert estimate.hours * 3600 >= estimate.literature_requests
