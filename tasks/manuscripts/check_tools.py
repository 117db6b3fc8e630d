"""The engines of one worker: one per model and repetition, opened when first asked for, closed
together.
"""

from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType

from schemas.check_run import CheckRequest, Judge
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.litellm_backend import LiteLLMBackend
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.messages import Attachment, takes_pdf
from tasks.judging.opening import ExtractiveEngine, open_backend
from tasks.judging.parameters import Sampling
from tasks.judging.step import BaselineTools, Engine
from tasks.manuscripts.judge import EngineOfRepetition
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout


class CheckTools:
    """Engines for checking and judging; use it inside one event loop, as an async context manager.

    One answer alone is asked for at temperature 0. Several are asked for at the model's own
    temperature, with seeds that
    count up, and are kept apart in the reply cache: otherwise they would all be the first one.
    """

    def __init__(self, request: CheckRequest, settings: Settings, layout: Layout) -> None:
        self._request = request
        self._settings = settings
        self._layout = layout
        self._stack = AsyncExitStack()
        self._backends: dict[tuple[str, str | None, int, bool], LiteLLMBackend] = {}
        self._budget: SharedBudget | None = None
        self._extractive: ExtractiveEngine | None = None

    async def __aenter__(self) -> "CheckTools":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def takes_pdf(self) -> bool:
        """Whether the checker's model is known to read attached PDFs."""
        model = self._request.engine.model
        return model is not None and takes_pdf(model)

    def checker(self, ledger: Ledger, attempt: int, attachment: Attachment | None) -> Engine:
        """The engine of an attempt; with an attachment, every question takes it along."""
        several = self._request.attempt_count > 1
        return self._engine(
            Judge(engine=self._request.engine, api_base=self._request.api_base),
            ledger,
            attempt,
            several,
            attachment,
        )

    def judge(self, ledger: Ledger, judge: Judge) -> EngineOfRepetition:
        """The engine of each of a judge's answers."""
        several = self._request.repetition_count > 1
        return partial(self._engine, judge, ledger, several=several)

    def _engine(
        self,
        asked: Judge,
        ledger: Ledger,
        repetition: int,
        several: bool,
        attachment: Attachment | None = None,
    ) -> Engine:
        model = asked.engine.model
        if model is None:
            return self._baseline()
        backend = self._backend(model, asked.api_base, repetition, several)
        judging = self._request.judging
        return LiteLLMEngine(
            backend, ledger, judging=judging, attachment=attachment, repetition=repetition
        )

    def _baseline(self) -> ExtractiveEngine:
        if self._extractive is None:
            store = KeyedStore(self._layout.cache / "embeddings.sqlite")
            self._extractive = ExtractiveEngine(
                BaselineTools(SentenceEmbedder(self._settings.embeddings, store)),
                self._request.seed,
            )
        return self._extractive

    def _backend(
        self, model: str, api_base: str | None, repetition: int, several: bool
    ) -> LiteLLMBackend:
        key = (model, api_base, repetition, several)
        if key not in self._backends:
            if self._budget is None:
                self._budget = SharedBudget(
                    self._layout.state / "budgets.sqlite",
                    self._request.budget_scope,
                    self._request.budget,
                )
                self._stack.callback(self._budget.close)
            self._backends[key] = open_backend(
                model,
                Sampling(
                    seed=self._request.seed + repetition - 1, temperature=None if several else 0.0
                ),
                self._settings.language_model,
                self._layout,
                api_base=api_base,
                budget=self._budget,
                stack=self._stack,
            )
        return self._backends[key]
