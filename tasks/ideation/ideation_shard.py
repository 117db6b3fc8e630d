"""Works on a round and lands it. A round that landed whole is not worked on again."""

from contextlib import AsyncExitStack
from pathlib import Path

from schemas.base import replace
from schemas.ideation import IdeationRound
from schemas.ideation_run import IdeationReceipt, IdeationRequest
from schemas.identifiers import IdeaId
from schemas.run import Budget
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.ideation.network import open_network
from tasks.ideation.rounds import make_round
from tasks.ideation.versions import Slot, VersionTools
from tasks.judging.opening import open_judging, traced
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.shards.work import Shard, land_once
from tasks.web.client import open_client
from warehouse.ideations import IDEATION_RECORD
from warehouse.layout import Layout


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
    layout = Layout(job.request.warehouse)
    landed = await land_once(
        layout, IDEATION_RECORD, job.run_id, job.round_id, lambda: _round(job, settings, layout)
    )
    return (landed,)


async def _round(job: IdeationJob, settings: Settings, layout: Layout) -> IdeationRound:
    asking, ledger = (
        replace(job.request.evaluation, budget=job.budget),
        Ledger(IdeaId(job.round_id)),
    )
    async with AsyncExitStack() as stack:
        judging = open_judging(asking, settings, layout, job.run_id, stack)
        literature = SemanticScholarClient(
            job.gateway_url,
            ledger,
            await stack.enter_async_context(open_client(settings.literature.timeout_seconds)),
            settings.literature,
            lambda: judging.budget.count_request(ledger.idea_id),
            unlimited=asking.literature.unlimited,
        )
        engine = traced(judging.engine_of(ledger))
        tools = {
            cutoff: VersionTools(
                engine,
                stack.enter_context(open_network(job.snapshot, settings.home, cutoff)),
                judging.embedder,
                job.request.parameters,
            )
            for cutoff in dict.fromkeys(slot.cutoff_date for slot in job.slots)
        }
        return await make_round(job.round_id, job.slots, tools, literature, ledger)
