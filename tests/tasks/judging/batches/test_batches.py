"""Questions by batch: asked once, found again, paid at half the price,
whatever the provider does.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from schemas.calls import CallStatus
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from schemas.outcome import Scored, Unscored
from schemas.reasons import Reason
from schemas.run import BatchFailures, Budget
from schemas.settings import BatchSettings, LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.judging.batches.batched_model import MOST_WAVES_PER_STEP, BatchedModel, BatchTerms
from tasks.judging.batches.option import check_takes_batches, open_provider
from tasks.judging.batches.questions import Questions
from tasks.judging.batches.waves import WaveProgress, Waves
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine, Sampling
from tasks.judging.models import price_of
from tasks.shards.standstill import StandstillError, until_standstill
from tests.support.providers.batches import (
    AnthropicBatchServer,
    AzureBatchServer,
    BatchServer,
    GeminiBatchServer,
    OpenAIBatchServer,
)
from warehouse.stores.keyed_store import KeyedStore

SERVERS: dict[str, tuple[type[BatchServer], str]] = {
    "openai": (OpenAIBatchServer, "openai/gpt-4.1"),
    "azure": (AzureBatchServer, "azure/gpt-4.1"),
    "anthropic": (AnthropicBatchServer, "anthropic/claude-sonnet-4-5"),
    "gemini": (GeminiBatchServer, "gemini/gemini-2.5-flash"),
}
KEY = "loopback-key"
UNITS = ("i1", "i2", "i3", "i4")
in_every_dialect = pytest.mark.parametrize("provider", SERVERS, indirect=True)
whatever_the_dialect = pytest.mark.parametrize(
    "provider",
    ["openai", *(pytest.param(each, marks=pytest.mark.long) for each in list(SERVERS)[1:])],
    indirect=True,
)
"""No dialect has a part in it: one is enough, and the others are for `make long`."""


# Azure's batches differ from OpenAI's in addresses and key alone.
@pytest.fixture(params=["openai", "anthropic", "gemini"])
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def started() -> Iterator[Callable[[str], BatchServer]]:
    with ExitStack() as stack:
        yield cache(lambda provider: stack.enter_context(SERVERS[provider][0](key=KEY)))


@pytest.fixture
def server(
    provider: str, started: Callable[[str], BatchServer], monkeypatch: pytest.MonkeyPatch
) -> BatchServer:
    for name in ("OPENAI", "AZURE", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    monkeypatch.setenv("AZURE_API_VERSION", "2025-04-01-preview")
    running = started(provider).renew()
    vars(running).pop("take", None)  # a test may have replaced it
    return running


class Night:
    """Some ideas that ask a step each, over and over, and the batches between."""

    def __init__(
        self,
        folder: Path,
        server: BatchServer,
        model: str,
        *,
        failures: BatchFailures = BatchFailures.UNSCORED,
        budget: Budget | None = None,
    ) -> None:
        self.folder, self.server, self.model, self.failures = folder, server, model, failures
        self.settings = LanguageModelSettings()
        self.budget = SharedBudget(folder / "budget.sqlite", RunId("r1"), budget or Budget())
        self.questions = Questions(folder / "batches.sqlite")
        self.told: list[WaveProgress] = []

    def waves(self) -> Waves:
        """As a command that was started anew sees them."""
        return Waves(
            Questions(self.questions.path),
            self.budget,
            BatchSettings(poll_seconds=0.01),
            open_provider=open_provider,
            price_of=lambda model: price_of(model, self.settings),
            tell=self.told.append,
            sleep=lambda _: None,
        )

    async def ask(
        self, step: Any, question: Any, unit: str, ledger: Ledger | None = None
    ) -> tuple[Any, Ledger]:
        """What one idea has by now: an outcome, or None while it waits."""
        ledger = ledger or Ledger(IdeaId(unit))
        store = KeyedStore(self.folder / "replies.sqlite")
        backend = LiteLLMBackend(
            self.model,
            self.settings,
            budget=self.budget,
            api_base=self.server.api_base,
            cache=store,
            refusals=KeyedStore(self.folder / "models.sqlite"),
            sampling=Sampling(seed=None, temperature=None),
            backoff_seconds=0.01,
        )
        backend.batched = BatchedModel(
            self.model,
            self.server.api_base,
            BatchTerms(self.questions, self.failures),
            backend.price,
        )
        try:
            work = LiteLLMEngine(backend, ledger).run(step, question)
            return await until_standstill(work), ledger
        except StandstillError:
            return None, ledger
        finally:
            await backend.close()

    async def through(self, step: Any, asked: dict[str, Any]) -> dict[str, tuple[Any, Ledger]]:
        """Pass and wave in turn, until no idea waits."""
        waves = self.waves()
        for _ in range(10):
            ended = {unit: await self.ask(step, each, unit) for unit, each in asked.items()}
            if not waves.next():
                return ended
        raise AssertionError("it never ends")


@pytest.fixture
def questions_of(question: Any) -> dict[str, Any]:
    return {
        unit: question.model_copy(update={"idea": f"{question.idea} Variant {unit}."})
        for unit in UNITS
    }


@pytest.fixture
def night(tmp_path: Path, server: BatchServer, provider: str) -> Callable[..., Night]:
    return lambda **said: Night(tmp_path, server, SERVERS[provider][1], **said)


@in_every_dialect
async def test_answers_come_to_whoever_asked_at_half_the_price_and_are_asked_for_once(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night()
    ended = await run.through(step, questions_of)
    price = price_of(run.model, run.settings)
    assert price is not None
    for outcome, ledger in ended.values():
        assert isinstance(outcome, Scored), outcome
        (row,) = ledger.llm_calls
        assert (row.status, row.cache_hit, row.batch is not None) == (CallStatus.OK, False, True)
        full = price.of(row.prompt_tokens, row.completion_tokens, row.cached_tokens)
        assert row.cost_usd == pytest.approx(full / 2)
    assert len(server.batches) == 1
    assert len(set(server.submitted_bodies)) == len(server.submitted_bodies) == len(UNITS)
    assert run.told[-1] == WaveProgress(1, 4, 4)


@whatever_the_dialect
async def test_a_batch_after_calls_asks_nothing(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night()
    await run.through(step, questions_of)
    run.questions = Questions(run.folder / "of-another-run.sqlite")
    ended = await run.through(step, questions_of)
    assert {ledger.llm_calls[0].status for _, ledger in ended.values()} == {CallStatus.CACHED}
    assert len(server.batches) == 1


@whatever_the_dialect
async def test_two_ideas_with_one_question_ask_it_once_and_one_pays(
    server: BatchServer, night: Callable[..., Night], step: Any, question: Any
) -> None:
    ended = await night().through(step, {"i1": question, "i2": question})
    assert len(server.submitted_bodies) == 1
    costs = sorted(ledger.llm_calls[0].cost_usd or 0.0 for _, ledger in ended.values())
    assert costs[0] == 0.0 < costs[1]


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_a_failed_answer_costs_half_once_and_the_other_idea_nothing(
    server: BatchServer,
    night: Callable[..., Night],
    step: Any,
    question: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    completion = server.completion
    monkeypatch.setattr(server, "completion", lambda *asked: completion(*asked) | {"choices": []})
    run = night()
    ended = await run.through(step, {"i1": question, "i2": question})
    rows = [row for _, ledger in ended.values() for row in ledger.llm_calls]
    (paying,) = [row for row in rows if row.status is CallStatus.EMPTY]
    (shared,) = [row for row in rows if row.status is CallStatus.CACHED]
    price = price_of(run.model, run.settings)
    assert price is not None
    full = price.of(paying.prompt_tokens, paying.completion_tokens, paying.cached_tokens)
    assert paying.cost_usd == pytest.approx(full / 2) != 0
    assert (shared.cost_usd, shared.prompt_tokens, shared.completion_tokens) == (0.0, 0, 0)
    assert run.budget.spent().cost_usd == pytest.approx(full / 2)


@whatever_the_dialect
async def test_an_idea_worked_on_again_books_an_answer_under_the_same_name(
    night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night()
    ended = await run.through(step, questions_of)
    again = await run.through(step, questions_of)
    for unit in UNITS:
        (before,), (after,) = ended[unit][1].llm_calls, again[unit][1].llm_calls
        assert (before.call_id, before.cost_usd) == (after.call_id, after.cost_usd)


@whatever_the_dialect
async def test_an_idea_that_asks_the_same_twice_pays_once(
    night: Callable[..., Night], step: Any, question: Any
) -> None:
    run = night()
    ended = await run.through(step, {"i1": question})
    _, ledger = await run.ask(step, question, "i1", ended["i1"][1])
    assert [bool(row.cost_usd) for row in ledger.llm_calls] == [True, False]


@pytest.mark.parametrize(
    ("provider", "failures"),
    [
        ("openai", BatchFailures.CALL),
        *((each, BatchFailures.UNSCORED) for each in ("openai", "anthropic", "gemini")),
    ],
    indirect=["provider"],
)
async def test_an_expired_question_is_unscored_or_asked_by_a_call(
    server: BatchServer,
    night: Callable[..., Night],
    step: Any,
    questions_of: dict[str, Any],
    failures: BatchFailures,
) -> None:
    run = night(failures=failures)
    expired: list[str] = []
    server.expires = lambda custom_id: (
        custom_id == (expired or expired.append(custom_id) or expired)[0]
    )
    ended = await run.through(step, questions_of)
    outcomes = [outcome for outcome, _ in ended.values()]
    if failures is BatchFailures.CALL:
        assert all(isinstance(outcome, Scored) for outcome in outcomes)
        calls = [row for _, ledger in ended.values() for row in ledger.llm_calls]
        assert sorted(row.batch is None for row in calls) == [False, False, False, True]
    else:
        (unscored,) = [outcome for outcome in outcomes if isinstance(outcome, Unscored)]
        assert unscored.reason is Reason.ENGINE_UNAVAILABLE
        assert "expired" in unscored.detail.lower()
    assert len(server.batches) == 1


@whatever_the_dialect
async def test_what_expired_is_asked_again_by_a_run_that_had_ended_in_three_waves_at_most(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    server.expires = lambda _: True
    run = night()
    for start in range(1, MOST_WAVES_PER_STEP + 3):
        ended = await run.through(step, questions_of)
        assert len(server.batches) == min(start, MOST_WAVES_PER_STEP)
    for outcome, _ in ended.values():
        assert (outcome.reason, "expired" in outcome.detail.lower()) == (
            Reason.ENGINE_UNAVAILABLE,
            True,
        )
    assert {len(batch.entries) for batch in server.batches} == {len(UNITS)}
    for run.failures in (BatchFailures.UNSCORED, BatchFailures.CALL):
        await run.through(step, {"i1": questions_of["i1"]})
        assert len(server.batches) == MOST_WAVES_PER_STEP
        assert len(server.asked) == (run.failures is BatchFailures.CALL)


@whatever_the_dialect
async def test_what_expired_before_a_run_was_killed_is_not_asked_again_when_it_goes_on(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night()
    server.expires = lambda _: True
    for unit, question in questions_of.items():
        await run.ask(step, question, unit)
    assert run.waves().next()
    for unit, question in questions_of.items():  # they land, and here the command is killed
        await run.ask(step, question, unit)
    server.expires = lambda _: False
    ended = await run.through(step, questions_of)
    assert {outcome.reason for outcome, _ in ended.values()} == {Reason.ENGINE_UNAVAILABLE}
    assert len(server.batches) == 1
    ended = await run.through(step, questions_of)
    assert all(isinstance(outcome, Scored) for outcome, _ in ended.values())
    assert len(server.batches) == 2


@whatever_the_dialect
async def test_a_reply_that_cannot_be_used_is_asked_for_again_in_the_next_wave(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    server.behaviour = ["malformed"] * len(UNITS) + ["good"]
    ended = await night().through(step, questions_of)
    assert all(isinstance(outcome, Scored) for outcome, _ in ended.values())
    assert [len(batch.entries) for batch in server.batches] == [4, 4]
    for _, ledger in ended.values():
        assert [row.status for row in ledger.llm_calls] == [CallStatus.UNPARSABLE, CallStatus.OK]
        assert all((row.cost_usd or 0) > 0 for row in ledger.llm_calls)


@whatever_the_dialect
async def test_no_question_is_in_more_waves_than_stated(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    server.behaviour = "malformed"
    ended = await night().through(step, questions_of)
    assert {outcome.reason for outcome, _ in ended.values()} == {Reason.REPLY_UNPARSABLE}
    assert len(server.batches) <= MOST_WAVES_PER_STEP


TROUBLES = {
    "openai": ["POST /v1/files", "POST /v1/batches", "GET /v1/batches/"],
    "azure": ["POST /openai/files", "POST /openai/batches", "GET /openai/batches/"],
    "anthropic": ["POST /v1/messages/batches", "GET /v1/messages/batches/msgbatch_1"],
    "gemini": [":batchGenerateContent", "GET /v1beta/batches/1"],
}


@in_every_dialect
async def test_a_provider_in_trouble_is_asked_again_and_nothing_is_submitted_twice(
    server: BatchServer,
    night: Callable[..., Night],
    step: Any,
    questions_of: dict[str, Any],
    provider: str,
) -> None:
    """429 and 5xx before anything is taken; a connection lost after it was."""
    server.troubles = [(path, status) for path in TROUBLES[provider] for status in (429, 500, 0)]
    ended = await night().through(step, questions_of)
    assert all(isinstance(outcome, Scored) for outcome, _ in ended.values())
    assert len(server.submitted_bodies) == len(UNITS)
    assert not server.troubles


async def test_a_command_killed_before_it_knows_that_a_batch_arrived_finds_it_again(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night()
    server.looks_until_ended = 3
    for unit, question in questions_of.items():
        await run.ask(step, question, unit)
    killed = run.waves()
    open_batch = killed._create_batches(1)[0]
    provider = open_provider(open_batch.lane)
    provider.send(open_batch, run.questions.of_batch(open_batch.name))  # and here it is killed
    ended = await run.through(step, questions_of)
    assert all(isinstance(outcome, Scored) for outcome, _ in ended.values())
    assert len(server.batches) == 1


@pytest.mark.parametrize("provider", ["openai"], indirect=True)
async def test_a_full_queue_is_filled_again_with_fewer_questions(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    server.most_queued = 2
    ended = await night().through(step, questions_of)
    assert all(isinstance(outcome, Scored) for outcome, _ in ended.values())
    assert [len(each.entries) for each in server.batches if each.failed is None] == [2, 2]


async def test_a_batch_the_provider_has_no_more_leaves_its_questions_unscored(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night()
    for unit, question in questions_of.items():
        await run.ask(step, question, unit)
    server.take = lambda batch: batch  # type: ignore[method-assign] -- taken, and lost
    ended = await run.through(step, questions_of)
    assert {outcome.reason for outcome, _ in ended.values()} == {Reason.ENGINE_UNAVAILABLE}


@whatever_the_dialect
async def test_a_budget_counts_what_is_submitted_and_what_it_does_not_reach_is_unscored(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    ended = await night(budget=Budget(maximum_tokens=2_100)).through(step, questions_of)
    reasons = [outcome.reason for outcome, _ in ended.values() if isinstance(outcome, Unscored)]
    assert set(reasons) == {Reason.BUDGET_EXHAUSTED}
    assert 0 < len(server.submitted_bodies) < len(UNITS)


@whatever_the_dialect
async def test_ideas_that_wait_when_a_budget_is_used_up_go_on_and_are_unscored(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night(budget=Budget(maximum_tokens=1))
    await run.through(step, {"i1": questions_of["i1"]})
    ended = await run.through(step, {"i2": questions_of["i2"]})
    assert ended["i2"][0].reason is Reason.BUDGET_EXHAUSTED
    assert len(server.submitted_bodies) == 1
    run.budget = SharedBudget(run.folder / "raised.sqlite", RunId("r1"), Budget())
    ended = await run.through(step, {"i2": questions_of["i2"]})
    assert isinstance(ended["i2"][0], Scored)


@whatever_the_dialect
async def test_once_collected_a_budget_counts_what_was_used(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night(budget=Budget(maximum_cost_usd=1.0))
    ended = await run.through(step, questions_of)
    paid = sum(row.cost_usd or 0.0 for _, ledger in ended.values() for row in ledger.llm_calls)
    assert run.budget.spent().cost_usd == pytest.approx(paid)


async def test_a_refused_key_ends_the_run_in_one_line(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night()
    await run.ask(step, questions_of["i1"], "i1")
    server.troubles = [("POST", 401)]
    with pytest.raises(ConfigurationError, match="refused the key"):
        run.waves().next()


@whatever_the_dialect
async def test_a_batch_refused_as_a_whole_ends_the_run_and_asks_nothing_by_calls(
    server: BatchServer, night: Callable[..., Night], step: Any, questions_of: dict[str, Any]
) -> None:
    run = night(failures=BatchFailures.CALL)
    for unit, question in questions_of.items():
        await run.ask(step, question, unit)
    server.troubles = [("POST", 400)]
    with pytest.raises(ConfigurationError, match="as a whole"):
        run.waves().next()
    assert server.asked == []
    ended = await run.through(step, questions_of)
    assert all(isinstance(outcome, Scored) for outcome, _ in ended.values())
    assert len(server.submitted_bodies) == len(UNITS)


@pytest.mark.parametrize("model", ["ollama/llama3", "openrouter/openai/gpt-5", "openai/o1-pro"])
def test_a_model_without_batches_is_refused_before_anything_is_asked(model: str) -> None:
    with pytest.raises(ConfigurationError, match="--batch"):
        check_takes_batches(model)
