"""Works on a round and lands it. A round that landed whole is not worked on again."""

from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

from schemas.ideation_run import IdeationReceipt, IdeationRequest
from schemas.identifiers import IdeaId
from schemas.run import Budget
from schemas.settings import Settings
from tasks.accounting.budgets import SharedBudget
from tasks.accounting.ledger import Ledger
from tasks.embeddings.sentence_embedder import SentenceEmbedder
from tasks.ideation.network import open_network
from tasks.ideation.rounds import make_round
from tasks.ideation.versions import Slot, VersionTools
from tasks.judging.opening import open_engines, traced
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.shards.work import Shard
from tasks.web.client import open_client
from warehouse.ideations import IDEATION_RECORD, IDEATIONS
from warehouse.keyed_store import KeyedStore
from warehouse.layout import Layout
from warehouse.units.landing import complete_receipt
from warehouse.units.record import land_unit


class IdeationJob(Shard):
    """One round of a run, for one worker."""

    request: IdeationRequest
    round_id: str
    slots: tuple[Slot, ...]
    snapshot: Path
    gateway_url: str
    budget: Budget

    @property
    def unit_names(self) -> tuple[str, ...]:
        return (self.round_id,)

    @property
    def warehouse(self) -> Path:
        return self.request.warehouse


async def ideation_job(job: IdeationJob, settings: Settings) -> tuple[IdeationReceipt, ...]:
    """Work on the round and land it, unless it landed whole.

    Raises:
        ConfigurationError, OSError: as `each_unit`.
        SnapshotError: the snapshot, or its network, cannot be read.
    """
    request, layout = job.request.evaluation, Layout(job.request.warehouse)
    done = complete_receipt(layout, IDEATIONS, job.run_id, job.round_id)
    if done is not None:
        return (done,)
    started_at, ledger = datetime.now(UTC), Ledger(IdeaId(job.round_id))
    async with AsyncExitStack() as stack:
        budget = SharedBudget(layout.state / "budgets.sqlite", job.run_id, job.budget)
        stack.callback(budget.close)
        embedder = SentenceEmbedder(
            settings.embeddings, KeyedStore(layout.cache / "embeddings.sqlite")
        )
        engine_of = open_engines(
            request.engine,
            request.profile,
            settings,
            layout,
            api_base=request.api_base,
            embedder=embedder,
            budget=budget,
            stack=stack,
        )
        literature = SemanticScholarClient(
            job.gateway_url,
            ledger,
            await stack.enter_async_context(open_client(settings.literature.timeout_seconds)),
            settings.literature,
            lambda: budget.count_request(ledger.idea_id),
            unlimited=request.literature.unlimited,
        )
        engine = traced(engine_of(ledger))
        tools = {
            cutoff: VersionTools(
                engine,
                stack.enter_context(open_network(job.snapshot, settings.home, cutoff)),
                embedder,
                job.request.parameters,
            )
            for cutoff in dict.fromkeys(slot.cutoff_date for slot in job.slots)
        }
        found = await make_round(job.round_id, job.slots, tools, literature, ledger)
    ended_at = datetime.now(UTC)
    return (land_unit(layout, IDEATION_RECORD, job.run_id, found, started_at, ended_at),)
