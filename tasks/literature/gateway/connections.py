"""Connections to the gateway: bounded in number, and closed when nothing whole comes over them."""

import asyncio
import logging
import resource
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

_LOG = logging.getLogger("assay.gateway")
IDLE_SECONDS = 30.0
"""How long a connection may stay without a whole request head, and how long a reader may take to begin reading."""

_MOST_CONNECTIONS = 4_096
_DESCRIPTORS_KEPT = 128
"""For the upstream, the cache, the logs and the record."""


def most_connections() -> int:
    """As many as the process may open files for, less those the gateway itself needs."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        max(min(_MOST_CONNECTIONS, allowed - _DESCRIPTORS_KEPT), 1)
        if allowed != resource.RLIM_INFINITY
        else _MOST_CONNECTIONS
    )


class PunctualProtocol(H11Protocol):
    """uvicorn's protocol, which by itself waits for ever for the head of a first request, and for a reader who stopped.

    A connection over the bound is closed without a word: a client tries again then, while many take a 503 for an empty
    answer. One that stays without a whole request head for `IDLE_SECONDS` is closed within twice that time.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._seen: Any = None
        self._looking: asyncio.TimerHandle | None = None
        if len(self.connections) > most_connections():
            _LOG.warning("more than %d connections: one is turned away", most_connections())
            transport.abort()
            return
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._looking is not None:
            self._looking.cancel()
        super().connection_lost(exc)

    def _look_again(self) -> None:
        self._looking = self.loop.call_later(IDLE_SECONDS, self._look)

    def _look(self) -> None:
        """End what has had no whole head since the last look; what is being answered stays."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        waiting = self.cycle is None or self.cycle.response_complete
        if waiting and self.cycle is self._seen:
            self.transport.close()
        self._seen = self.cycle
        self._look_again()
