"""What one shard of a check works with: engines for checking and judging, and the literature."""

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType

from schemas.settings import Settings
from schemas.works.check_run import CheckRequest, Judge
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.judging.litellm_backend import LiteLLMBackend
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.messages import Attachment, takes_pdf
from tasks.judging.opening import ExtractiveEngine, open_backend
from tasks.judging.parameters import Sampling
from tasks.judging.step import BaselineTools, Engine
from tasks.literature.client import LiteratureClient
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.sources.crossref import CrossrefSource
from tasks.sources.openalex import OpenAlexSource
from tasks.sources.registry import Source, open_sources
from tasks.sources.requests import SourceContext
from tasks.web.client import Client, open_client
from warehouse.layout import Layout
from warehouse.stores.keyed_store import KeyedStore

EngineOfRepetition = Callable[[int], Engine]
"""The engine that gives a judge's n-th answer, from 1."""


class CheckTools:
    """Engines for checking and judging; use it inside one event loop, as an async context manager.

    One answer alone is asked for at temperature 0. Several are asked for at the model's own
    temperature, with seeds that count up, and are kept apart in the reply cache: otherwise they
    would all be the first one.
    """

    def __init__(
        self,
        request: CheckRequest,
        settings: Settings,
        layout: Layout,
        gateway_url: str | None = None,
    ) -> None:
        self._request = request
        self._gateway_url = gateway_url
        self._http: Client | None = None
        self._sources_http: Client | None = None
        self._settings = settings
        self._layout = layout
        self._stack = AsyncExitStack()
        self._backends: dict[tuple[str, str | None, int, bool], LiteLLMBackend] = {}
        self._budget: SharedBudget | None = None
        self._extractive: ExtractiveEngine | None = None

    async def __aenter__(self) -> "CheckTools":
        if self._gateway_url is not None:
            seconds = self._settings.literature.timeout_seconds
            self._http = await self._stack.enter_async_context(open_client(seconds))
            if self._request.literature is not None and self._request.literature.asks_upstream:
                seconds = self._settings.sources.timeout_seconds
                self._sources_http = await self._stack.enter_async_context(open_client(seconds))
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

    def literature(self, ledger: Ledger) -> LiteratureClient | None:
        """Where related work is looked up; None: nothing is."""
        choice = self._request.literature
        if self._gateway_url is None or self._http is None or choice is None:
            return None
        return SemanticScholarClient(
            self._gateway_url,
            ledger,
            self._http,
            self._settings.literature,
            self._counting(ledger),
            unlimited=choice.unlimited,
            with_retracted=True,  # a manuscript that cites one is told
        )

    def retractions(self, ledger: Ledger) -> Sequence[Source]:
        """Who knows by DOI what was taken back; nobody where the live API is not asked either."""
        if self._sources_http is None:
            return ()
        context = SourceContext(
            self._sources_http,
            ledger,
            self._settings.home / "limits",
            self._counting(ledger),
            KeyedStore(self._layout.cache / "sources.sqlite"),
        )
        return open_sources(self._settings, context, [OpenAlexSource.name, CrossrefSource.name])

    def _counting(self, ledger: Ledger) -> Callable[[], None]:
        """Counts each request against the bounds."""
        budget = self._shared_budget()

        def count_request() -> None:
            if ledger.is_new_request():
                budget.count_request(ledger.idea_id)

        return count_request

    def _shared_budget(self) -> SharedBudget:
        if self._budget is None:
            self._budget = SharedBudget(
                self._layout.budgets,
                self._request.budget_scope,
                self._request.budget,
            )
            self._stack.callback(self._budget.close)
        return self._budget

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
            self._backends[key] = open_backend(
                model,
                Sampling(
                    seed=self._request.seed + repetition - 1, temperature=None if several else 0.0
                ),
                self._settings.language_model,
                self._layout,
                api_base=api_base,
                budget=self._shared_budget(),
                stack=self._stack,
            )
        return self._backends[key]
