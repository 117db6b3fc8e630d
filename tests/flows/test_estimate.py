"""The plan before paying: what makes it larger, what costs nothing. `test_estimate_against_a_run` holds it against a run."""

import re
from importlib import resources
from pathlib import Path

import pytest

from flows.estimate import Estimate, estimate_run
from flows.request import bundled, resolve_request
from schemas.idea import Idea
from schemas.settings import Settings
from tasks.ideas.read import read_ideas

PRICE = (2e-6, 8e-6)


@pytest.fixture(scope="module")
def ideas() -> tuple[Idea, ...]:
    return read_ideas(bundled("ideas.jsonl"), default_cutoff=None).ideas


def estimated(ideas: tuple[Idea, ...], *, price: tuple[float, float] | None = PRICE, **options: str) -> Estimate:
    options = {"engine": "litellm:openai/judge", "literature": f"snapshot:{bundled('papers.jsonl')}", **options}
    request = resolve_request(bundled("ideas.jsonl"), Settings(), warehouse=Path("none"), **options)  # type: ignore[arg-type]
    return estimate_run(ideas, 0, request, Settings(), price)


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
    assert faithful.model_calls > 3 * economy.model_calls
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


def test_full_text_takes_more_prompt_tokens_where_papers_are_read(ideas: tuple[Idea, ...]) -> None:
    abstracts, whole = (estimated(ideas, full_text=choice, literature="live") for choice in (False, True))  # type: ignore[arg-type]
    assert whole.prompt_tokens > abstracts.prompt_tokens
    assert whole.literature_requests == abstracts.literature_requests


def test_fewer_papers_in_a_call_take_more_prompt_tokens_for_the_same_papers(ideas: tuple[Idea, ...], tmp_path: Path) -> None:
    packed = resources.files("flows.profiles").joinpath("faithful.toml").read_text("utf-8")
    single = tmp_path / "single.toml"
    single.write_text(re.sub(r"papers_per_(reading|relevance)_call = \d+", r"papers_per_\1_call = 1", packed))
    assert estimated(ideas, profile=str(single)).prompt_tokens > 1.7 * estimated(ideas, profile="faithful").prompt_tokens
