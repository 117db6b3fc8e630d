"""Plan of a run of ideas: evaluation keys, run id and shards."""

import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flows.run.campaign import shard_count, write_shards
from flows.run.gateway import OpenGateway
from flows.works.evaluate.reevaluation import add_earlier_judgements
from flows.works.experiment.experimental_results import results_by_idea
from schemas.idea import Idea, IdeaBatch, RejectedIdea
from schemas.identifiers import EvaluationKey, RunId
from schemas.judgement.evaluation import Receipt
from schemas.judgement.run_request import RunRequest
from schemas.run import PlannedRun
from schemas.settings import Settings
from tasks.curation.paper_parts import PaperParts
from tasks.evaluation.shard_job import PlannedIdea, ShardJob, conditions, evaluation_key, run_id_for
from tasks.steps import STEPS
from tasks.telemetry.reporting import traceparent
from warehouse.kinds.runs.landing import RUNS, find_receipt, land_rejections
from warehouse.kinds.runs.reuse import reuse
from warehouse.objects.object_storage import AT_ONCE
from warehouse.progress import announce
from warehouse.units.landing import read_receipt
from warehouse.warehouse import Warehouse

MAXIMUM_SHARD = 20
"""Ideas per Prefect task: a task costs 90 ms of CPU time, an idea seconds, and a lost worker one
shard.
"""


_NO_PAPERS: Mapping[str, PaperParts] = {}


@dataclass(frozen=True, slots=True)
class KeyedBatch:
    """A batch with its evaluation keys, and the run id computed from them."""

    run_id: RunId
    planned: tuple[PlannedIdea, ...]
    rejected: tuple[RejectedIdea, ...]


def key_batch(
    batch: IdeaBatch,
    request: RunRequest,
    settings: Settings,
    literature: str,
    papers: Mapping[str, PaperParts] = _NO_PAPERS,
) -> KeyedBatch:
    """Compute the evaluation key of every idea, and the run id from the keys.

    Args:
        literature: identity of the literature.
        papers: parts of manuscripts by location, which no key depends on.
    """
    key_conditions, warehouse = (
        conditions(request, settings),
        Warehouse(request.warehouse, settings),
    )
    results_of = results_by_idea(request.parameters.experiment_run_ids, batch.ideas, warehouse)

    def planned_idea(idea: Idea) -> PlannedIdea:
        results = results_of.get(idea.idea_id, ())
        key = evaluation_key(idea, request, literature, STEPS, key_conditions, results)
        return PlannedIdea(
            idea=idea,
            evaluation_key=key,
            paper=papers.get(idea.manuscript or ""),
            experimental_results=results,
        )

    planned_ideas = tuple(map(planned_idea, batch.ideas))
    rejected_names = [f"{entry.location}:{entry.reason}" for entry in batch.rejected]
    run_id = run_id_for(
        request,
        keys=[entry.evaluation_key for entry in planned_ideas],
        descriptions=[idea.description_sha256 for idea in batch.ideas],
        rejected=rejected_names,
    )
    return KeyedBatch(run_id=run_id, planned=planned_ideas, rejected=batch.rejected)


def receipts_of(keyed_batch: KeyedBatch, warehouse: Warehouse) -> dict[EvaluationKey, Receipt]:
    """Return landed receipts by key: a complete one of any run, else one of this run."""

    def find_landed(key: EvaluationKey) -> Receipt | None:
        local = read_receipt(warehouse, RUNS, keyed_batch.run_id, key)
        return (
            local if local is not None and local.complete else find_receipt(warehouse, key) or local
        )

    keys = [entry.evaluation_key for entry in keyed_batch.planned]
    with ThreadPoolExecutor(AT_ONCE) as pool:  # some are downloaded
        receipts = zip(keys, pool.map(find_landed, keys), strict=True)
        return {key: receipt for key, receipt in receipts if receipt is not None}


def write_remaining_shards(
    keyed_batch: KeyedBatch, request: RunRequest, gateway: OpenGateway, warehouse: Warehouse
) -> dict[Path, tuple[str, ...]]:
    """Reuse complete evaluations of other runs, and write the rest to shard files.

    Ideas with a complete receipt in this run are done. A complete receipt of another run of this
    warehouse is reused without a call.
    """
    run_id = keyed_batch.run_id
    receipts = receipts_of(keyed_batch, warehouse)
    land_rejections(warehouse, run_id, keyed_batch.rejected)
    planned_run = PlannedRun(
        run_id=run_id,
        idea_count=len(keyed_batch.planned),
        rejected_count=len(keyed_batch.rejected),
        engine=request.engine.text,
        profile=request.profile.name,
        modules=request.parameters.modules,
        budget=request.budget,
        ideas_path=str(request.ideas.path),
        started_at=datetime.now(UTC),
    )
    announce(warehouse, planned_run)
    to_do = []
    for entry in keyed_batch.planned:
        receipt = receipts.get(entry.evaluation_key)
        if receipt is None or not receipt.complete:
            to_do.append(entry)
        elif receipt.run_id != run_id:
            reuse(
                warehouse,
                entry.evaluation_key,
                from_run=receipt.run_id,
                to_run=run_id,
                idea=entry.idea,
            )
    if request.parameters.again is not None and to_do:
        to_do = add_earlier_judgements(to_do, request, warehouse)
    count = shard_count(request, len(to_do), per_worker=2)
    size = max(1, min(MAXIMUM_SHARD, math.ceil(len(to_do) / max(1, count))))
    jobs = (
        ShardJob(
            run_id=run_id,
            request=request,
            gateway_url=gateway.url,
            literature=gateway.literature,
            knows_references=gateway.knows_references,
            ideas=tuple(to_do[start : start + size]),
            trace_parent=traceparent(),
        )
        for start in range(0, len(to_do), size)
    )
    return write_shards(warehouse.state / "runs" / run_id, jobs)
