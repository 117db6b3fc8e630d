"""HTTP servers with limits, closed to pages of other sites."""

import asyncio
import logging
import os
import resource
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from schemas.errors import ConfigurationError
from schemas.people.web_origins import is_of_another_site

_LOG = logging.getLogger("assay.web")
IDLE_SECONDS = 30.0
"""Limit for a complete request head, and for a client to start reading."""

_MOST_CONNECTIONS = 4_096
_DESCRIPTORS_KEPT = 128
"""Descriptors reserved for upstreams, caches, logs and the lake."""


def most_connections() -> int:
    """Return the limit of connections by the process's limit of open files."""
    file_limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if file_limit == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(min(_MOST_CONNECTIONS, file_limit - _DESCRIPTORS_KEPT), 1)


class PunctualProtocol(H11Protocol):
    """uvicorn's protocol with limits on connections and idle time.

    A connection above the limit is closed without an answer: clients then retry, while many read a
    503 as an empty answer. A connection without a complete request head for `IDLE_SECONDS` is
    closed within twice that time.
    """

    idle_seconds: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._seen_cycle: Any = None
        self._check_timer: asyncio.TimerHandle | None = None
        if len(self.connections) > most_connections():
            _LOG.warning("more than %d connections: one is turned away", most_connections())
            transport.abort()
            return
        self._schedule_check()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._check_timer is not None:
            self._check_timer.cancel()
        super().connection_lost(exc)

    def _schedule_check(self) -> None:
        seconds = IDLE_SECONDS if self.idle_seconds is None else self.idle_seconds
        self._check_timer = self.loop.call_later(seconds, self._check_idle)

    def _check_idle(self) -> None:
        """Close the connection if no request head was completed since the last check."""
        if self.transport.is_closing():
            self.transport.abort()
            return
        waiting = self.cycle is None or self.cycle.response_complete
        if waiting and self.cycle is self._seen_cycle:
            self.transport.close()
        self._seen_cycle = self.cycle
        self._schedule_check()


class ProgramsOnly:
    """Refuses requests of pages of other sites."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and is_of_another_site(Headers(scope=scope)):
            await JSONResponse(
                {"error": "web pages of other sites are not answered"}, status_code=403
            )(scope, receive, send)
        else:
            await self._app(scope, receive, send)


_SHUTDOWN_SECONDS = 10
_BACKLOG = 2048


def answer_requests(
    application: ASGIApp,
    listener: socket.socket,
    names: Sequence[str],
    idle_seconds: float | None = None,
) -> None:
    """Serve `listener` until SIGTERM or SIGINT; requests in flight are finished first.

    Args:
        names: accepted `Host` headers, without port.
        idle_seconds: None: `IDLE_SECONDS`.
    """

    class Punctual(PunctualProtocol):
        pass

    Punctual.idle_seconds = idle_seconds
    config = uvicorn.Config(
        TrustedHostMiddleware(application, allowed_hosts=list(names), www_redirect=False),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        http=Punctual,
        timeout_keep_alive=int(IDLE_SECONDS),
        backlog=_BACKLOG,
        server_header=False,
        # uvicorn trusts all local programs by default.
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
    )
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; with `port` 0 the system chooses one.

    Raises:
        ConfigurationError: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(
        family, socket.SOCK_STREAM, socket.IPPROTO_TCP
    )  # asyncio sets TCP_NODELAY only where TCP is named
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as error:
        listener.close()
        raise ConfigurationError(
            f"cannot listen on {host}:{port} ({error}); choose another --host or --port"
        ) from error
    listener.listen(_BACKLOG)
    return listener
