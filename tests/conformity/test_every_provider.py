"""What holds for a question asked of any provider's model, whatever that model refuses.

The servers refuse what the real models refuse (see `test_provider_servers.py`), and questions are
asked as a run asks them: with the seed and the temperature of the shipped profiles.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from flows.profiles import load_profile
from schemas.calls import CallStatus, LlmCall
from schemas.identifiers import IdeaId, RunId
from schemas.judging import AskingParameters, Effort, JudgingParameters
from schemas.outcome import Outcome, Scored, Unscored
from schemas.reasons import Reason
from schemas.run import Budget
from schemas.settings import LanguageModelSettings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.judging.litellm_engine import LiteLLMBackend, LiteLLMEngine, Sampling
from tasks.soundness.steps.soundness_review import SOUNDNESS_REVIEW, EvidenceShown, ReviewInput
from tests.support.providers.anthropic_messages import AnthropicServer
from tests.support.providers.azure_openai import AzureOpenAIServer
from tests.support.providers.base import ProviderServer
from tests.support.providers.gemini import GeminiServer
from tests.support.providers.ollama import OllamaServer
from tests.support.providers.openai_chat import OpenAIChatServer
from tests.support.providers.openai_responses import OpenAIResponsesServer
from tests.support.providers.openrouter import OpenRouterServer
from tests.support.providers.vllm import VLLMServer
from tests.support.tiers import some

KEY = "loopback-key"
AZURE_VERSION = "2025-04-01-preview"
SEED, TEMPERATURE = "seed", "temperature"


@dataclass(frozen=True)
class Model:
    """A model and who provides it.

    Attributes:
        drops: what the row says it was not sent as the profile asks.
        attempts: how many calls the first question takes; more than one where LiteLLM does not know
            what the model refuses, and the refusal has to say so.
        efforts: what it can be asked; empty where nothing says that it thinks.
    """

    name: str
    server: type[ProviderServer]
    key_variable: str | None
    wrong_name: str
    drops: frozenset[str] = frozenset()
    attempts: int = 1
    efforts: tuple[Effort, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


NONE, *MORE = Effort
NO_TEMPERATURE = frozenset({TEMPERATURE})
NEITHER = frozenset({SEED, TEMPERATURE})
OPENAI = (OpenAIChatServer, "OPENAI_API_KEY", "openai/gpt-99")
RESPONSES = (OpenAIResponsesServer, "OPENAI_API_KEY", "openai/responses/gpt-99")
AZURE = (AzureOpenAIServer, "AZURE_API_KEY", "azure/nothing")
ANTHROPIC = (AnthropicServer, "ANTHROPIC_API_KEY", "anthropic/claude-99")
GEMINI = (GeminiServer, "GEMINI_API_KEY", "gemini/gemini-99")
OLLAMA = (OllamaServer, None, "ollama_chat/nothing")
VLLM = (VLLMServer, "HOSTED_VLLM_API_KEY", "hosted_vllm/nothing")
OPENROUTER = (OpenRouterServer, "OPENROUTER_API_KEY", "openrouter/nobody/nothing")
EFFORTS = tuple(Effort)

MODELS = [
    Model("openai/gpt-4.1", *OPENAI),
    Model("openai/gpt-4o-mini", *OPENAI),
    Model("openai/gpt-5", *OPENAI, NO_TEMPERATURE, efforts=EFFORTS),
    Model("openai/gpt-5-mini", *OPENAI, NO_TEMPERATURE, efforts=EFFORTS),
    Model("openai/gpt-5.1", *OPENAI, NO_TEMPERATURE, efforts=EFFORTS),
    Model("openai/o3", *OPENAI, NO_TEMPERATURE, efforts=EFFORTS),
    Model("openai/o4-mini", *OPENAI, NO_TEMPERATURE, efforts=EFFORTS),
    Model("openai/o3-pro", *RESPONSES, NEITHER, efforts=EFFORTS),
    Model("openai/gpt-5-pro", *RESPONSES, NEITHER | {"effort"}, 2, EFFORTS),
    Model("azure/gpt-4.1", *AZURE),
    Model("azure/my-plain-deployment", *AZURE),
    Model("azure/my-reasoning-deployment", *AZURE, NO_TEMPERATURE, 3),
    Model("anthropic/claude-sonnet-4-5", *ANTHROPIC, NEITHER, efforts=EFFORTS),
    Model("anthropic/claude-opus-4-6", *ANTHROPIC, NEITHER, efforts=EFFORTS),
    Model("anthropic/claude-opus-4-7", *ANTHROPIC, NEITHER, efforts=EFFORTS),
    Model("anthropic/claude-opus-5", *ANTHROPIC, NEITHER, efforts=EFFORTS),
    Model("anthropic/claude-opus-5-5", *ANTHROPIC, NEITHER, efforts=EFFORTS),
    Model("gemini/gemini-2.5-pro", *GEMINI, efforts=EFFORTS),
    Model("gemini/gemini-2.5-flash", *GEMINI, efforts=EFFORTS),
    Model("ollama_chat/llama3.2", *OLLAMA, attempts=2),
    Model("ollama_chat/qwen3", *OLLAMA, options={"thinking": "yes"}, efforts=EFFORTS),
    Model("ollama/llama3.2", *OLLAMA, attempts=2),
    Model("hosted_vllm/Qwen/Qwen3-8B", *VLLM, options={"thinking": "yes"}, efforts=EFFORTS),
    Model("openrouter/openai/gpt-4o-mini", *OPENROUTER),
    Model("openrouter/openai/gpt-5", *OPENROUTER, efforts=EFFORTS),
    Model("openrouter/anthropic/claude-opus-4.7", *OPENROUTER, NO_TEMPERATURE, efforts=EFFORTS),
]

DIALECTS = [
    max((model for model in MODELS if model.server is kind), key=lambda model: bool(model.efforts))
    for kind in dict.fromkeys(model.server for model in MODELS)
]
"""One model of each provider, that thinks where one does."""


def in_every_dialect(models: list[Model]) -> pytest.MarkDecorator:
    """One model of each dialect; in `make long` the others."""
    return pytest.mark.parametrize("model", some(models, DIALECTS.__contains__), ids=str)


every_model = pytest.mark.parametrize("model", MODELS, ids=str)
every_provider = pytest.mark.parametrize("model", DIALECTS, ids=str)
Ask = Callable[..., Awaitable[SimpleNamespace]]


@pytest.fixture(scope="module")
def started() -> Iterator[Callable[[type[ProviderServer]], ProviderServer]]:
    """One server of each kind, started on first use: to stop one takes longer than a test."""
    with ExitStack() as stack:
        yield cache(lambda kind: stack.enter_context(kind(key=KEY)))


@pytest.fixture
def server(
    model: Model,
    started: Callable[[type[ProviderServer]], ProviderServer],
    monkeypatch: pytest.MonkeyPatch,
) -> ProviderServer:
    monkeypatch.setenv("AZURE_API_VERSION", AZURE_VERSION)
    if model.key_variable:
        monkeypatch.setenv(model.key_variable, KEY)
    return started(model.server).renew()


@pytest.fixture
async def open_engine(
    model: Model, server: ProviderServer, tmp_path: Path
) -> AsyncIterator[Callable[..., SimpleNamespace]]:
    """Opens the engine that a run of a shipped profile opens, on the model's server."""
    profile = load_profile("faithful")
    backends: list[LiteLLMBackend] = []

    def opened(
        name: str = model.name, effort: Effort | None = None, **options: Any
    ) -> SimpleNamespace:
        given = {"timeout_seconds": 30.0, "maximum_attempts": 3, **model.options, **options}
        settings = LanguageModelSettings(**given)
        backend = LiteLLMBackend(
            name,
            settings,
            budget=SharedBudget(tmp_path / "budget.sqlite", RunId("r1"), Budget()),
            api_base=server.api_base,
            sampling=Sampling(seed=profile.seed, temperature=profile.temperature),
            backoff_seconds=0.01,
        )
        backends.append(backend)
        ledger = Ledger(IdeaId("i1"))
        judging = JudgingParameters(judgement=AskingParameters(effort=effort or Effort.MEDIUM))
        return SimpleNamespace(
            engine=LiteLLMEngine(backend, ledger, judging=judging), rows=ledger.llm_calls
        )

    yield opened
    for backend in backends:
        await backend.close()


def question(length: int = 1) -> ReviewInput:
    found = EvidenceShown(
        key="P1",
        title="Sparse routing at scale",
        published="2025",
        read_from="full text",
        citation_count=3,
        method="Tokens are routed to two of sixteen experts. " * length,
        results="Compute fell by 30% at equal loss.",
        context="Language models.",
    )
    return ReviewInput(
        idea="We route tokens sparsely through experts, to save compute.",
        method="Sparse routing",
        evidence=(found,),
    )


async def ask(opened: SimpleNamespace, length: int = 1) -> Outcome[Any]:
    outcome: Outcome[Any] = await opened.engine.run(SOUNDNESS_REVIEW, question(length))
    assert len(outcome.provenance.call_ids) <= len(opened.rows)
    return outcome


def unscored(outcome: Outcome[Any]) -> Reason:
    assert isinstance(outcome, Unscored), outcome
    assert "\n" not in outcome.detail
    assert KEY not in outcome.detail
    return outcome.reason


def dropped(row: LlmCall) -> set[str]:
    """The names of what was not sent as the profile asks."""
    told = row.parameters_dropped.split(", ") if row.parameters_dropped else []
    return {one.partition("=")[0] for one in told}


def statuses(opened: SimpleNamespace) -> list[CallStatus]:
    return [row.status for row in opened.rows]


@every_model
async def test_a_question_is_scored_and_what_the_model_refuses_is_known_or_learnt(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    opened = open_engine()
    outcome = await ask(opened)
    assert isinstance(outcome, Scored), outcome
    refusals = [CallStatus.CLIENT_ERROR] * (model.attempts - 1)
    assert statuses(opened) == [*refusals, CallStatus.OK], [row.error for row in opened.rows]
    last = opened.rows[-1]
    assert dropped(last) == model.drops
    assert (last.seed is None) == (SEED in model.drops)
    assert min(last.prompt_tokens, last.completion_tokens) > 0


@in_every_dialect(MODELS)
async def test_what_was_learnt_is_not_asked_again(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    opened = open_engine()
    await ask(opened)
    asked = len(server.asked)
    assert isinstance(await ask(opened, length=2), Scored)
    assert len(server.asked) == asked + 1


@in_every_dialect(MODELS)
@pytest.mark.parametrize("effort", Effort)
async def test_every_effort_of_a_profile_is_answered(
    model: Model, server: ProviderServer, open_engine: Any, effort: Effort
) -> None:
    opened = open_engine(effort=effort)
    outcome = await ask(opened)
    assert isinstance(outcome, Scored), outcome
    asked = server.questions[-1].effort
    if model.efforts and "effort" not in dropped(opened.rows[-1]):
        assert asked == effort.value or (asked, server.__class__) == ("medium", OllamaServer)


CAN_STOP_THINKING = [
    "openai/gpt-5.1",
    "anthropic/claude-sonnet-4-5",
    "anthropic/claude-opus-4-7",
    "anthropic/claude-opus-5",
    "gemini/gemini-2.5-flash",
    "ollama_chat/qwen3",
    "hosted_vllm/Qwen/Qwen3-8B",
]


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.name in CAN_STOP_THINKING], ids=str
)
async def test_a_model_that_can_is_told_not_to_think(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    assert isinstance(await ask(open_engine(effort=NONE)), Scored)
    assert server.questions[-1].effort == "none"


@in_every_dialect(MODELS)
async def test_thinking_leaves_the_answer_its_room(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    server.thinking_tokens |= {"medium": 6_000, "high": 6_000}
    opened = open_engine()
    outcome = await ask(opened)
    assert isinstance(outcome, Scored), outcome
    known_to_think = bool(model.efforts)
    assert CallStatus.CUT_OFF not in statuses(opened) or not known_to_think


@in_every_dialect(MODELS)
async def test_a_refusal_is_refused_and_not_asked_again(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    opened = open_engine()
    await ask(opened)
    server.behaviour, asked = "refusal", len(server.asked)
    reason = unscored(await ask(opened, length=2))
    if model.server is OpenAIResponsesServer:
        # LiteLLM turns a refusal of the Responses API into an empty reply, and says no more.
        assert reason is Reason.REPLY_EMPTY
        return
    assert reason is Reason.REFUSED
    assert len(server.asked) == asked + 1


FILTERS = [model for model in MODELS if model.server not in (OllamaServer, VLLMServer)]


@in_every_dialect(FILTERS)
async def test_a_content_filter_is_a_refusal(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    server.behaviour = "content_filter"
    assert unscored(await ask(open_engine())) is Reason.REFUSED


# Of Ollama's `/api/generate` LiteLLM says that every reply ended by itself.
TELLS_CUT_OFF = [model for model in MODELS if not model.name.startswith("ollama/")]


@in_every_dialect(TELLS_CUT_OFF)
async def test_a_reply_that_was_cut_off_gets_more_room_once(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    opened = open_engine()
    server.behaviour = ["cut_off", "good"]
    assert isinstance(await ask(opened), Scored)
    caps = [one.cap for one in server.questions]
    assert caps[0] < caps[1]
    server.behaviour = "cut_off"
    assert unscored(await ask(opened, length=2)) is Reason.REPLY_CUT_OFF
    assert statuses(opened)[-2:] == [CallStatus.CUT_OFF] * 2
    first, second = (one.cap for one in server.questions[2:])
    assert caps[0] == first < second


@every_provider
async def test_the_wait_a_rate_limit_asks_for_is_waited(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    server.behaviour = ["rate_limited:0.5", "good"]
    opened = open_engine()
    assert isinstance(await ask(opened), Scored)
    first, second = server.asked[-2:]
    tells_no_wait = model.server in (OllamaServer, VLLMServer)
    assert second.at - first.at >= (0 if tells_no_wait else 0.45)


@every_provider
@pytest.mark.parametrize("failure", ["server_error", "overloaded", "dropped", "not_json"])
async def test_a_passing_failure_is_tried_again(
    model: Model, server: ProviderServer, open_engine: Any, failure: str
) -> None:
    server.behaviour = [failure, "good"]
    opened = open_engine()
    outcome = await ask(opened)
    assert isinstance(outcome, Scored), outcome
    assert len(server.questions) == 2


@pytest.mark.parametrize(
    "model", [model for model in MODELS if model.server is OpenRouterServer], ids=str
)
@pytest.mark.parametrize("failure", ["upstream_failed", "upstream_rate_limited"])
async def test_a_failure_inside_a_200_is_tried_again(
    model: Model, server: ProviderServer, open_engine: Any, failure: str
) -> None:
    server.behaviour = [failure, "good"]
    assert isinstance(await ask(open_engine()), Scored)
    assert len(server.asked) == 2


@every_provider
async def test_a_wrong_model_is_named_once_and_soon_not_asked_for_any_more(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    opened = open_engine(model.wrong_name)
    outcomes = [await ask(opened, length) for length in range(1, 6)]
    assert {unscored(outcome) for outcome in outcomes} == {Reason.ENGINE_UNAVAILABLE}
    assert all("no such model" in outcome.detail for outcome in outcomes)
    assert len(server.asked) <= 3


KEYS = [model for model in MODELS if model.key_variable]


@in_every_dialect(KEYS)
async def test_a_wrong_key_is_named_once_and_soon_not_sent_any_more(
    model: Model, server: ProviderServer, open_engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(str(model.key_variable), "another-key-9876543210")
    opened = open_engine()
    outcomes = [await ask(opened, length) for length in range(1, 6)]
    assert {unscored(outcome) for outcome in outcomes} == {Reason.ENGINE_UNAVAILABLE}
    assert all("refused the key" in outcome.detail for outcome in outcomes)
    assert "another-key-9876543210" not in repr(opened.rows) + repr(outcomes)
    assert len(server.asked) <= 3


TELLS_LENGTH = [model for model in MODELS if model.server is not OllamaServer]


@in_every_dialect(TELLS_LENGTH)
async def test_a_prompt_longer_than_the_model_takes_is_too_long_and_not_sent_again(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    server.context_tokens = 2_000
    opened = open_engine(context_tokens=200_000)
    outcome = await ask(opened, length=400)
    assert unscored(outcome) is Reason.INPUT_TOO_LONG
    assert "ASSAY_LANGUAGE_MODEL__CONTEXT_TOKENS" in outcome.detail
    assert len(server.asked) <= model.attempts


OLLAMAS = [model for model in MODELS if model.server is OllamaServer]


@in_every_dialect(OLLAMAS)
async def test_ollama_is_told_how_long_prompts_are_so_that_it_loses_none(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    opened = open_engine()
    assert isinstance(await ask(opened, length=800), Scored)
    said = "\n".join(message["content"] for message in server.questions[-1].messages)
    assert question(800).evidence[0].method.strip() in said
    assert question().idea in said


PAID = [model for model in MODELS if model.server not in (OllamaServer, VLLMServer, GeminiServer)]


@in_every_dialect(PAID)
async def test_an_empty_account_is_named_and_soon_not_asked_any_more(
    model: Model, server: ProviderServer, open_engine: Any
) -> None:
    server.behaviour = "no_quota"
    opened = open_engine()
    outcomes = [await ask(opened, length) for length in range(1, 6)]
    assert {unscored(outcome) for outcome in outcomes} == {Reason.ENGINE_UNAVAILABLE}
    assert len(server.questions) <= 3
