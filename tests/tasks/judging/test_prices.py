"""What tokens cost: by LiteLLM's table, or by the settings for a model it does not know."""

import pytest

from schemas.settings import LanguageModelSettings
from tasks.judging.models import Price, model_info, price_of

NONE = LanguageModelSettings()
OWN = LanguageModelSettings(
    prompt_price_usd_per_million_tokens=1.0, completion_price_usd_per_million_tokens=2.0
)


def test_prices_come_from_litellm_then_from_the_settings() -> None:
    known = price_of("openai/gpt-4o-mini", OWN)
    assert known is not None
    assert (known.prompt_usd, known.completion_usd) == (1.5e-07, 6e-07)
    assert price_of("openai/of-our-own", NONE) is None
    own = price_of("openai/of-our-own", OWN)
    assert own is not None
    assert own.of(1000, 10, cached_tokens=400) == pytest.approx(1000e-6 + 20e-6)


def test_tokens_from_the_cache_cost_less_and_tokens_written_to_it_more() -> None:
    claude = price_of("anthropic/claude-sonnet-4-5", NONE)
    assert claude is not None
    assert claude.cached_usd == pytest.approx(0.1 * claude.prompt_usd)
    assert claude.written_usd == pytest.approx(1.25 * claude.prompt_usd)
    price = Price(prompt_usd=1.0, completion_usd=2.0, cached_usd=0.1, written_usd=1.25)
    assert price.of(100, 10, cached_tokens=50, written_tokens=20) == pytest.approx(30 + 5 + 25 + 20)
    assert price.of(100, 0, cached_tokens=500, written_tokens=500) == pytest.approx(10)


@pytest.mark.parametrize(
    "model",
    [
        "azure/gpt-5",
        "vertex_ai/gemini-2.5-pro",
        "vertex_ai/claude-sonnet-4-5",
        "bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0",
        "gemini/gemini-2.5-flash",
    ],
)
def test_a_model_is_priced_wherever_it_is_hosted(model: str) -> None:
    assert price_of(model, NONE) is not None


def test_a_name_without_its_provider_is_no_other_providers_model() -> None:
    assert model_info("hosted_vllm/gpt-5") == {}
    assert model_info("azure_ai/gemini-2.5-pro") == {}


def test_a_picture_has_a_price_by_tokens_or_by_itself() -> None:
    by_tokens = price_of("openai/gpt-image-1", LanguageModelSettings())
    assert by_tokens is not None
    assert by_tokens.of(100, 1_000, pictures=1) == pytest.approx(100 * 5e-6 + 1_000 * 4e-5)
    by_itself = price_of("black_forest_labs/flux-pro-1.1", LanguageModelSettings())
    assert by_itself is not None
    assert by_itself.of(100, 0, pictures=2) == pytest.approx(0.08)
