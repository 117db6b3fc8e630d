"""Gateways within the test's own process, asked as programs ask them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from schemas.settings import Settings
from tasks.literature.gateway.application import application
from tasks.literature.gateway.live_requests import Transport
from tasks.literature.gateway.messages import Upstream
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.gateway.upstreams import LiveUpstream
from tasks.literature.snapshot.snapshot import Snapshot
from tasks.web.shared_limits import CircuitBreaker
from warehouse.stores.keyed_store import KeyedStore

GATEWAY = "http://gateway"
SEARCH, BATCH = "/graph/v1/paper/search", "/graph/v1/paper/batch"


@asynccontextmanager
async def gateway_to(upstream: Upstream | Snapshot) -> AsyncIterator[httpx.AsyncClient]:
    """A client in front of a gateway, which is closed at the end."""
    behind = SnapshotUpstream(upstream) if isinstance(upstream, Snapshot) else upstream
    transport = httpx.ASGITransport(application(behind))
    async with httpx.AsyncClient(transport=transport, base_url=GATEWAY, timeout=60) as client:
        yield client


@asynccontextmanager
async def live_gateway(
    settings: Settings, cache: Path, breaker: CircuitBreaker | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """The same in front of the live API at the address of the settings."""
    upstream = LiveUpstream(settings, KeyedStore(cache), Transport(settings, breaker=breaker))
    async with gateway_to(upstream) as client:
        yield client
    await upstream.close()
