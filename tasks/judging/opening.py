"""Opens the engine that a name stands for, with what its calls share: cache of replies, limits,
budget. Without a model it is the embedded one, which answers by the steps' baselines.
"""

from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from schemas.base import Noun, Reply
from schemas.choices import EXTRACTIVE, EngineChoice
from schemas.identifiers import RunId
from schemas.outcome import Outcome, Scored, Unscored
from schemas.profile import Profile
from schemas.run import Budget
from schemas.settings import LanguageModelSettings, Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.embeddings import Embedder
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.batches.batched_model import BatchedModel, BatchTerms
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
    """Implements `Engine` with classic text processing over the real evidence.

    It makes no calls, so it writes no rows.
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


# An engine whose steps are spans.


class TracedEngine:
    """Implements `Engine` by another one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def name(self) -> str:
        return self._engine.name

    async def run(self, step: Step[Any, OutputT], inputs: Noun) -> Outcome[OutputT]:
        """Answer `step`; see `Engine.run`."""
        with span("step", step=step.name, step_version=step.version, engine=self.name) as spanned:
            outcome = await self._engine.run(step, inputs)
            if isinstance(outcome, Unscored):
                spanned.fail(outcome.reason.value)
            spanned.note(
                outcome=outcome.reason.value if isinstance(outcome, Unscored) else "scored"
            )
            return outcome


def with_spans(engine: Engine) -> Engine:
    """The engine itself where nothing is reported."""
    return engine if current() is None else TracedEngine(engine)


class EngineOf(Protocol):
    """Opens the engine that books its calls in a ledger; an attachment goes with every question.

    A `repetition`, counted from 1, asks with a seed of its own and is cached apart.
    """

    def __call__(
        self,
        ledger: Ledger,
        attachment: Attachment | None = None,
        /,
        repetition: int | None = None,
    ) -> Engine: ...


class Asking(Protocol):
    """Fields that every request has of the engine that it asks."""

    @property
    def engine(self) -> EngineChoice: ...
    @property
    def profile(self) -> Profile: ...
    @property
    def api_base(self) -> str | None: ...
    @property
    def budget(self) -> Budget: ...


@dataclass(frozen=True, slots=True)
class Judging:
    """Engine, caches and limits by which the units of a shard are judged."""

    engine_of: EngineOf
    embedder: SentenceEmbedder
    budget: SharedBudget


def open_judging(
    asking: Asking,
    settings: Settings,
    layout: Layout,
    scope: RunId,
    stack: AsyncExitStack,
    *,
    batches: BatchTerms | None = None,
) -> Judging:
    """Engines, embeddings and the budget of a shard; closed with `stack`, in the event loop that
    runs now.

    Args:
        scope: the run, or the ranking of one, by which the budget is kept.
    """
    budget = SharedBudget(layout.budgets, scope, asking.budget)
    stack.callback(budget.close)
    embedder = SentenceEmbedder(settings.embeddings, KeyedStore(layout.cache / "embeddings.sqlite"))
    engine_of = open_engines(
        asking.engine,
        asking.profile,
        settings,
        layout,
        api_base=asking.api_base,
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
    """Engines by ledger, each asking the models that the profile assigns; what they share is
    closed with `stack`, in the event loop that runs now. With `batches`, questions travel in them.
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
    """Return what a repetition of a question is sampled with; None: it is asked once.

    Every repetition has a seed of its own. At temperature 0 models ignore the seed, so that they
    would agree by construction: a repetition leaves the temperature to the provider.
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
    """Return what calls the model. Closed with `stack`, in the event loop that runs now."""
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
