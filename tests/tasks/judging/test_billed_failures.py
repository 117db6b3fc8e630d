"""Failed calls that the provider bills count against the budget, whatever it reports."""

import json
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import httpx
import openai
import pytest

from schemas.calls import CallStatus
from schemas.run import Budget
from tasks.judging.provider_call import CallAnswer, CallFailure, call_provider
from tasks.web.litellm_library import library
from tests.support.openai_server import OpenAIServer

Open = Callable[..., Awaitable[Any]]
BOUND = Budget(maximum_cost_usd=1.0)


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        ("no_choices", CallStatus.EMPTY),
        ("error_in_choice", CallStatus.SERVER_ERROR),
        ("billed_error", CallStatus.SERVER_ERROR),
    ],
)
@pytest.mark.parametrize("model", ["openai/loopback", "hosted_vllm/loopback"])
async def test_a_failure_with_usage_costs_what_the_usage_says(
    server: OpenAIServer,
    open_engine: Open,
    step: Any,
    question: Any,
    behaviour: str,
    status: CallStatus,
    model: str,
) -> None:
    server.behaviour = behaviour
    opened = await open_engine(model=model, budget=BOUND, maximum_attempts=1)
    await opened.engine.run(step, question)
    (row,) = opened.ledger.llm_calls
    assert (row.status, row.prompt_tokens + row.completion_tokens) == (status, server.answered[0])
    assert row.cost_usd == row.prompt_tokens * 1e-6 + row.completion_tokens * 4e-6 > 0
    spent = opened.budget.spent()
    assert (spent.cost_usd, spent.tokens) == (row.cost_usd, server.answered[0])


@pytest.mark.parametrize(
    ("behaviour", "status"),
    [
        ("no_choices_untold", CallStatus.EMPTY),
        ("miscounted", CallStatus.SERVER_ERROR),
        ("not_json", CallStatus.SERVER_ERROR),
        ("dropped", CallStatus.UNREACHABLE),
    ],
)
async def test_a_failure_without_believable_usage_is_unknown_and_counts_as_the_estimate(
    server: OpenAIServer,
    open_engine: Open,
    step: Any,
    question: Any,
    behaviour: str,
    status: CallStatus,
) -> None:
    server.behaviour = behaviour
    opened = await open_engine(budget=BOUND, maximum_attempts=1)
    await opened.engine.run(step, question)
    (row,) = opened.ledger.llm_calls
    assert (row.status, row.cost_usd) == (status, None), row.error
    spent = opened.budget.spent()
    assert spent.cost_usd > 0
    assert f"the budget counts an estimate of ${spent.cost_usd:.6f}" in row.error


@pytest.mark.parametrize("behaviour", ["server_error", "rate_limited", "wrong_key"])
async def test_a_refusal_without_usage_costs_nothing(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, behaviour: str
) -> None:
    server.behaviour = behaviour
    opened = await open_engine(budget=BOUND, maximum_attempts=1)
    await opened.engine.run(step, question)
    assert [row.cost_usd for row in opened.ledger.llm_calls] == [0.0]
    assert opened.budget.spent().cost_usd == 0


async def test_a_server_that_was_not_reached_costs_nothing(
    open_engine: Open, step: Any, question: Any
) -> None:
    opened = await open_engine(
        api_base="http://127.0.0.1:9/v1", budget=BOUND, maximum_attempts=1, timeout_seconds=10.0
    )
    await opened.engine.run(step, question)
    assert [(row.status, row.cost_usd) for row in opened.ledger.llm_calls] == [
        (CallStatus.UNREACHABLE, 0.0)
    ]
    assert opened.budget.spent().cost_usd == 0


async def called(monkeypatch: pytest.MonkeyPatch, outcome: Any) -> CallAnswer | CallFailure:
    """What becomes of a call for which LiteLLM returns or raises `outcome`."""

    async def complete(**_: Any) -> Any:
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    monkeypatch.setattr(library(), "acompletion", complete)
    return await call_provider("openai/loopback", [], {}, 60.0)


@pytest.mark.parametrize("cause", [httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ReadTimeout])
async def test_a_timeout_before_anything_was_sent_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, cause: type[httpx.TimeoutException]
) -> None:
    error = library().exceptions.Timeout("timed out", "loopback", "openai")
    error.__cause__ = cause("timed out")
    failure = await called(monkeypatch, error)
    assert isinstance(failure, CallFailure) and failure.retryable
    assert (failure.status, failure.cost_is_unknown) == (
        (CallStatus.TIMED_OUT, True)
        if cause is httpx.ReadTimeout
        else (CallStatus.UNREACHABLE, False)
    )


async def test_an_error_whose_body_was_not_read_is_a_failed_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = httpx.Request("POST", "http://127.0.0.1:9/v1")
    unread = httpx.Response(500, request=request, stream=httpx.AsyncByteStream())
    error = openai.InternalServerError("internal error", response=unread, body=None)
    failure = await called(monkeypatch, error)
    assert isinstance(failure, CallFailure)
    assert (failure.status, failure.usage) == (CallStatus.SERVER_ERROR, None)


@pytest.mark.parametrize(("named_usd", "taken_usd"), [(50_000.0, 50_000.0), (200_000.0, None)])
async def test_a_cost_that_a_row_can_hold_is_taken_from_the_provider(
    monkeypatch: pytest.MonkeyPatch, named_usd: float, taken_usd: float | None
) -> None:
    message = SimpleNamespace(content="OK")
    answer = await called(
        monkeypatch,
        SimpleNamespace(
            choices=[SimpleNamespace(message=message, finish_reason="stop")],
            _hidden_params={"response_cost": named_usd},
        ),
    )
    assert isinstance(answer, CallAnswer)
    assert answer.cost_usd == taken_usd


async def test_a_claim_of_one_prompt_token_is_raised_to_a_third_of_the_own_count(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    server.behaviour = "one_token"
    opened = await open_engine(budget=BOUND)
    long = type(question)(idea=question.idea, paper="A long finding about routing. " * 400)
    await opened.engine.run(step, long)
    (row,) = opened.ledger.llm_calls
    sent = sum(len(part["content"]) for part in server.requests[0].messages)
    assert row.prompt_tokens == pytest.approx(sent / 12, abs=2)
    assert row.cost_usd >= row.prompt_tokens * 1e-6
    assert opened.budget.spent().cost_usd == row.cost_usd


async def test_a_server_that_misreports_is_stopped_by_the_bound(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    kinds = ["no_choices", "error_in_choice", "miscounted", "billed_error", "no_choices_untold"]
    server.behaviour = lambda recorded: kinds[recorded.number % len(kinds)]
    opened = await open_engine(budget=Budget(maximum_cost_usd=0.005), maximum_attempts=2)
    for _ in range(60):
        await opened.engine.run(step, question)
    billed = [
        sum(len(part["content"]) for part in request.messages) // 4 for request in server.requests
    ]
    assert len(billed) < 60
    assert sum(billed) * 1e-6 < 0.005, json.dumps(billed)
    assert opened.budget.spent().cost_usd >= 0.005
