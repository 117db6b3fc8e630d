"""Every request for a full text leaves a row in the idea's ledger."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from schemas.calls import ApiCall
from schemas.reasons import Reason
from schemas.retrieval import SourceFailure
from tasks.accounting.ledger import Ledger
from tasks.telemetry.tracing import span


@dataclass(slots=True)
class Request:
    """Filled in while the request runs."""

    status: int | None = None
    reason: Reason | None = None
    cache_hit: bool = False
    wait_seconds: float = 0.0
    started: float = field(default_factory=time.monotonic)


@contextmanager
def recorded(ledger: Ledger, source: str, endpoint: str) -> Iterator[Request]:
    """Record one request when it ends, however it ends. `endpoint` must carry no query (it may hold a key or an address)."""
    request = Request()
    created_at = datetime.now(UTC)
    try:
        with span("document request", kind="client", source=source) as spanned:
            yield request
            if request.reason is not None:
                spanned.fail(request.reason)
            spanned.note(status=request.status, cache_hit=request.cache_hit)
    finally:
        ledger.api_calls.append(
            ApiCall(
                call_id=uuid4().hex,
                idea_id=ledger.idea_id,
                source=source,
                endpoint=endpoint[:300],
                status=request.status,
                failure_reason=request.reason,
                wait_seconds=request.wait_seconds,
                latency_seconds=max(time.monotonic() - request.started, 0.0),
                cache_hit=request.cache_hit,
                packed=1,
                upstream_requests=0 if request.cache_hit else 1,
                created_at=created_at,
            )
        )


def failure(source: str, endpoint: str, reason: Reason, detail: str) -> SourceFailure:
    """A failure on one line of at most 300 characters."""
    line = " ".join(detail.split())[:300]
    return SourceFailure(source=source, endpoint=endpoint, reason=reason, detail=line)


def record_cache_hit(ledger: Ledger, source: str, endpoint: str) -> None:
    """A look-up that the store answered: no request went out."""
    with recorded(ledger, source, endpoint) as request:
        request.status, request.cache_hit = 200, True
