"""Engines by name, with their shared reply cache, limits and budget.

Without a model this is the extractive engine, which answers by the steps' baselines.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from schemas.base import Noun, Reply
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.identifiers import RunId
from schemas.outcome import Outcome, Scored, Unscored
from schemas.profile import Profile
from schemas.settings import LanguageModelSettings, Settings
from schemas.work import Request
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.embeddings import Embedder
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.batches.batched_model import BatchedModel, BatchTerms
from tasks.judging.batches.questions import Questions
from tasks.judging.litellm_backend import LiteLLMBackend
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.messages import Attachment
from tasks.judging.models import open_model_limits, shared_api_base
from tasks.judging.panel import AssignedEngine
from tasks.judging.parameters import Sampling
from tasks.judging.step import BaselineTools, Engine, NoAnswer, Step, program_provenance
from tasks.telemetry.reporting import current, span
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore
from warehouse.stores.transcripts import open_transcripts

OutputT = TypeVar("OutputT", bound=Reply)


class ExtractiveEngine:
    """Implements `Engine` with the steps' baselines.

    It makes no calls and writes no rows.
    """

    name = EXTRACTIVE.text

    def __init__(self, tools: BaselineTools, seed: int) -> None:
        self._tools = tools
        self._seed = seed

    async def run(self, step: Step[Any, OutputT], inputs: Noun) -> Outcome[OutputT]:
        """Answer `step`; see `Engine.run`."""
        answer = await step.baseline(inputs, self._tools)
        provenance = program_provenance(step, self.name, self._seed)
        if isinstance(answer, NoAnswer):
            return Unscored(answer.reason, answer.detail, provenance)
        return Scored(answer, provenance)


class TracedEngine:
    """Implements `Engine` by another engine, with a span for every step."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        return self._engine.name

    async def run(self, step: Step[Any, OutputT], inputs: Noun) -> Outcome[OutputT]:
        """Answer `step`; see `Engine.run`."""
        with span("step", step=step.name, step_version=step.version, engine=self.name) as step_span:
            outcome = await self._engine.run(step, inputs)
            if isinstance(outcome, Unscored):
                step_span.fail(outcome.reason.value)
                step_span.note(outcome=outcome.reason.value)
            else:
                step_span.note(outcome="scored")
            return outcome


def with_spans(engine: Engine) -> Engine:
    """Wrap the engine in spans; without telemetry return it unchanged."""
    return engine if current() is None else TracedEngine(engine)


class EngineOf(Protocol):
    """Opens the engine of a ledger.

    An attachment is sent with every question. A `repetition`, counted from 1, has its own seed and
    is cached separately.
    """

    def __call__(
        self,
        ledger: Ledger,
        attachment: Attachment | None = None,
        /,
        repetition: int | None = None,
    ) -> Engine: ...


@dataclass(frozen=True, slots=True)
class Judging:
    """Engines, embeddings and budget of a shard."""

    engine_of: EngineOf
    embedder: SentenceEmbedder
    budget: SharedBudget


def open_judging(
    request: Request[Any, Any],
    settings: Settings,
    layout: Layout,
    scope: RunId,
    stack: AsyncExitStack,
    *,
    batches_path: Path | None = None,
) -> Judging:
    """Open engines, embeddings and budget of a shard.

    `stack` closes them in this event loop.

    Args:
        scope: run id, or id of a ranking, of the budget.
        batches_path: file for the questions of batches; None: questions are sent as calls.
    """
    batches = None
    if batches_path is not None:
        questions = Questions(batches_path)
        stack.callback(questions.close)
        batches = BatchTerms(questions, request.parameters.batch_failures)
    budget = SharedBudget(layout.budgets, scope, request.budget)
    stack.callback(budget.close)
    embedder = SentenceEmbedder(settings.embeddings, KeyedStore(layout.cache / "embeddings.sqlite"))
    engine_of = open_engines(
        request.engine,
        request.profile,
        settings,
        layout,
        api_base=request.api_base,
        embedder=embedder,
        budget=budget,
        stack=stack,
        batches=batches,
    )
    return Judging(engine_of, embedder, budget)


def open_engines(
    engine: EngineChoice,
    profile: Profile,
    settings: Settings,
    layout: Layout,
    *,
    api_base: str | None,
    embedder: Embedder,
    budget: SharedBudget,
    stack: AsyncExitStack,
    batches: BatchTerms | None = None,
) -> EngineOf:
    """Open the profile's models; return a factory of engines by ledger.

    `stack` closes the models in this event loop. With `batches`, questions are sent in batches.
    """
    model = engine.model
    if model is None:
        tools = BaselineTools(embedder)
        return lambda *_, **__: ExtractiveEngine(tools, profile.seed)
    backends = {
        each: open_backend(
            each,
            Sampling(seed=profile.seed, temperature=profile.temperature),
            settings.language_model,
            layout,
            api_base=shared_api_base(each, model, api_base),
            budget=budget,
            stack=stack,
            batches=batches,
        )
        for each in (model, *profile.judging.models)
    }

    def engine_of(
        ledger: Ledger, attachment: Attachment | None = None, /, repetition: int | None = None
    ) -> Engine:
        engines = {
            each: LiteLLMEngine(
                backend,
                ledger,
                judging=profile.judging,
                attachment=attachment,
                repetition=repetition or 1,
                sampling=repetition_sampling(backend.sampling, repetition),
            )
            for each, backend in backends.items()
        }
        if not profile.judging.models:
            return engines[model]
        return AssignedEngine(
            engines[model], engines, profile.judging, ledger, repetition=repetition or 1
        )

    return engine_of


def repetition_sampling(sampling: Sampling, repetition: int | None) -> Sampling:
    """Return the sampling of a repetition; None: the question is asked once.

    Every repetition has its own seed. At temperature 0 models ignore the seed and all repetitions
    would agree, so 0 is replaced by the provider's default.
    """
    if repetition is None:
        return sampling
    return Sampling(
        seed=None if sampling.seed is None else sampling.seed + repetition - 1,
        temperature=sampling.temperature or None,
    )


def open_backend(
    model: str,
    sampling: Sampling,
    settings: LanguageModelSettings,
    layout: Layout,
    *,
    api_base: str | None,
    budget: SharedBudget,
    stack: AsyncExitStack,
    batches: BatchTerms | None = None,
) -> LiteLLMBackend:
    """Open the backend of a model.

    `stack` closes it in this event loop.
    """
    backend = LiteLLMBackend(
        model,
        settings,
        budget=budget,
        api_base=api_base,
        cache=KeyedStore(layout.cache / "replies.sqlite"),
        refusals=KeyedStore(layout.state / "models.sqlite"),
        transcripts=open_transcripts(layout, settings.keep_transcripts_days),
        limits=open_model_limits(layout.state / "limits", model, settings),
        sampling=sampling,
    )
    if batches is not None:
        backend.batched = BatchedModel(model, api_base, batches, backend.price)
    stack.push_async_callback(backend.close)
    return backend
