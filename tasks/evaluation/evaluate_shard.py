"""A shard of ideas as one asyncio program: bounded concurrency, every idea on its own."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

from schemas.evaluation import IdeaEvaluation, Receipt
from schemas.failure import Failure
from schemas.outcome import UnscoredReason
from tasks.accounting.ledger import Ledger
from tasks.evaluation.attempts import MAXIMUM_ATTEMPTS, Attempts
from tasks.evaluation.evaluate_idea import Bench, evaluate_idea, failed_evaluation, unscored_reasons
from tasks.evaluation.job import PlannedIdea, ShardJob
from warehouse.landing import land, read_receipt
from warehouse.layout import Layout

logger = logging.getLogger(__name__)

MENDABLE = (
    UnscoredReason.BUDGET_EXHAUSTED,
    UnscoredReason.ENGINE_UNAVAILABLE,
    UnscoredReason.SOURCE_UNAVAILABLE,
    UnscoredReason.TIMED_OUT,
)
"""Reasons that another run may not meet again, gravest first."""

BenchFactory = Callable[[Ledger], AbstractAsyncContextManager[Bench]]


async def evaluate_shard(job: ShardJob, layout: Layout, attempts: Attempts, open_bench: BenchFactory) -> tuple[Receipt, ...]:
    """Evaluate and land every idea of the shard that has no receipt yet.

    Ideas a worker died with run alone and last, so that the one at fault cannot take others with it;
    an idea at fault too often is landed as `worker_lost`.

    Returns: the receipts of this shard's ideas, in order.
    """
    waiting = [planned for planned in job.ideas if not _done(read_receipt(layout, job.run_id, planned.evaluation_key))]
    suspects = sorted((p for p in waiting if attempts.count(p.evaluation_key)), key=lambda p: attempts.count(p.evaluation_key))
    fresh = [planned for planned in waiting if not attempts.count(planned.evaluation_key)]
    gate = asyncio.Semaphore(job.request.ideas_in_flight)

    async def one(planned: PlannedIdea) -> None:
        async with gate:
            await _evaluate_and_land(planned, job, layout, attempts, open_bench)

    async with asyncio.TaskGroup() as group:
        for planned in fresh:
            group.create_task(one(planned))
    for planned in suspects:
        await one(planned)
    receipts = (read_receipt(layout, job.run_id, planned.evaluation_key) for planned in job.ideas)
    return tuple(receipt for receipt in receipts if receipt is not None)


def _done(receipt: Receipt | None) -> bool:
    return receipt is not None and receipt.incomplete_reason is None


async def _evaluate_and_land(planned: PlannedIdea, job: ShardJob, layout: Layout, attempts: Attempts, open_bench: BenchFactory) -> None:
    ledger = Ledger(planned.idea.idea_id)
    started_at = datetime.now(UTC)
    if attempts.count(planned.evaluation_key) >= MAXIMUM_ATTEMPTS:
        detail = f"the worker died {MAXIMUM_ATTEMPTS} times with this idea in hand; it was set aside so that the others could finish"
        failure = _failure(planned, UnscoredReason.WORKER_LOST, detail)
        land(layout, failed_evaluation(planned, job, ledger, started_at, failure), incomplete_reason=UnscoredReason.WORKER_LOST)
        attempts.end(planned.evaluation_key)
        return
    attempts.begin(planned.evaluation_key)
    (outcome,) = await asyncio.gather(_within_time(planned, job, ledger, open_bench), return_exceptions=True)
    if isinstance(outcome, IdeaEvaluation):
        land(layout, outcome, incomplete_reason=_incomplete_reason(outcome))
    elif isinstance(outcome, TimeoutError):
        detail = f"not finished after {job.request.idea_timeout_seconds:.0f} s; run again to go on from the calls already paid"
        failure = _failure(planned, UnscoredReason.TIMED_OUT, detail)
        land(layout, failed_evaluation(planned, job, ledger, started_at, failure), incomplete_reason=UnscoredReason.TIMED_OUT)
    elif isinstance(outcome, Exception):
        logger.error("idea %s failed", planned.idea.idea_id, exc_info=outcome)
        failure = _failure(planned, "internal_error", f"{type(outcome).__name__}: {str(outcome).splitlines()[0] if str(outcome) else ''}")
        land(layout, failed_evaluation(planned, job, ledger, started_at, failure), incomplete_reason="internal_error")
    else:
        raise outcome
    attempts.end(planned.evaluation_key)


async def _within_time(planned: PlannedIdea, job: ShardJob, ledger: Ledger, open_bench: BenchFactory) -> IdeaEvaluation:
    async with asyncio.timeout(job.request.idea_timeout_seconds), open_bench(ledger) as bench:
        return await evaluate_idea(planned, job, bench)


def _failure(planned: PlannedIdea, reason: str, detail: str) -> Failure:
    return Failure(stage="evaluate", subject=planned.idea.idea_id, reason=str(reason), detail=detail, retryable=True)


def _incomplete_reason(evaluation: IdeaEvaluation) -> str | None:
    """Why running again may add to this evaluation; None when it ran to its end.

    A full text that could not be downloaded leaves the abstract as evidence and the idea complete: a dead
    host would otherwise have the idea evaluated again on every rerun.
    """
    reasons = set(unscored_reasons(evaluation))
    for reason in MENDABLE:
        if reason in reasons:
            return reason
    modules = (evaluation.soundness, evaluation.contribution)
    failures = [*evaluation.failures, *(failure for module in modules if module is not None for failure in module.failures)]
    return UnscoredReason.SOURCE_UNAVAILABLE if any(failure.retryable and failure.stage != "documents" for failure in failures) else None
