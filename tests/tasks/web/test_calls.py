"""The row that every request leaves."""

import asyncio

import pytest

from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from tasks.accounting.ledger import Ledger
from tasks.web.calls import record_cache_hit, recorded


async def test_a_request_that_nobody_waited_for_leaves_its_row() -> None:
    ledger = Ledger(IdeaId("idea"))
    sent = asyncio.Event()

    async def ask() -> None:
        with recorded(ledger, "arxiv", "/api/query", "source request", attempt=2):
            sent.set()
            await asyncio.sleep(3600)

    task = asyncio.create_task(ask())
    await sent.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (row,) = ledger.api_calls
    assert (row.status, row.failure_reason, row.attempt) == (None, Reason.TIMEOUT, 2)
    assert (row.upstream_requests, row.request_share) == (1, 1.0)


def test_what_a_store_answered_cost_no_request() -> None:
    ledger = Ledger(IdeaId("idea"))
    record_cache_hit(ledger, "arxiv", "/api/query", packed=3)
    (row,) = ledger.api_calls
    assert (row.cache_hit, row.upstream_requests, row.packed, row.status) == (True, 0, 3, 200)
