"""Evaluation of a shard of ideas with bounded concurrency.

An idea that repeatedly kills its worker is landed as failed.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pydantic import Field

from schemas.base import Noun
from schemas.boundary import ErrorBoundary, out_of_memory
from schemas.calls import ApiCall
from schemas.failure import Failure
from schemas.identifiers import EvaluationKey
from schemas.judgement.evaluation import IdeaEvaluation, Receipt
from schemas.reasons import About, Reason, first_that_may_pass
from schemas.run import Module
from schemas.stopwatch import Stopwatch
from tasks.accounting.ledger import Ledger
from tasks.evaluation.evaluate_idea import (
    evaluate_idea,
    every_failure,
    failed_evaluation,
    unscored_reasons,
)
from tasks.evaluation.modules import IdeaTools
from tasks.evaluation.shard_job import PlannedIdea, ShardJob
from tasks.shards.standstill import PutDown, StandstillError, until_standstill
from tasks.shards.work import cause_of, each_unit, land_failure
from tasks.telemetry.reporting import idea_landed, span
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.layout import Layout, safe_name
from warehouse.shared_database import shared_database
from warehouse.units.landing import complete_receipt, read_receipt

_SUFFIX = ".json"


class SpentWaiting(Noun):
    """Usage of an idea before it was suspended.

    Its next start reads all of it from caches.
    """

    counted_requests: int = Field(ge=0, description="Literature requests counted by the budget.")
    api_calls: tuple[ApiCall, ...]


class SuspendedIdeas(PutDown):
    """Suspended ideas of a run, which wait for batches."""

    def suspend(self, key: EvaluationKey, ledger: Ledger) -> None:
        """Suspend an idea and store its literature requests.

        Its model calls are in the journal.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        usage = SpentWaiting(
            counted_requests=ledger.counted_requests,
            api_calls=tuple(call for call in ledger.api_calls if not call.cache_hit),
        )
        path = self.folder / f"{key}{_SUFFIX}"
        temporary = path.with_suffix(".new")
        temporary.write_text(usage.model_dump_json())
        temporary.rename(path)
        self.wait(key)

    def resume(self, key: EvaluationKey, ledger: Ledger) -> None:
        """Book an idea's usage before its suspension as already counted."""
        try:
            content = (self.folder / f"{key}{_SUFFIX}").read_bytes()
        except FileNotFoundError:
            return
        usage = SpentWaiting.model_validate_json(content)
        ledger.api_calls.extend(usage.api_calls)
        ledger.requests_counted_before = usage.counted_requests

    def forget(self, key: EvaluationKey) -> None:
        """Delete the state of a landed idea."""
        self.end(key)
        (self.folder / f"{key}{_SUFFIX}").unlink(missing_ok=True)


MAXIMUM_ATTEMPTS = 3
"""One less than the number of worker deaths after which Dask abandons a shard."""


class Attempts:
    """Counts of workers that died while evaluating an idea.

    The count is raised before an idea starts and reset when it ends, with or without an error; a
    remaining count means that the worker died. Counts are files or, with a catalogue in PostgreSQL,
    records of its database.

    Args:
        folder: of the files, in the folder of the run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._database = folder, shared_database()

    def begin(self, key: EvaluationKey) -> None:
        """Raise the count by one."""
        self._change(key, lambda count: count + 1)

    @contextmanager
    def hold(self, key: EvaluationKey) -> Iterator[None]:
        """Count an idea while it is evaluated.

        Running out of memory counts as a dead worker.
        """
        self.begin(key)
        clear_mark = True
        try:
            yield
        except (MemoryError, BaseExceptionGroup) as error:
            clear_mark = not out_of_memory(error)
            raise
        finally:
            if clear_mark:
                self.end(key)

    def end(self, key: EvaluationKey) -> None:
        """Reset the count."""
        self._change(key, lambda _: 0)

    def count(self, key: EvaluationKey) -> int:
        """Return the number of workers that died while evaluating this idea."""
        return self._change(key, lambda count: count)

    def _change(self, key: EvaluationKey, update: Callable[[int], int]) -> int:
        """Change a count and return the new value."""
        file = self._folder / safe_name("evaluation key", key)
        if self._database is not None:
            with self._database.record(f"attempts {self._folder.parent.name} {key}") as record:
                old_count = _parse_count(record.content or b"0")
                if (new_count := update(old_count)) != old_count:
                    record.replace(str(new_count).encode() if new_count else None)
                return new_count
        old_count = _parse_count(file.read_bytes()) if file.exists() else 0
        if (new_count := update(old_count)) != old_count:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(str(new_count)) if new_count else file.unlink()
        return new_count


def _parse_count(content: bytes) -> int:
    """Parse a stored count; a damaged one is 0."""
    try:
        return int(content)
    except ValueError:
        return 0


_WAITING = "waiting"

IdeaToolsFactory = Callable[[Ledger], IdeaTools]


async def evaluate_shard(
    job: ShardJob, layout: Layout, attempts: Attempts, open_tools: IdeaToolsFactory
) -> tuple[Receipt, ...]:
    """Evaluate and land every idea of the shard without a receipt.

    An idea that waits for a batch is suspended, and the shard must be sent again. Ideas whose
    worker died run alone and last, so that they cannot affect others; after `MAXIMUM_ATTEMPTS` such
    an idea is landed as `worker_lost`.

    Returns:
        The receipts of this shard's ideas, in order.

    Raises:
        ConfigurationError: no idea can be evaluated with these settings; earlier ideas are landed.
    """

    async def one(planned_idea: PlannedIdea) -> None:
        start = time.monotonic()
        with span(
            "idea",
            run_id=job.run_id,
            idea_id=planned_idea.idea.idea_id,
            evaluation_key=planned_idea.evaluation_key,
        ) as idea_span:
            reason = await _evaluate_and_land(planned_idea, job, layout, attempts, open_tools)
            idea_span.note(outcome=reason or "complete")
        if reason != _WAITING:
            idea_landed(reason or "complete", time.monotonic() - start)

    unfinished_ideas = [
        (attempts.count(planned_idea.evaluation_key), planned_idea)
        for planned_idea in job.ideas
        if complete_receipt(layout, RUNS, job.run_id, planned_idea.evaluation_key) is None
    ]
    first_attempts = [planned_idea for deaths, planned_idea in unfinished_ideas if not deaths]
    await each_unit(first_attempts, job.request.parameters.ideas_in_flight, one)
    for deaths, planned_idea in sorted(unfinished_ideas, key=lambda entry: entry[0]):
        if deaths:
            await one(planned_idea)
    receipts = (
        read_receipt(layout, RUNS, job.run_id, planned_idea.evaluation_key)
        for planned_idea in job.ideas
    )
    return tuple(receipt for receipt in receipts if receipt is not None)


async def _evaluate_and_land(
    planned_idea: PlannedIdea,
    job: ShardJob,
    layout: Layout,
    attempts: Attempts,
    open_tools: IdeaToolsFactory,
) -> str | None:
    """Evaluate and land an idea.

    Return the reason why a rerun may improve it, None if it is complete. An idea that waits for a
    batch is suspended without landing.
    """
    idea_id, key = planned_idea.idea.idea_id, planned_idea.evaluation_key
    parameters = job.request.parameters
    ledger = Ledger(idea_id, RUNS.unit_path(layout, job.run_id, key))
    watch = Stopwatch()

    def failed(reason: Reason, detail: str) -> IdeaEvaluation:
        failure = Failure(stage="evaluate", subject=idea_id, reason=reason, detail=detail)
        return failed_evaluation(planned_idea, job, ledger, watch, failure)

    if attempts.count(key) >= MAXIMUM_ATTEMPTS:
        detail = (
            f"the worker died {MAXIMUM_ATTEMPTS} times with this idea in hand; it was set aside so"
            " that the others could finish"
        )
        unit = failed(Reason.WORKER_LOST, detail)
        land(layout, unit, incomplete_reason=Reason.WORKER_LOST)
        attempts.end(key)
        return Reason.WORKER_LOST
    boundary = ErrorBoundary()
    suspended_ideas = SuspendedIdeas(layout.waiting(job.run_id))
    suspended_ideas.resume(key, ledger)
    with attempts.hold(key):
        with boundary:
            async with asyncio.timeout(parameters.idea_timeout_seconds):
                work = evaluate_idea(planned_idea, job, open_tools(ledger))
                evaluation = await (until_standstill(work) if parameters.batch else work)
            reason = _incomplete_reason(evaluation)
            land(layout, evaluation, incomplete_reason=reason)
        if isinstance(boundary.error, StandstillError):
            suspended_ideas.suspend(key, ledger)
            return _WAITING
        if boundary.error is not None:
            if isinstance(boundary.error, TimeoutError):
                reason = Reason.TIMED_OUT
                detail = (
                    f"not finished after {parameters.idea_timeout_seconds:.0f} s; run again to go"
                    " on from the calls already paid"
                )
            else:  # errors that affect every idea are raised
                reason, detail = cause_of(boundary.error, f"idea {idea_id}")
            landing = partial(land, layout, failed(reason, detail), incomplete_reason=reason)
            land_failure(landing, f"idea {idea_id!r}")
    suspended_ideas.forget(key)
    return reason


def _incomplete_reason(evaluation: IdeaEvaluation) -> Reason | None:
    """Return why a rerun may improve this evaluation.

    The result is None if it is complete. Permanent failures of look-ups (an unknown paper, an
    invalid query) leave it complete.
    """
    failure_reasons = (each.reason for each in every_failure(evaluation) if not _stands(each))
    reason = first_that_may_pass((*unscored_reasons(evaluation), *failure_reasons))
    if reason is not None and reason.about is About.LOOK_UP:
        return Reason.SOURCE_UNAVAILABLE
    return reason


def _stands(failure: Failure) -> bool:
    """Return whether an evaluation with this failure is complete.

    An unconfigured source of the committee is no reason to rerun: configuring it gives another
    evaluation key.
    """
    not_open = (failure.stage, failure.reason) == (Module.COMMITTEE, Reason.NOT_CONFIGURED)
    return failure.is_of_a_document or not_open
