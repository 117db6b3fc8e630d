"""Ideas evaluated through a gateway against loopback servers, and what they cost."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from flows.works.evaluate.request import with_assessment
from schemas.base import Noun
from schemas.choices import LIVE, EngineChoice
from schemas.idea import Idea
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.outcome import Outcome
from schemas.profile import Profile
from schemas.run import Budget, Module
from schemas.settings import LanguageModelSettings, LiteratureSettings, Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.documents.document import AbstractLibrary, DocumentLibrary
from tasks.embeddings import Embedder
from tasks.evaluation.evaluate_idea import evaluate_idea
from tasks.evaluation.modules import IdeaTools
from tasks.evaluation.shard_job import PlannedIdea, ShardJob
from tasks.judging.litellm_backend import LiteLLMBackend, Sampling
from tasks.judging.litellm_engine import LiteLLMEngine
from tasks.judging.opening import repetition_sampling
from tasks.judging.step import Engine, Step
from tasks.literature.client import LiteratureClient
from tasks.literature.gateway.process import GatewayProcess
from tests.benchmarks._semantic_scholar import SemanticScholarOverSnapshot
from tests.support.requests import run_request

MODEL = "openai/reader"
_IDEAS_AT_ONCE = 4

Turn = AbstractAsyncContextManager[Any]


@dataclass
class Spent:
    """What every idea of one profile took."""

    profile: str
    ideas: list[IdeaEvaluation] = field(default_factory=list)
    upstream: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    def per_idea(self, what: str) -> list[float]:
        if what == "requests":
            return [
                float(sum(call.upstream_requests for call in idea.api_calls)) for idea in self.ideas
            ]
        if what == "calls":
            return [float(len(idea.llm_calls)) for idea in self.ideas]
        return [
            float(sum(getattr(call, f"{what}_tokens") for call in idea.llm_calls))
            for idea in self.ideas
        ]

    def by_step(self, what: str) -> Counter[str]:
        """Model calls (`calls`) or tokens (`prompt`, `completion`) of all ideas by step."""
        counts: Counter[str] = Counter()
        for call in (call for idea in self.ideas for call in idea.llm_calls):
            counts[call.step] += 1 if what == "calls" else getattr(call, f"{what}_tokens")
        return counts

    def compared(self) -> dict[str, set[str]]:
        found = {
            idea.idea.idea_id: idea.contribution
            for idea in self.ideas
            if idea.contribution is not None
        }
        return {
            name: {row.paper_id for row in each.candidates if row.compared}
            for name, each in found.items()
        }


@dataclass(frozen=True)
class EngineInTurn:
    """An engine that asks when its turn comes."""

    engine: Engine
    turn: Turn

    @property
    def name(self) -> str:
        return self.engine.name

    async def run(self, step: Step[Any, Any], inputs: Noun) -> Outcome[Any]:
        async with self.turn:
            return await self.engine.run(step, inputs)


class RequestsInTurn(httpx.AsyncHTTPTransport):
    """Requests that leave when their turn comes, and are answered within it."""

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self._turn = turn

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        async with self._turn:
            response = await super().handle_async_request(request)
            body = b"".join([part async for part in response.aiter_raw()])
            return httpx.Response(
                response.status_code, headers=response.headers, stream=httpx.ByteStream(body)
            )


async def spend(
    profile: Profile,
    ideas: Sequence[Idea],
    upstream: SemanticScholarOverSnapshot,
    api_base: str,
    embedder: Embedder,
    folder: Path,
    documents: DocumentLibrary | None = None,
    *,
    one_at_a_time: bool = False,
) -> Spent:
    """Evaluate the ideas with empty caches, and count what leaves for the servers.

    With `one_at_a_time` a model call or a request waits until the one before it was answered. How
    much travels together then does not depend on how fast anything is, and counts are exact.
    """
    folder.mkdir()
    spent = Spent(profile.name)
    upstream.counts.clear()
    started = time.monotonic()
    settings = Settings(
        home=folder,
        literature=LiteratureSettings(upstream_url=upstream.url, requests_per_second=1000),
        language_model=LanguageModelSettings(
            structured_output="json_schema", context_tokens=128_000
        ),
    )
    job = _job(profile, api_base, folder)
    turn: Turn = asyncio.Lock() if one_at_a_time else nullcontext()
    gate = asyncio.Semaphore(1 if one_at_a_time else _IDEAS_AT_ONCE)
    with GatewayProcess(settings, LIVE, folder / "cache") as gateway:
        async with _shared(job, settings, folder, turn) as (http, backend):

            async def one(idea: Idea) -> IdeaEvaluation:
                ledger = Ledger(idea.idea_id)
                tools = IdeaTools(
                    engine=EngineInTurn(LiteLLMEngine(backend, ledger), turn),
                    literature=LiteratureClient(gateway.url, ledger, http, settings.literature),
                    documents=documents or AbstractLibrary(),
                    embedder=embedder,
                    ledger=ledger,
                    engine_of_repetition=lambda number: EngineInTurn(
                        LiteLLMEngine(
                            backend,
                            ledger,
                            repetition=number,
                            sampling=repetition_sampling(backend.sampling, number),
                        ),
                        turn,
                    ),
                )
                async with gate:
                    return await evaluate_idea(
                        PlannedIdea(idea=idea, evaluation_key="none"), job, tools
                    )

            spent.ideas = await asyncio.gather(*(one(idea) for idea in ideas))
    spent.upstream = Counter(upstream.counts)
    spent.seconds = time.monotonic() - started
    return spent


def _job(profile: Profile, api_base: str, folder: Path) -> ShardJob:
    engine = EngineChoice.parse(f"litellm:{MODEL}")
    usual = (Module.SOUNDNESS, Module.CONTRIBUTION)
    profile, modules = with_assessment(profile, usual, engine)
    request = run_request(
        ideas_path=folder / "ideas.jsonl",
        warehouse=folder,
        profile=profile,
        engine=engine,
        modules=modules,
        api_base=api_base,
        literature="live",
        full_text=False,
    )
    return ShardJob(
        run_id="benchmark", request=request, gateway_url="", literature="live", ideas=()
    )


@asynccontextmanager
async def _shared(
    job: ShardJob, settings: Settings, folder: Path, turn: Turn
) -> AsyncIterator[tuple[httpx.AsyncClient, LiteLLMBackend]]:
    """Connections and model, shared by all ideas as in a worker; no replies are cached."""
    budget = SharedBudget(folder / "budgets.sqlite", job.run_id, Budget())
    profile = job.request.profile
    sampling = Sampling(seed=profile.seed, temperature=profile.temperature)
    backend = LiteLLMBackend(
        MODEL,
        settings.language_model,
        budget=budget,
        api_base=job.request.api_base,
        sampling=sampling,
    )
    async with httpx.AsyncClient(transport=RequestsInTurn(turn)) as http:
        yield http, backend
    await backend.close()
    budget.close()
