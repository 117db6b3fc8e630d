"""The plan of a run: which ideas still need evaluating, in which shards, and under which name."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flows.gateway import OpenGateway
from flows.shards import write_shards
from schemas.evaluation import Receipt
from schemas.idea import IdeaBatch, RejectedIdea
from schemas.identifiers import EvaluationKey, RunId
from schemas.run import PlannedRun, RunRequest
from schemas.settings import Settings
from tasks.evaluation.evaluation_key import conditions, evaluation_key, run_id_for
from tasks.evaluation.job import PlannedIdea, ShardJob
from tasks.steps import STEPS
from tasks.telemetry.tracing import traceparent
from warehouse.landing import find_receipt, land_rejections, read_receipts, reuse
from warehouse.layout import Layout
from warehouse.progress import announce

MAXIMUM_SHARD = 20
"""Ideas per Prefect task: a task costs 90 ms of processor time, an idea seconds, a lost worker one shard."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Names and counts of a run; the ideas themselves wait in shard files."""

    run_id: RunId
    idea_count: int
    rejected_count: int
    shard_paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class KeyedBatch:
    """A batch with its evaluation keys, and the run they make."""

    run_id: RunId
    planned: tuple[PlannedIdea, ...]
    rejected: tuple[RejectedIdea, ...]


def key_batch(
    batch: IdeaBatch, request: RunRequest, settings: Settings, gateway: OpenGateway
) -> KeyedBatch:
    """Key every idea and name the run after the keys."""
    used = conditions(request, settings)
    planned = tuple(
        PlannedIdea(
            idea=idea, evaluation_key=evaluation_key(idea, request, gateway.literature, STEPS, used)
        )
        for idea in batch.ideas
    )
    rejected_names = [f"{entry.location}:{entry.reason}" for entry in batch.rejected]
    run_id = run_id_for(request, [entry.evaluation_key for entry in planned], rejected_names)
    return KeyedBatch(run_id=run_id, planned=planned, rejected=batch.rejected)


def plan_run(
    keyed: KeyedBatch, request: RunRequest, gateway: OpenGateway, layout: Layout
) -> RunPlan:
    """Take over what is already evaluated, and write the rest as shard files.

    An idea whose key has a complete receipt in this run is done; one with a complete receipt in another
    run of this warehouse is taken over from there without a call.
    """
    run_id = keyed.run_id
    receipts = read_receipts(layout, run_id)
    land_rejections(layout, run_id, keyed.rejected)
    announce(layout, _planned(keyed, request))
    to_do = [
        entry
        for entry in keyed.planned
        if not _complete(receipts.get(entry.evaluation_key))
        and not _take_over(entry, run_id, layout)
    ]
    return RunPlan(
        run_id=run_id,
        idea_count=len(keyed.planned),
        rejected_count=len(keyed.rejected),
        shard_paths=_write_shards(to_do, run_id, request, gateway, layout),
    )


def unfinished(plan: RunPlan, layout: Layout) -> tuple[Path, ...]:
    """Shards that have an idea without any receipt: their worker was lost."""
    landed: set[EvaluationKey] = set(read_receipts(layout, plan.run_id))
    jobs = ((path, ShardJob.model_validate_json(path.read_bytes())) for path in plan.shard_paths)
    return tuple(
        path for path, job in jobs if any(entry.evaluation_key not in landed for entry in job.ideas)
    )


def _planned(keyed: KeyedBatch, request: RunRequest) -> PlannedRun:
    return PlannedRun(
        run_id=keyed.run_id,
        idea_count=len(keyed.planned),
        rejected_count=len(keyed.rejected),
        engine=request.engine.text,
        profile=request.profile.name,
        modules=request.modules,
        budget=request.budget,
        started_at=datetime.now(UTC),
    )


def _complete(receipt: Receipt | None) -> bool:
    return receipt is not None and receipt.incomplete_reason is None


def _take_over(entry: PlannedIdea, run_id: RunId, layout: Layout) -> bool:
    receipt = find_receipt(layout, entry.evaluation_key)
    if receipt is None or receipt.incomplete_reason is not None or receipt.run_id == run_id:
        return False
    reuse(layout, entry.evaluation_key, from_run=receipt.run_id, to_run=run_id, idea=entry.idea)
    return True


def _write_shards(
    to_do: list[PlannedIdea],
    run_id: RunId,
    request: RunRequest,
    gateway: OpenGateway,
    layout: Layout,
) -> tuple[Path, ...]:
    size = max(1, min(MAXIMUM_SHARD, math.ceil(len(to_do) / (2 * request.workers))))
    jobs = (
        ShardJob(
            run_id=run_id,
            request=request,
            gateway_url=gateway.url,
            literature=gateway.literature,
            ideas=tuple(to_do[start : start + size]),
            trace_parent=traceparent(),
        )
        for start in range(0, len(to_do), size)
    )
    return write_shards(layout.state / "runs" / run_id, jobs)
