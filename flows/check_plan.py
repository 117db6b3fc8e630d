"""The plan of a check run: its name, and shard files with the manuscripts that are still to be checked."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flows.shards import SHARDS_PER_WORKER, write_shards
from schemas.check_run import CheckHead, CheckRequest, ManuscriptSource
from schemas.identifiers import RunId, content_hash
from tasks.manuscripts.job import CheckJob
from tasks.manuscripts.steps import STEPS
from tasks.telemetry.tracing import traceparent
from warehouse.layout import Layout
from warehouse.manuscripts.landing import read_check_head, read_check_receipt
from warehouse.scrubbing import without_secrets


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Name and size of a check run; the manuscripts to do wait in shard files."""

    head: CheckHead
    manuscript_ids: tuple[str, ...]
    shard_paths: tuple[Path, ...]


def plan_check(request: CheckRequest, layout: Layout) -> CheckPlan:
    """Name the run, and write what has no complete receipt yet as shard files."""
    run_id = check_run_id(request)
    begun, now = read_check_head(layout, run_id), datetime.now(UTC)
    head = CheckHead(
        run_id=run_id,
        engine=request.engine.text,
        judges=request.judges_named,
        form=request.form,
        maximum_problems=request.maximum_problems,
        attempt_count=request.attempt_count,
        repetition_count=request.repetition_count,
        seed=request.seed,
        manuscript_count=len(request.sources),
        started_at=begun.started_at if begun is not None else now,
        finished_at=begun.finished_at if begun is not None else now,
    )
    waiting = [source for source in request.sources if not _done(layout, run_id, source)]
    paths = _write_shards(waiting, run_id, request, layout)
    return CheckPlan(
        head=head,
        manuscript_ids=tuple(source.manuscript_id for source in request.sources),
        shard_paths=paths,
    )


def check_run_id(request: CheckRequest) -> RunId:
    """Over all that could change the outcome; not the workers, the bounds or where the files lie."""
    places = [request.api_base, *(judge.api_base for judge in request.judges)]
    asked = {"engine", "form", "maximum_problems", "attempt_count", "repetition_count", "seed"}
    if not request.engine.is_baseline:
        asked.add("effort")
    name = content_hash(
        request.model_dump_json(include=asked),
        *request.judges_named,
        *(without_secrets(place) if place else "" for place in places),
        *(f"{step.name}:{step.version}:{step.prompt_sha256}" for step in STEPS),
        *(
            f"{source.manuscript_id}:{source.content_sha256}:{source.known_reason}"
            for source in request.sources
        ),
        length=12,
    )
    return RunId(f"check-{name}")


def unchecked(plan: CheckPlan, layout: Layout) -> tuple[Path, ...]:
    """Shards that have a manuscript without any receipt: their worker was lost."""
    jobs = ((path, CheckJob.model_validate_json(path.read_bytes())) for path in plan.shard_paths)
    return tuple(
        path
        for path, job in jobs
        if any(
            read_check_receipt(layout, job.run_id, source.manuscript_id) is None
            for source in job.sources
        )
    )


def _done(layout: Layout, run_id: RunId, source: ManuscriptSource) -> bool:
    receipt = read_check_receipt(layout, run_id, source.manuscript_id)
    return receipt is not None and receipt.incomplete_reason is None


def _write_shards(
    waiting: list[ManuscriptSource], run_id: RunId, request: CheckRequest, layout: Layout
) -> tuple[Path, ...]:
    count = min(request.workers * SHARDS_PER_WORKER, len(waiting))
    jobs = (
        CheckJob(
            run_id=run_id,
            request=request,
            sources=tuple(waiting[number::count]),
            trace_parent=traceparent(),
        )
        for number in range(count)
    )
    return write_shards(layout.state / "checks" / run_id, jobs)
