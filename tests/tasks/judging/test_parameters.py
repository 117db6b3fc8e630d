"""What a model takes: known beforehand, or learnt from its provider's refusal."""

from pathlib import Path
from typing import Any

import pytest

from schemas.judging import Effort
from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from schemas.settings import LanguageModelSettings
from tasks.judging.parameters import ModelParameters, Sampling, named_parameter
from tests.support.openai_server import OpenAIServer
from warehouse.stores.keyed_store import KeyedStore

PROFILE = Sampling(seed=7, temperature=0.0)


def made(model: str, **settings: Any) -> ModelParameters:
    return ModelParameters(model, LanguageModelSettings(**settings))


def test_claude_without_thinking_takes_a_temperature() -> None:
    parameters = made("anthropic/claude-sonnet-4-5").of_call(PROFILE, Effort.NONE, 9000)
    assert parameters.values["temperature"] == 0.0


def test_an_effort_that_a_model_lacks_becomes_the_nearest_and_is_said() -> None:
    parameters = made("openai/gpt-5").of_call(PROFILE, Effort.NONE, 9000)
    assert parameters.values["reasoning_effort"] == "minimal"
    assert parameters.dropped == "effort=none (sent minimal), temperature"


def test_a_refused_effort_gives_way_to_the_next(tmp_path: Path) -> None:
    store = KeyedStore(tmp_path / "models.sqlite")
    model = "gemini/gemini-2.5-pro"
    parameters = ModelParameters(model, LanguageModelSettings(), store=store)
    first = parameters.of_call(PROFILE, Effort.NONE, 9000)
    assert parameters.learn("effort", first, parameters.mode)
    second = parameters.of_call(PROFILE, Effort.NONE, 9000)
    assert second.values["reasoning_effort"] == "minimal"
    another_worker = ModelParameters(model, LanguageModelSettings(), store=store)
    assert another_worker.of_call(PROFILE, Effort.NONE, 9000) == second


def test_nothing_is_learnt_of_what_was_not_sent() -> None:
    parameters = made("openai/gpt-5")
    sent = parameters.of_call(PROFILE, Effort.LOW, 9000)
    assert not parameters.learn("temperature", sent, parameters.mode)


def test_a_model_that_thinks_has_room_for_it_beside_its_answer() -> None:
    assert made("openai/gpt-4.1").reply_tokens(4096, Effort.HIGH) == 4096
    thinking = made("openai/gpt-5")
    rooms = [thinking.reply_tokens(4096, effort) for effort in Effort]
    assert rooms == sorted(rooms)
    assert rooms[0] > 4096
    assert rooms[-1] >= 4096 + 22_370, "what Gemini 2.5 Pro thought over 95 % of manuscripts"


def test_a_reply_takes_no_more_than_half_of_a_small_context() -> None:
    parameters = made("openai/of-my-own", context_tokens=4000)
    assert parameters.reply_tokens(8192, Effort.HIGH) == 2000


def test_the_setting_lets_a_model_think_that_nobody_knows() -> None:
    parameters = made("openai/of-my-own", thinking="yes").of_call(PROFILE, Effort.HIGH, 9000)
    assert parameters.values["reasoning_effort"] == "high"
    silent = made("openai/gpt-5", thinking="no").of_call(PROFILE, Effort.HIGH, 9000)
    assert "reasoning_effort" not in silent.values


@pytest.mark.parametrize(
    ("text", "parameter", "named"),
    [
        ("Unsupported value: 'temperature' does not support 0.0", "temperature", "temperature"),
        ("`temperature` may only be set to 1 when thinking is enabled", None, "temperature"),
        ("Budget 0 is invalid. This model only works in thinking mode.", None, "effort"),
        ("Unsupported value: 'reasoning.effort' does not support 'none'", None, "effort"),
        (
            "'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "max_tokens",
        ),
        ("max_tokens is too large: 100000.", "max_tokens", "reply_tokens"),
        ("max_tokens: 200000 > 64000, which is the maximum allowed", None, "reply_tokens"),
        ("Invalid schema for response_format 'x'", "response_format", "response_format"),
        ("The image is too small", None, None),
    ],
)
def test_a_refusal_says_which_parameter_it_is_about(
    text: str, parameter: str | None, named: str | None
) -> None:
    assert named_parameter(text, parameter) == named


def test_a_bound_that_is_too_large_is_halved_until_it_is_taken() -> None:
    parameters = made("openai/of-my-own", context_tokens=100_000)
    for expected in (30_000, 15_000, 7_500):
        bound = parameters.reply_tokens(30_000, Effort.LOW)
        assert bound == expected
        sent = parameters.of_call(PROFILE, Effort.LOW, bound)
        assert parameters.learn("reply_tokens", sent, parameters.mode)


def test_a_model_that_takes_no_max_tokens_thinks() -> None:
    parameters = made("azure/of-my-own")
    sent = parameters.of_call(PROFILE, Effort.LOW, 4096)
    assert parameters.learn("max_tokens", sent, parameters.mode)
    bound = parameters.reply_tokens(4096, Effort.LOW)
    assert bound > 4096
    assert parameters.of_call(PROFILE, Effort.LOW, bound).values["max_completion_tokens"] == bound


async def test_a_refused_output_format_is_asked_for_in_words(
    server: OpenAIServer, open_engine: Any, step: Any, question: Any
) -> None:
    server.behaviour = "rejects_response_format"
    opened = await open_engine(structured_output="json_schema")
    assert isinstance(await opened.engine.run(step, question), Scored)
    assert opened.ledger.llm_calls[-1].parameters_dropped == "response_format=json_schema"
    assert "JSON schema" in server.requests[-1].messages[0]["content"]


async def test_a_refusal_of_something_else_ends_the_question(
    server: OpenAIServer, open_engine: Any, step: Any, question: Any
) -> None:
    server.behaviour = "rejects:top_k"
    opened = await open_engine()
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Unscored)
    assert outcome.reason is Reason.ENGINE_UNAVAILABLE
    assert len(server.requests) == 1


def test_a_claude_model_that_always_thinks_thinks_least() -> None:
    parameters = made("anthropic/claude-opus-5-5").of_call(PROFILE, Effort.NONE, 9000)
    assert "thinking" not in parameters.values
    assert "effort=none (sent low)" in (parameters.dropped or "")


async def test_a_reply_may_grow_into_what_the_prompt_leaves_of_a_small_context(
    server: OpenAIServer, open_engine: Any, step: Any, question: Any
) -> None:
    server.behaviour = ["cut_off", "good"]
    opened = await open_engine(context_tokens=8000)
    assert isinstance(await opened.engine.run(step, question), Scored)
    first, second = (request.body for request in server.requests)
    assert 4000 == first["max_tokens"] < second["max_tokens"] < 8000
    assert second["messages"] == first["messages"], "the same question, not its error"


async def test_a_reply_that_cannot_grow_is_cut_off_at_once(
    server: OpenAIServer, open_engine: Any, step: Any, question: Any
) -> None:
    server.behaviour = "cut_off"
    opened = await open_engine(model="openai/gpt-3.5-turbo")
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Unscored)
    assert outcome.reason is Reason.REPLY_CUT_OFF
    assert "4,096 tokens" in outcome.detail
    assert len(server.requests) == 1
