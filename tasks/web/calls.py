"""Ledger rows of requests, and a cache of answers on disk."""

import asyncio
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from schemas.base import replace
from schemas.calls import ApiCall
from schemas.errors import AssayError
from schemas.failure import SourceFailure
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.telemetry.reporting import span
from warehouse.stores.keyed_store import KeyedStore

_LONGEST_ENDPOINT = 300
_LONGEST_DETAIL = 300


@dataclass(slots=True)
class Call:
    """The values of a running request; `reason` is that of its failure."""

    status: int | None = None
    reason: Reason | None = None
    wait_seconds: float = 0.0
    started: float = field(default_factory=time.monotonic)


@contextmanager
def recorded(
    ledger: Ledger,
    source: str,
    endpoint: str,
    name: str,
    **columns: Any,
) -> Iterator[Call]:
    """Record one request in the ledger and as a span when it ends, also by an error.

    Args:
        endpoint: without a query, which may hold a key or an address.
        columns: further columns of the row.
    """
    call = Call()
    created_at = datetime.now(UTC)
    try:
        with span(name, kind="client", source=source, attempt=columns.get("attempt")) as call_span:
            yield call
            if call.reason is not None:
                call_span.fail(call.reason)
            call_span.note(status=call.status)
    except asyncio.CancelledError:
        call.reason = call.reason or Reason.TIMEOUT  # it was sent, and the caller gave up
        raise
    finally:
        record(
            ledger,
            source,
            endpoint,
            status=call.status,
            failure_reason=call.reason,
            wait_seconds=call.wait_seconds,
            latency_seconds=max(time.monotonic() - call.started, 0.0),
            created_at=created_at,
            **columns,
        )


def record(ledger: Ledger, source: str, endpoint: str, **columns: Any) -> None:
    """Record one request; missing `columns` default to one request without waiting."""
    default_columns: dict[str, Any] = {
        "call_id": uuid4().hex,
        "status": None,
        "failure_reason": None,
        "wait_seconds": 0.0,
        "latency_seconds": 0.0,
        "cache_hit": False,
        "packed": 1,
        "upstream_requests": 1,
        "created_at": datetime.now(UTC),
    }
    row = {"idea_id": ledger.idea_id, "source": source, "endpoint": endpoint[:_LONGEST_ENDPOINT]}
    call = ApiCall(**{**default_columns, **columns, **row})
    for place, other in enumerate(ledger.api_calls):
        if other.call_id == call.call_id:  # two look-ups of the idea shared a request
            share = other.request_share + call.request_share
            ledger.api_calls[place] = replace(other, request_share=share)
            return
    ledger.api_calls.append(call)


def record_cache_hit(ledger: Ledger, source: str, endpoint: str, **columns: Any) -> None:
    """Record a look-up answered from a cache, without a request."""
    record(ledger, source, endpoint, status=200, cache_hit=True, upstream_requests=0, **columns)


def failure(source: str, endpoint: str, reason: Reason, detail: str) -> SourceFailure:
    """Return a failure with its detail on one line of bounded length."""
    line = " ".join(detail.split())[:_LONGEST_DETAIL]
    return SourceFailure(source=source, endpoint=endpoint, reason=reason, detail=line)


_LOG = logging.getLogger("assay.web")


class CachedAnswers:
    """Cached entries not older than `maximum_age_seconds`.

    Errors of the store are logged; the cache then misses.
    """

    def __init__(self, store: KeyedStore, maximum_age_seconds: float) -> None:
        self._store = store
        self._maximum_age_seconds = maximum_age_seconds

    def get(self, keys: Sequence[str]) -> dict[str, bytes]:
        try:
            return self._store.get_many(keys, self._maximum_age_seconds)
        except AssayError as error:
            _LOG.warning("cached answers are unavailable: %s", error)
            return {}

    def put(self, entries: Mapping[str, bytes]) -> None:
        try:
            self._store.put_many(entries)
        except AssayError as error:
            _LOG.warning("an answer could not be cached: %s", error)

    def close(self) -> None:
        self._store.close()
