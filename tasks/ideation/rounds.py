"""A round of ideation: one version per slot, without near duplicates."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from schemas.base import replace
from schemas.failure import Failure, look_up_failures
from schemas.reasons import Reason
from schemas.works.ideation import IdeationRound, IdeaVersion, kept_versions
from schemas.works.ideation_run import PlannedRound, Slot
from tasks.embeddings import Embedder
from tasks.embeddings.similarity import paper_text
from tasks.ideation.network import open_network
from tasks.ideation.versions import VersionResult, VersionTools, failed_version, make_version
from tasks.literature.client import LiteratureClient
from tasks.literature.snapshot.build import index_for_parquet
from tasks.shards.work import Cause, each_unit, or_failure
from tasks.work.tools import Tools


async def follow_round(unit: PlannedRound, tools: Tools) -> IdeationRound:
    """Make a version for each slot of a round, with the network at its cutoff.

    Versions nearly the same as another of the round or as a paper are dropped with a reason; the
    first of two near duplicates stays.

    Raises:
        SnapshotError: the snapshot, or its network, cannot be read.
    """
    snapshot, home = unit.snapshot, tools.settings.home
    if not snapshot.is_dir():
        snapshot = index_for_parquet(snapshot, home)
    embedder, parameters, ledger = tools.embedder, tools.request.parameters, tools.ledger
    seeds = {seed.idea_id: seed for seed in unit.seeds}
    with ExitStack() as stack:
        by_cutoff = {
            cutoff: VersionTools(
                tools.engine,
                stack.enter_context(open_network(snapshot, home, cutoff)),
                embedder,
                parameters,
                seeds,
            )
            for cutoff in dict.fromkeys(slot.cutoff_date for slot in unit.slots)
        }

        async def one(slot: Slot) -> VersionResult:
            return await or_failure(
                make_version(slot, by_cutoff[slot.cutoff_date]),
                f"version {slot.version_id}",
                lambda cause: failed_version(slot, *cause),
            )

        results = await each_unit(unit.slots, SLOTS_IN_FLIGHT, one)
    versions = [each.version for each in results]
    failures: list[Failure] = []
    if kept_versions(versions):
        limit = parameters.duplicate_from_similarity
        versions = await _drop_repeated(versions, unit.slots, embedder, limit)
        versions, failures = await _drop_published(versions, embedder, tools.literature(), limit)
    return IdeationRound(
        round_id=unit.round_id,
        versions=tuple(versions),
        relations=tuple(relation for each in results for relation in each.relations),
        answers=tuple(answer for each in results for answer in each.answers),
        failures=(*failures, *ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


def failed_round(unit: PlannedRound, tools: Tools, cause: Cause) -> IdeationRound:
    ledger = tools.ledger
    return IdeationRound(
        round_id=unit.round_id,
        versions=tuple(failed_version(slot, *cause).version for slot in unit.slots),
        failures=tuple(ledger.failures),
        llm_calls=tuple(ledger.llm_calls),
        api_calls=tuple(ledger.api_calls),
    )


STAGE = "ideation"
SLOTS_IN_FLIGHT = 8
PAPERS_COMPARED = 10


async def _drop_repeated(
    versions: Sequence[IdeaVersion], slots: Sequence[Slot], embedder: Embedder, limit: float
) -> list[IdeaVersion]:
    """Drop versions near an earlier one of the round, or near another idea's last version."""
    parents = [slot.parent for slot in slots if slot.parent is not None]
    texts = [version.text or "" for version in (*parents, *versions)]
    vectors = await embedder.embed(texts)
    compared_versions: list[tuple[IdeaVersion, NDArray[np.float32]]] = [
        (version, vectors[place]) for place, version in enumerate(parents)
    ]
    checked_versions: list[IdeaVersion] = []
    for version, vector in zip(versions, vectors[len(parents) :], strict=True):
        other_ideas = [
            (float(vector @ other_vector), other)
            for other, other_vector in compared_versions
            if (other.seed_id, other.slot) != (version.seed_id, version.slot)
        ]
        likeness, nearest_version = max(other_ideas, key=lambda each: each[0], default=(0.0, None))
        if version.kept and nearest_version is not None and likeness >= limit:
            checked_versions.append(
                replace(
                    version,
                    dropped_reason=Reason.NEAR_DUPLICATE,
                    dropped_detail=f"nearly the same as {nearest_version.version_id}",
                    closest_id=nearest_version.version_id,
                    closest_similarity_0_to_1=min(likeness, 1.0),
                )
            )
            continue
        checked_versions.append(version)
        if version.kept:
            compared_versions.append((version, vector))
    return checked_versions


async def _drop_published(
    versions: Sequence[IdeaVersion], embedder: Embedder, literature: LiteratureClient, limit: float
) -> tuple[list[IdeaVersion], list[Failure]]:
    """Add the nearest paper to each kept version; drop versions too near to it."""

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
        nearest_paper, value = answer.items[place], float(likeness[place])
        changes = {"closest_id": str(nearest_paper.paper_id), "closest_similarity_0_to_1": value}
        if value >= limit:
            changes |= {
                "dropped_reason": Reason.NEAR_PUBLISHED,
                "dropped_detail": f"nearly the same as {nearest_paper.title}",
            }
        return replace(version, **changes), failures

    results = await asyncio.gather(*map(one, versions))
    return [version for version, _ in results], [
        each for _, failures in results for each in failures
    ]
