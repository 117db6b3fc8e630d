"""Concurrent processing of a suite's items, with results cached on disk."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from schemas.base import Noun, Reply
from schemas.calls import LlmCall
from schemas.errors import AssayError
from schemas.identifiers import content_hash
from schemas.outcome import Outcome, Provenance, Scored, Unscored
from schemas.reasons import Reason, may_pass
from tasks.accounting.ledger import Ledger
from tasks.embeddings import Embedder
from tasks.judging.step import Engine, Step
from tasks.literature.client import LiteratureClient
from warehouse.stores.keyed_store import KeyedStore


class ItemResult(Noun):
    """Result of one item; subclasses add its values."""

    reason: Reason | None = Field(
        default=None, description="Why something is missing; None: nothing is."
    )
    detail: str = ""
    provenance: Provenance | None = None

    @property
    def may_improve(self) -> bool:
        """Return whether processing the item again may complete the result."""
        return may_pass(self.reason)


class OutcomeResult(ItemResult):
    """Outcome of a step, with its value as JSON."""

    value: str | None
    provenance: Provenance


Calls = tuple[LlmCall, ...]
"""Calls for one item, in all attempts."""
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT", bound=ItemResult)
OutputT = TypeVar("OutputT", bound=Reply)


class CachedAnswer(Noun):
    """Cache entry of one item: its result as JSON, and all calls.

    The calls include those of earlier attempts.
    """

    result: str
    retry: bool = Field(description="Whether another attempt may complete the result.")
    calls: tuple[LlmCall, ...]


@dataclass(frozen=True, slots=True)
class ItemContext:
    """Resources for processing one item; calls are booked in its ledger.

    `literature` is None unless `Trial.each` was given one.
    """

    engine: Engine
    embedder: Embedder
    ledger: Ledger
    literature: LiteratureClient | None = None


async def process_items(
    task: str,
    items: Mapping[str, ItemT],
    work: Callable[[ItemT, ItemContext], Awaitable[ResultT]],
    kind: type[ResultT],
    *,
    store: KeyedStore,
    context_of: Callable[[str], ItemContext],
    concurrency: int,
) -> dict[str, tuple[ResultT, Calls]]:
    """Process all items concurrently; return results and calls in the order of `items`.

    Cached results are reused unless another attempt may complete them.

    Args:
        task: with the item's id the cache key; includes everything that could change a result.
        work: processes one item; a ConfigurationError ends the whole task.
        context_of: returns the context of an item's id.
        concurrency: maximum number of items in progress.
    """
    keys = {item_id: content_hash(task, item_id, length=32) for item_id in items}
    cached_answers: dict[str, CachedAnswer] = {}
    for key, entry in store.get_many(list(keys.values())).items():
        with suppress(ValidationError):  # ignore entries of other versions
            cached_answers[key] = CachedAnswer.model_validate_json(entry)
    gate = asyncio.Semaphore(concurrency)

    async def one(item_id: str, item: ItemT) -> tuple[ResultT, Calls]:
        cached_answer = cached_answers.get(keys[item_id])
        paid_calls = cached_answer.calls if cached_answer is not None else ()
        if cached_answer is not None and not cached_answer.retry:
            with suppress(ValidationError):  # recompute results of other versions
                return kind.model_validate_json(cached_answer.result), paid_calls
        async with gate:
            context = context_of(item_id)
            result = await work(item, context)
        answer = CachedAnswer(
            result=result.model_dump_json(),
            retry=result.may_improve,
            calls=(*paid_calls, *context.ledger.llm_calls),
        )
        store.put_many({keys[item_id]: answer.model_dump_json().encode()})
        return result, answer.calls

    try:
        async with asyncio.TaskGroup() as running:
            tasks = {
                item_id: running.create_task(one(item_id, item)) for item_id, item in items.items()
            }
    except* AssayError as errors:
        error: BaseException = errors
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from errors
    return {item_id: each.result() for item_id, each in tasks.items()}


async def ask(step: Step[Any, Any], question: Noun, context: ItemContext) -> OutcomeResult:
    """Ask the context's engine one question."""
    outcome: Outcome[Reply] = await context.engine.run(step, question)
    if isinstance(outcome, Unscored):
        return OutcomeResult(
            value=None, reason=outcome.reason, detail=outcome.detail, provenance=outcome.provenance
        )
    return OutcomeResult(value=outcome.value.model_dump_json(), provenance=outcome.provenance)


def outcome_of(result: OutcomeResult, step: Step[Any, OutputT]) -> Outcome[OutputT]:
    """Restore the outcome from the result of `ask`."""
    if result.value is None:
        return Unscored(result.reason or Reason.REPLY_EMPTY, result.detail, result.provenance)
    return Scored(step.output_model.model_validate_json(result.value), result.provenance)
