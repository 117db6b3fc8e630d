import asyncio
import time
from collections.abc import Awaitable, Callable
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from schemas.calls import CallStatus
from schemas.identifiers import IdeaId
from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from tasks.accounting.ledger import Ledger
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.models import ModelLimits, open_model_limits
from tasks.web.shared_limits import SharedRateLimit
from tests.support.clocks import SleepingClock
from tests.support.openai_server import MODEL_ANSWERED, OpenAIServer
from warehouse.stores.keyed_store import KeyedStore
from warehouse.stores.transcripts import Transcripts

Open = Callable[..., Awaitable[Any]]


@pytest.mark.parametrize(
    ("behaviour", "mode"),
    [("good", "json_schema"), ("late", "json_object"), ("prose", "text"), ("fenced", "auto")],
)
async def test_a_good_answer_is_scored_and_leaves_one_row(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, behaviour: str, mode: str
) -> None:
    server.behaviour, server.late_seconds, server.cached_tokens = behaviour, 0.05, 5
    opened = await open_engine(structured_output=mode)
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Scored), outcome
    assert "[P1]" in outcome.value.support
    (row,) = opened.ledger.llm_calls
    assert (row.status, row.attempt, row.cache_hit, row.model_answered) == (
        CallStatus.OK,
        1,
        False,
        MODEL_ANSWERED,
    )
    assert row.cached_tokens == 5
    assert row.cost_usd == pytest.approx(
        (row.prompt_tokens - 5) * 1e-6 + 5 * 0.1e-6 + row.completion_tokens * 4e-6
    )
    assert outcome.provenance.call_ids == (row.call_id,)
    assert (outcome.provenance.engine, outcome.provenance.step_version) == (
        "litellm:openai/loopback",
        3,
    )
    assert outcome.provenance.seed == row.seed == 7
    sent = server.requests[0].body
    assert sent["seed"] == 7
    assert ("response_format" in sent) == mode.startswith("json")
    assert ("JSON schema" in sent["messages"][0]["content"]) == (mode != "json_schema")


@pytest.mark.parametrize("first", ["empty", 'text:{"support": "x", "score": 70}'])
async def test_an_unusable_reply_is_asked_for_once_more_with_its_error(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, first: str
) -> None:
    server.behaviour = [first, "good"]
    opened = await open_engine(structured_output="text")
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Scored), outcome
    assert [row.attempt for row in opened.ledger.llm_calls] == [1, 2]
    assert opened.ledger.llm_calls[0].status in (CallStatus.UNPARSABLE, CallStatus.EMPTY)
    assert opened.ledger.llm_calls[0].error
    assert "cannot be used" in server.requests[1].messages[-1]["content"]
    assert len(outcome.provenance.call_ids) == 2


@pytest.mark.parametrize(
    ("behaviour", "reason", "status", "calls"),
    [
        ("malformed", Reason.REPLY_UNPARSABLE, CallStatus.UNPARSABLE, 2),
        ("empty", Reason.REPLY_EMPTY, CallStatus.EMPTY, 2),
        ("refusal", Reason.REFUSED, CallStatus.REFUSED, 1),
        ("content_filter", Reason.REFUSED, CallStatus.REFUSED, 1),
        ("cut_off", Reason.REPLY_CUT_OFF, CallStatus.CUT_OFF, 2),
        ("rate_limited", Reason.ENGINE_UNAVAILABLE, CallStatus.RATE_LIMITED, 3),
        ("no_quota", Reason.ENGINE_UNAVAILABLE, CallStatus.RATE_LIMITED, 1),
        ("server_error", Reason.ENGINE_UNAVAILABLE, CallStatus.SERVER_ERROR, 3),
        ("overloaded", Reason.ENGINE_UNAVAILABLE, CallStatus.SERVER_ERROR, 3),
        ("dropped", Reason.ENGINE_UNAVAILABLE, CallStatus.UNREACHABLE, 3),
        ("hangs", Reason.TIMED_OUT, CallStatus.TIMED_OUT, 3),
        ("wrong_key", Reason.ENGINE_UNAVAILABLE, CallStatus.CLIENT_ERROR, 1),
        ("forbidden", Reason.ENGINE_UNAVAILABLE, CallStatus.CLIENT_ERROR, 1),
        ("no_such_model", Reason.ENGINE_UNAVAILABLE, CallStatus.CLIENT_ERROR, 1),
        ("too_long", Reason.INPUT_TOO_LONG, CallStatus.CLIENT_ERROR, 1),
    ],
)
async def test_what_cannot_be_answered_is_unscored_never_a_number(
    server: OpenAIServer,
    open_engine: Open,
    step: Any,
    question: Any,
    behaviour: str,
    reason: Reason,
    status: CallStatus,
    calls: int,
) -> None:
    server.behaviour = behaviour
    opened = await open_engine(
        maximum_attempts=3,
        timeout_seconds=0.3 if behaviour == "hangs" else 60,
        structured_output="json_schema",
    )
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Unscored)
    assert (outcome.reason, [row.status for row in opened.ledger.llm_calls]) == (
        reason,
        [status] * calls,
    ), outcome.detail
    assert len(outcome.provenance.call_ids) == calls
    assert all(row.error and "\n" not in row.error for row in opened.ledger.llm_calls)
    assert all(
        (row.cost_usd is None) == (status in (CallStatus.TIMED_OUT, CallStatus.UNREACHABLE))
        for row in opened.ledger.llm_calls
    )
    assert len(server.requests) == calls or behaviour == "hangs", (
        "a busy server may not see what was given up"
    )


async def test_a_wait_beyond_the_bound_is_not_waited_for(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    server.behaviour = "retry_after:3600"
    opened = await open_engine(timeout_seconds=1)
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Unscored)
    assert len(server.requests) == 1


async def test_a_wrong_key_stops_the_calls_and_never_shows(
    server: OpenAIServer,
    open_engine: Open,
    step: Any,
    question: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "my-very-own-secret")
    server.behaviour = "wrong_key"
    opened = await open_engine()
    outcomes = [await opened.engine.run(step, question) for _ in range(5)]
    assert {outcome.reason for outcome in outcomes} == {Reason.ENGINE_UNAVAILABLE}
    assert len(server.requests) == len(opened.ledger.llm_calls) == 3
    assert server.requests[0].headers["authorization"] == "Bearer my-very-own-secret"
    shown = repr(opened.ledger.llm_calls) + repr(outcomes)
    assert "my-very-own-secret" not in shown
    assert "sk-secret" not in shown


async def test_a_cached_reply_costs_nothing_and_says_so(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, tmp_path: Path
) -> None:
    first = await open_engine(cache=KeyedStore(tmp_path / "replies.sqlite"))
    paid = await first.engine.run(step, question)
    second = await open_engine(cache=KeyedStore(tmp_path / "replies.sqlite"))
    kept = await second.engine.run(step, question)
    assert isinstance(paid, Scored)
    assert isinstance(kept, Scored)
    assert kept.value == paid.value
    assert len(server.requests) == 1
    (row,) = second.ledger.llm_calls
    assert (row.cache_hit, row.status, row.cost_usd, row.prompt_tokens) == (
        True,
        CallStatus.CACHED,
        0.0,
        0,
    )
    assert row.model_answered == kept.provenance.model_answered == MODEL_ANSWERED


@pytest.mark.parametrize(
    "change", [{"seed": 8}, {"structured_output": "json_object"}, {"model": "openai/other"}]
)
async def test_another_call_is_not_answered_from_the_cache(
    server: OpenAIServer,
    open_engine: Open,
    step: Any,
    question: Any,
    tmp_path: Path,
    change: dict[str, Any],
) -> None:
    for options in ({}, change):
        opened = await open_engine(cache=KeyedStore(tmp_path / "replies.sqlite"), **options)
        await opened.engine.run(step, question)
    assert len(server.requests) == 2


@pytest.mark.parametrize("behaviour", ["malformed", "cut_off"])
async def test_unusable_replies_are_not_cached(
    server: OpenAIServer,
    open_engine: Open,
    step: Any,
    question: Any,
    tmp_path: Path,
    behaviour: str,
) -> None:
    for name in (behaviour, "good"):
        server.behaviour = name
        opened = await open_engine(cache=KeyedStore(tmp_path / "replies.sqlite"))
        outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Scored)
    assert not opened.ledger.llm_calls[0].cache_hit


async def test_calls_in_flight_are_bounded(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    server.behaviour, server.late_seconds = "together:3", 0.05
    opened = await open_engine(maximum_concurrency=3)
    await asyncio.gather(*(opened.engine.run(step, question) for _ in range(12)))
    assert server.peak_concurrency == 3
    assert max(row.queue_seconds for row in opened.ledger.llm_calls) > 0.1


async def test_requests_per_minute_hold(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, tmp_path: Path
) -> None:
    limits = open_model_limits(tmp_path, "m", LanguageModelSettings(requests_per_minute=600))
    opened = await open_engine(limits=limits)
    started = time.monotonic()
    await asyncio.gather(*(opened.engine.run(step, question) for _ in range(6)))
    assert len(server.requests) == 6
    assert all(
        request.at >= started + 0.1 * number for number, request in enumerate(server.requests)
    )


async def test_tokens_per_minute_are_settled_to_what_was_used(
    server: OpenAIServer,
    open_engine: Open,
    step: Any,
    question: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SleepingClock()
    monkeypatch.setattr("tasks.web.shared_limits.time", clock)
    monkeypatch.setattr("tasks.web.shared_limits.asyncio", clock)
    limits = ModelLimits(tokens=SharedRateLimit(tmp_path, "tokens", 600_000))
    opened = await open_engine(limits=limits, context_tokens=200_000)
    step = copy(step)
    step.__dict__["answer_tokens"] = 64_000
    started = clock.now
    for _ in range(3):
        await opened.engine.run(step, question)
    assert clock.now - started < 1, "64,000 tokens are 6.4 s of the limit"


async def test_a_spent_budget_ends_the_calls(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    opened = await open_engine(budget=Budget(maximum_tokens=200))
    outcomes = [await opened.engine.run(step, question) for _ in range(6)]
    reasons = [outcome.reason for outcome in outcomes if isinstance(outcome, Unscored)]
    assert isinstance(outcomes[0], Scored)
    assert reasons
    assert set(reasons) == {Reason.BUDGET_EXHAUSTED}
    assert opened.budget.spent().tokens >= 200
    assert (
        sum(row.prompt_tokens + row.completion_tokens for row in opened.ledger.llm_calls)
        == opened.budget.spent().tokens
    )


async def test_an_unknown_price_is_none_not_zero(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    opened = await open_engine(prompt_price_usd_per_million_tokens=None)
    await opened.engine.run(step, question)
    assert opened.ledger.llm_calls[0].cost_usd is None


async def test_a_known_model_has_litellms_price_and_schema(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    opened = await open_engine(model="openai/gpt-4o-mini", prompt_price_usd_per_million_tokens=None)
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Scored)
    assert opened.ledger.llm_calls[0].cost_usd
    assert server.requests[0].body["response_format"]["json_schema"]["strict"] is True


async def test_a_long_input_is_shortened_and_says_so(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    opened = await open_engine(context_tokens=4096)
    long = type(question)(idea=question.idea, paper="A long finding about routing. " * 4000)
    outcome = await opened.engine.run(step, long)
    assert isinstance(outcome, Scored)
    assert "paper" in (outcome.provenance.shortening or "")
    assert opened.ledger.llm_calls[0].shortening == outcome.provenance.shortening
    sent = server.requests[0].messages[1]["content"]
    assert "characters left out" in sent
    assert question.idea in sent


async def test_a_prompt_without_room_for_data_is_too_long(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    opened = await open_engine(context_tokens=1024)
    step_with_long_instructions = type(step)(
        **{name: getattr(step, name) for name in step.__dataclass_fields__}
    )
    step_with_long_instructions.__dict__["template"] = "Judge. " * 3000 + step.template
    outcome = await opened.engine.run(step_with_long_instructions, question)
    assert isinstance(outcome, Unscored)
    assert outcome.reason is Reason.INPUT_TOO_LONG
    assert server.requests == []


def test_a_worker_opens_one_loop_after_another(
    open_engine: Open, step: Any, question: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    async def once() -> None:
        opened = await open_engine()
        assert isinstance(await opened.engine.run(step, question), Scored)
        await opened.backend.close()

    for _ in range(3):
        asyncio.run(once())
    assert capfd.readouterr() == ("", "")


async def test_a_question_two_ideas_ask_at_once_is_paid_once(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, tmp_path: Path
) -> None:
    server.behaviour, server.late_seconds = "late", 0.1
    opened = await open_engine(cache=KeyedStore(tmp_path / "replies.sqlite"))
    ledgers = [Ledger(IdeaId(f"twin-{number}")) for number in range(4)]
    outcomes = await asyncio.gather(
        *(LiteLLMEngine(opened.backend, ledger).run(step, question) for ledger in ledgers)
    )
    assert len(server.requests) == 1
    assert len({outcome.value for outcome in outcomes if isinstance(outcome, Scored)}) == 1
    assert sorted(row.status for ledger in ledgers for row in ledger.llm_calls) == [
        "cached"
    ] * 3 + ["ok"]


async def test_where_the_first_of_two_gets_no_answer_the_second_asks_for_itself(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, tmp_path: Path
) -> None:
    server.behaviour = ["refusal", "good"]
    opened = await open_engine(cache=KeyedStore(tmp_path / "replies.sqlite"))
    first, second = await asyncio.gather(
        opened.engine.run(step, question), opened.engine.run(step, question)
    )
    assert isinstance(first, Unscored)
    assert isinstance(second, Scored)


async def test_a_call_in_flight_when_its_idea_ends_is_on_the_bill(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any
) -> None:
    server.behaviour = "hangs"
    opened = await open_engine(budget=Budget(maximum_cost_usd=1.0))
    task = asyncio.create_task(opened.engine.run(step, question))
    while not server.requests:
        assert not task.done()
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (row,) = opened.ledger.llm_calls
    assert (row.status, row.cost_usd) == (CallStatus.TIMED_OUT, None)
    assert row.error.startswith("the evaluation ended before the answer came")
    assert opened.budget.spent().tokens > 0 < opened.budget.spent().cost_usd
    reservation = await asyncio.wait_for(opened.budget.reserve(opened.ledger.idea_id, tokens=1), 60)
    opened.budget.settle(reservation)


@pytest.mark.parametrize(
    "budget",
    [Budget(maximum_cost_usd=0), Budget(maximum_tokens=0), Budget(maximum_cost_usd_per_idea=0)],
)
async def test_a_budget_of_nothing_sends_nothing(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, budget: Budget
) -> None:
    opened = await open_engine(budget=budget)
    outcome = await opened.engine.run(step, question)
    assert isinstance(outcome, Unscored)
    assert (outcome.reason, server.requests, opened.ledger.llm_calls) == (
        Reason.BUDGET_EXHAUSTED,
        [],
        [],
    )


async def test_prompt_and_reply_of_every_answered_call_can_be_read_afterwards(
    server: OpenAIServer, open_engine: Open, step: Any, question: Any, tmp_path: Path
) -> None:
    server.behaviour = ["malformed", "good"]
    opened = await open_engine(cache=KeyedStore(tmp_path / "replies.sqlite"))
    opened.backend.transcripts = Transcripts(tmp_path / "transcripts.sqlite")
    for _ in range(2):
        await opened.engine.run(step, question)
    unusable, good, cached = opened.ledger.llm_calls
    said = [opened.backend.transcripts.read(call.transcript_sha256) for call in (unusable, good)]
    assert said[0].messages == said[1].messages[: len(said[0].messages)]
    assert said[1].messages[-2] == ("assistant", said[0].reply)
    assert cached.cache_hit
    assert opened.backend.transcripts.read(cached.transcript_sha256).reply
