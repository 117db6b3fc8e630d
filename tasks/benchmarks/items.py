"""What the work on one item of a benchmark has at hand, the loop over all items, and their answers
kept as they come.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

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
    """The result of one item as it is kept on disk; subclasses say what it holds."""

    reason: Reason | None = Field(
        default=None, description="Why it lacks something; None: all is there."
    )
    detail: str = ""
    provenance: Provenance | None = None

    @property
    def may_improve(self) -> bool:
        """Return whether working on the item again may bring what is missing."""
        return may_pass(self.reason)


class OutcomeResult(ItemResult):
    """An outcome whose value is JSON."""

    value: str | None
    provenance: Provenance


ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT", bound=ItemResult)
OutputT = TypeVar("OutputT", bound=Reply)


class CachedAnswer(Noun):
    """One item's result, as JSON, and every call made for it, earlier attempts included.

    Kept on disk as it comes: a kill loses calls in flight only.
    """

    result: str
    retry: bool = Field(description="Whether asking again may bring what is missing.")
    calls: tuple[LlmCall, ...]


@dataclass(frozen=True, slots=True)
class ItemContext:
    """Engine and literature book every call in the item's own ledger; `literature` is None unless
    the work asked for it.
    """

    engine: Engine
    embedder: Embedder
    ledger: Ledger
    literature: LiteratureClient | None = None


@dataclass(frozen=True, slots=True)
class CompletedItem(Generic[ResultT]):
    """The result of one item, and the calls made for it, now or before a kill."""

    result: ResultT
    calls: tuple[LlmCall, ...]


async def process_items(
    task: str,
    items: Mapping[str, ItemT],
    work: Callable[[ItemT, ItemContext], Awaitable[ResultT]],
    kind: type[ResultT],
    *,
    store: KeyedStore,
    context_of: Callable[[str], ItemContext],
    concurrency: int,
) -> dict[str, CompletedItem[ResultT]]:
    """Do `work` on every item without a kept result, or with one that may go better, side by side;
    return results by item, in the order of `items`.

    Args:
        task: what is done, with all that could change the result beyond the item's name: a result
            is kept under both.
        work: never raises for what the other side does; a ConfigurationError ends all.
        context_of: what the work on the item of that id has at hand.
        concurrency: items that are worked on at once.
    """
    keys = {item_id: content_hash(task, item_id, length=32) for item_id in items}
    cached: dict[str, CachedAnswer] = {}
    for key, entry in store.get_many(list(keys.values())).items():
        with suppress(ValidationError):  # an entry of another version counts as none
            cached[key] = CachedAnswer.model_validate_json(entry)
    gate = asyncio.Semaphore(concurrency)

    async def one(item_id: str, item: ItemT) -> CompletedItem[ResultT]:
        before = cached.get(keys[item_id])
        paid = before.calls if before is not None else ()
        if before is not None and not before.retry:
            with suppress(ValidationError):  # a result of another version is made anew
                return CompletedItem(kind.model_validate_json(before.result), paid)
        async with gate:
            context = context_of(item_id)
            result = await work(item, context)
        answer = CachedAnswer(
            result=result.model_dump_json(),
            retry=result.may_improve,
            calls=(*paid, *context.ledger.llm_calls),
        )
        store.put_many({keys[item_id]: answer.model_dump_json().encode()})
        return CompletedItem(result, answer.calls)

    try:
        async with asyncio.TaskGroup() as running:
            tasks = {
                item_id: running.create_task(one(item_id, item)) for item_id, item in items.items()
            }
    except* AssayError as errors:
        raise _first_error(errors) from errors
    return {item_id: each.result() for item_id, each in tasks.items()}


def _first_error(errors: BaseExceptionGroup[AssayError]) -> BaseException:
    error: BaseException = errors.exceptions[0]
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def ask(step: Step[Any, Any], question: Noun, context: ItemContext) -> OutcomeResult:
    """Put `question` to the context's engine."""
    outcome: Outcome[Reply] = await context.engine.run(step, question)
    if isinstance(outcome, Unscored):
        return OutcomeResult(
            value=None, reason=outcome.reason, detail=outcome.detail, provenance=outcome.provenance
        )
    return OutcomeResult(value=outcome.value.model_dump_json(), provenance=outcome.provenance)


def outcome_of(result: OutcomeResult, step: Step[Any, OutputT]) -> Outcome[OutputT]:
    """Return the outcome that `ask` kept."""
    if result.value is None:
        return Unscored(result.reason or Reason.REPLY_EMPTY, result.detail, result.provenance)
    return Scored(step.output_model.model_validate_json(result.value), result.provenance)
