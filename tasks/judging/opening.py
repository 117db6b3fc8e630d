"""Opens the engine that a name stands for, with what its calls share: cache of replies, limits, budget."""

from collections.abc import Callable
from contextlib import AsyncExitStack

from schemas.profile import Profile
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.accounting.model_limits import open_model_limits
from tasks.embeddings.embedder import Embedder
from tasks.judging.engines import parse_engine_name
from tasks.judging.extractive_engine import ExtractiveEngine
from tasks.judging.litellm_backend import LiteLLMBackend, Sampling
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.step import BaselineTools, Engine
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout

EngineOf = Callable[[Ledger], Engine]
"""The engine that books its calls in that ledger."""


def open_engines(
    name: str,
    profile: Profile,
    settings: Settings,
    layout: Layout,
    *,
    api_base: str | None,
    embedder: Embedder,
    budget: SharedBudget,
    stack: AsyncExitStack,
) -> EngineOf:
    """Engines by ledger; what they share is closed with `stack`, in the event loop that runs now.

    Raises:
        ConfigurationError: no such engine.
    """
    backend = open_backend(name, profile, settings, layout, api_base=api_base, budget=budget, stack=stack)
    if backend is None:
        tools = BaselineTools(embedder)
        return lambda _: ExtractiveEngine(tools, profile.seed)
    return lambda ledger: LiteLLMEngine(backend, ledger)


def open_backend(
    name: str,
    profile: Profile,
    settings: Settings,
    layout: Layout,
    *,
    api_base: str | None,
    budget: SharedBudget,
    stack: AsyncExitStack,
) -> LiteLLMBackend | None:
    """What calls the model; None for an engine without one. Closed with `stack`, in the event loop that runs now.

    Raises:
        ConfigurationError: no such engine.
    """
    model = parse_engine_name(name).model
    if model is None:
        return None
    backend = LiteLLMBackend(
        model,
        settings.language_model,
        budget=budget,
        api_base=api_base,
        cache=KeyedStore(layout.cache / "replies.sqlite"),
        limits=open_model_limits(layout.state / "limits", model, settings.language_model),
        sampling=Sampling(seed=profile.seed, temperature=profile.temperature),
    )
    stack.push_async_callback(backend.close)
    return backend
