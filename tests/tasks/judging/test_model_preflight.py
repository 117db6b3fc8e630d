"""Looking before paying."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import ConfigurationError
from schemas.judging import AskingParameters, Effort, JudgingParameters
from schemas.settings import LanguageModelSettings
from tasks.judging.model_preflight import (
    FIRST_CONTACT,
    GreetingReply,
    ModelUse,
    check_model,
    model_uses,
    probe_models,
)
from tasks.judging.structured_output import strict_schema
from tasks.steps import STEPS
from tests.support.openai_server import OpenAIServer

SAMPLED: dict[str, Any] = {"seed": 7, "temperature": 0.0}


def use(server: OpenAIServer | None, model: str = "openai/loopback", **changes: Any) -> ModelUse:
    given: dict[str, Any] = {
        "model": model,
        "api_base": server.url if server else None,
        "efforts": (Effort.LOW,),
        "sampling_seed": 7,
        "temperature": 0.0,
    }
    return ModelUse(**(given | changes))


def keywords(schema: Any, parent: str = "") -> set[str]:
    """Every keyword of a JSON schema, names of properties and definitions apart."""
    if isinstance(schema, list):
        return set().union(*(keywords(each) for each in schema))
    if not isinstance(schema, dict):
        return set()
    own = set() if parent in ("properties", "$defs") else set(schema)
    return own.union(*(keywords(each, name if own else "") for name, each in schema.items()))


def test_the_schema_of_the_first_question_uses_whatever_schemas_of_steps_use() -> None:
    used = set().union(*(keywords(strict_schema(step.output_model)) for step in STEPS))
    assert used <= keywords(strict_schema(GreetingReply))


async def test_the_first_question_goes_with_exactly_what_a_run_sends(
    server: OpenAIServer, tmp_path: Path
) -> None:
    settings = LanguageModelSettings(structured_output="json_schema")
    (contact,) = await probe_models([use(server)], settings, tmp_path)
    (request,) = server.requests
    assert (request.body["temperature"], request.body["seed"]) == (0.0, 7)
    assert request.body["max_tokens"] == FIRST_CONTACT.answer_tokens
    assert request.body["response_format"]["type"] == "json_schema"
    assert (
        contact.line
        == "answers; JSON schema; accepts all parameters; no reasoning; 32,768 tokens of context;"
        " price unknown; rate limits not reported"
    )


async def test_what_the_first_question_learns_the_run_knows(
    server: OpenAIServer, tmp_path: Path
) -> None:
    server.behaviour = "rejects:temperature"
    server.extra_headers = {"x-ratelimit-limit-requests": "60"}
    settings = LanguageModelSettings(structured_output="json_schema")
    (contact,) = await probe_models([use(server)], settings, tmp_path)
    assert contact.parameters_dropped == "temperature"
    assert contact.requests_per_minute == 60


def test_what_one_command_learns_the_next_one_knows(server: OpenAIServer, tmp_path: Path) -> None:
    server.behaviour = "rejects:temperature"
    settings = LanguageModelSettings(structured_output="json_schema")
    first, second = (asyncio.run(probe_models([use(server)], settings, tmp_path)) for _ in range(2))
    assert first == second
    assert len(server.requests) == 3, "the second command is refused nothing"


async def test_a_model_that_draws_is_asked_for_no_picture(
    server: OpenAIServer, tmp_path: Path
) -> None:
    painter = use(server, "openai/gpt-image-1", draws=True)
    contacts = await probe_models([use(server), painter], LanguageModelSettings(), tmp_path)
    assert [request.path for request in server.requests] == ["/v1/chat/completions"]
    assert contacts[1].line == (
        "draws pictures, and was asked for none yet; $5 and $40 per million prompt and completion"
        " tokens"
    )


async def test_a_model_that_is_known_to_give_no_pictures_is_named(server: OpenAIServer) -> None:
    settings = LanguageModelSettings()
    with pytest.raises(ConfigurationError, match="openai/gpt-4o gives no pictures"):
        await check_model("openai/gpt-4o", server.url, settings, draws=True)
    for model in ("openai/gpt-image-1", "openai/of-our-own", "gemini/gemini-2.5-flash-image"):
        await check_model(model, server.url, settings, draws=True)


def test_no_model_draws_unless_one_is_assigned_to_that() -> None:
    models = [
        each.model for each in model_uses("openai/big", {}, JudgingParameters(), STEPS, **SAMPLED)
    ]
    assert models == ["openai/big"]
    asked = {"draw_method_figure": AskingParameters(model="openai/painter")}
    judging = JudgingParameters(judgement=AskingParameters(model="openai/judge"), steps=asked)
    found = model_uses("openai/big", {}, judging, STEPS, **SAMPLED)
    assert {each.model for each in found if each.draws} == {"openai/painter"}
    assert {each.model for each in found if not each.draws} == {"openai/big", "openai/judge"}


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("wrong_key", "refused the key"),
        ("no_such_model", "no such model"),
        ("server_error", "does not answer"),
        ("prose_only", "no JSON in the reply"),
        ("cut_off", "length limit"),
    ],
)
async def test_what_cannot_work_stops_in_one_line(
    server: OpenAIServer, tmp_path: Path, behaviour: str, message: str
) -> None:
    server.behaviour = "text:Good evening to you." if behaviour == "prose_only" else behaviour
    with pytest.raises(ConfigurationError, match=message) as caught:
        await probe_models([use(server)], LanguageModelSettings(maximum_attempts=1), tmp_path)
    assert "\n" not in str(caught.value)


async def test_a_bound_on_cost_needs_a_price(server: OpenAIServer) -> None:
    with pytest.raises(ConfigurationError, match="no price is known"):
        settings = LanguageModelSettings()
        await check_model("openai/loopback", server.url, settings, needs_price=True)


async def test_an_unreachable_server_is_named_without_its_secrets() -> None:
    with pytest.raises(ConfigurationError, match=r"API base http://127\.0\.0\.1:9/v1") as caught:
        base = "http://user:hidden@127.0.0.1:9/v1"
        await check_model("openai/loopback", base, LanguageModelSettings())
    assert "hidden" not in str(caught.value)


async def test_a_missing_key_and_a_model_without_provider_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        await check_model("openai/gpt-4o-mini", None, LanguageModelSettings())
    with pytest.raises(ConfigurationError, match="no such model 'nonsense'"):
        await check_model("nonsense", None, LanguageModelSettings())


def test_every_model_of_a_profile_is_asked_with_the_efforts_it_gets() -> None:
    judging = JudgingParameters.model_validate_json(
        '{"reading": {"effort": "low", "model": "openai/small"},'
        ' "judgement": {"effort": "high", "judges": ["openai/big", "gemini/other"]},'
        ' "steps": {"compare_paper": {"effort": "low"}}}'
    )
    bases = {"openai/small": "http://127.0.0.1:1/v1"}
    found = model_uses("openai/big", bases, judging, STEPS, seed=7, temperature=0.0)
    assert {(each.model, each.efforts, each.api_base) for each in found} == {
        ("openai/small", (Effort.LOW,), "http://127.0.0.1:1/v1"),
        ("openai/big", (Effort.HIGH, Effort.LOW), None),
        ("gemini/other", (Effort.HIGH, Effort.LOW), None),
    }
