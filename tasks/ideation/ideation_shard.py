"""Works on a round and lands it. A round that landed whole is not worked on again."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import date
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.failure import Failure, look_up_failures
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.run import Budget, UnitReceipt
from schemas.settings import Settings
from schemas.works.ideation import IdeationRound, IdeaVersion, kept_versions
from schemas.works.ideation_run import IdeationRequest
from tasks.accounting.ledger import Ledger
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import paper_text
from tasks.ideation.network import open_network
from tasks.ideation.versions import Made, Slot, VersionTools, make_version, unmade
from tasks.judging.opening import open_judging, traced
from tasks.literature.client import LiteratureClient
from tasks.literature.semantic_scholar import SemanticScholarClient
from tasks.shards.work import Shard, each_unit, land_once, or_failure
from tasks.web.client import open_client
from warehouse.kinds.ideations import IDEATIONS
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

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.snapshot, *self.request.evaluation.profile.files)


async def ideation_job(job: IdeationJob, settings: Settings) -> tuple[UnitReceipt, ...]:
    """Work on the round and land it, unless it landed whole.

    Raises:
        ConfigurationError, OSError: as `each_unit`.
        SnapshotError: the snapshot, or its network, cannot be read.
    """
    layout = Layout(job.request.warehouse)
    landed = await land_once(
        layout, IDEATIONS, job.run_id, job.round_id, lambda: _round(job, settings, layout)
    )
    return (landed,)


async def _round(job: IdeationJob, settings: Settings, layout: Layout) -> IdeationRound:
    asking = replace(job.request.evaluation, budget=job.budget)
    unit = IDEATIONS.unit_path(layout, job.run_id, job.round_id)
    ledger = Ledger(IdeaId(job.round_id), unit)
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


STAGE = "ideation"
SLOTS_IN_FLIGHT = 8
PAPERS_COMPARED = 10


async def make_round(
    round_id: str,
    slots: Sequence[Slot],
    tools: dict[date | None, VersionTools],
    literature: LiteratureClient,
    ledger: Ledger,
) -> IdeationRound:
    """A version for each slot, by the tools of its cutoff.

    Versions that say nearly what another one of the batch says, or a paper, are dropped with their
    reason; the first of two stays.
    """

    async def one(slot: Slot) -> Made:
        return await or_failure(
            make_version(slot, tools[slot.cutoff_date]),
            f"version {slot.version_id}",
            lambda cause: unmade(slot, *cause),
        )

    made = await each_unit(slots, SLOTS_IN_FLIGHT, one)
    versions = [each.version for each in made]
    failures: list[Failure] = []
    if tools and kept_versions(versions):
        first = next(iter(tools.values()))
        limit = first.parameters.duplicate_from_similarity
        versions = await _without_repeated(versions, slots, first.embedder, limit)
        versions, failures = await _without_published(versions, first.embedder, literature, limit)
    return IdeationRound(
        round_id=round_id,
        versions=tuple(versions),
        relations=tuple(relation for each in made for relation in each.relations),
        answers=tuple(answer for each in made for answer in each.answers),
        failures=(*failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


async def _without_repeated(
    versions: Sequence[IdeaVersion], slots: Sequence[Slot], embedder: Embedder, limit: float
) -> list[IdeaVersion]:
    """Versions near an earlier one of the round, or the last of another idea's stack, dropped."""
    before = [slot.parent for slot in slots if slot.parent is not None]
    texts = [version.text or "" for version in (*before, *versions)]
    vectors = await embedder.embed(texts)
    stood: list[tuple[IdeaVersion, NDArray[np.float32]]] = [
        (version, vectors[place]) for place, version in enumerate(before)
    ]
    found: list[IdeaVersion] = []
    for version, vector in zip(versions, vectors[len(before) :], strict=True):
        others = [
            (float(vector @ other_vector), other)
            for other, other_vector in stood
            if (other.seed_id, other.slot) != (version.seed_id, version.slot)
        ]
        likeness, nearest = max(others, key=lambda each: each[0], default=(0.0, None))
        if version.kept and nearest is not None and likeness >= limit:
            found.append(
                replace(
                    version,
                    dropped_reason=Reason.NEAR_DUPLICATE,
                    dropped_detail=f"nearly the same as {nearest.version_id}",
                    closest_id=nearest.version_id,
                    closest_similarity_0_to_1=min(likeness, 1.0),
                )
            )
            continue
        found.append(version)
        if version.kept:
            stood.append((version, vector))
    return found


async def _without_published(
    versions: Sequence[IdeaVersion], embedder: Embedder, literature: LiteratureClient, limit: float
) -> tuple[list[IdeaVersion], list[Failure]]:
    """Kept versions with the paper nearest to each; those too near to it dropped."""

    async def one(version: IdeaVersion) -> tuple[IdeaVersion, tuple[Failure, ...]]:
        if not version.kept:
            return version, ()
        query = f"{version.title} {' '.join(version.keywords)}"
        answer = await literature.search_papers(query, PAPERS_COMPARED, version.cutoff_date)
        failures = look_up_failures(answer.failures, STAGE, version.version_id)
        if not answer.items:
            return version, failures
        texts = [paper_text(paper.title, paper.abstract) for paper in answer.items]
        vectors = await embedder.embed([version.text or "", *texts])
        likeness = np.clip(vectors[1:] @ vectors[0], 0.0, 1.0)
        place = int(likeness.argmax())
        nearest, value = answer.items[place], float(likeness[place])
        near = {"closest_id": str(nearest.paper_id), "closest_similarity_0_to_1": value}
        if value >= limit:
            near |= {
                "dropped_reason": Reason.NEAR_PUBLISHED,
                "dropped_detail": f"nearly the same as {nearest.title}",
            }
        return replace(version, **near), failures

    found = await asyncio.gather(*map(one, versions))
    return [version for version, _ in found], [each for _, told in found for each in told]
