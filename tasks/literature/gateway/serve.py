"""Running the gateway in this process until it is told to stop."""

import asyncio
import logging
import resource
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from schemas.web_origins import is_of_another_site, names_of_server
from tasks.literature.gateway.application import application
from tasks.literature.gateway.upstreams import open_upstream

# Connections to the gateway: bounded in number, and closed when nothing whole comes over them.

_LOG = logging.getLogger("assay.gateway")
IDLE_SECONDS = 30.0
"""How long a connection may stay without a whole request head, and how long a reader may take to
begin reading.
"""

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
    """uvicorn's protocol, which by itself waits for ever for the head of a first request, and for a
    reader who stopped.

    A connection over the bound is closed without a word: a client tries again then, while many take
        a 503 for an empty
    answer. One that stays without a whole request head for `IDLE_SECONDS` is closed within twice
    that time.
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


# Who may ask the gateway: programs, which say so by saying nothing, and no web page.


class ProgramsOnly:
    """Turns away what pages of other sites send: each request may cost a request of the key's
    allowance.
    """

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


def serve(
    settings: Settings,
    literature: LiteratureChoice,
    host: str,
    port: int,
    cache_directory: Path,
    port_file: Path | None,
) -> None:
    """Answer requests until SIGTERM or SIGINT; requests in flight are finished first.

    With `port` 0 the system chooses one; `port_file` receives the number once the port is open.

    Raises:
        ConfigurationError, SnapshotError: what keeps it from starting, in one line.
    """
    _log_to_stderr()
    upstream = open_upstream(settings, literature, cache_directory)
    listener = _listen(host, port)
    if port_file is not None:
        _write_port(port_file, listener.getsockname()[1])
    names = names_of_server(host, settings.literature.allowed_hosts)
    config = uvicorn.Config(
        TrustedHostMiddleware(
            ProgramsOnly(application(upstream, settings.telemetry)),
            allowed_hosts=names,
            www_redirect=False,
        ),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        http=PunctualProtocol,
        timeout_keep_alive=int(IDLE_SECONDS),
        backlog=_BACKLOG,
        server_header=False,
    )
    try:
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])
    finally:
        listener.close()


def _log_to_stderr() -> None:
    """One line per request, without headers and so without keys; what a caller has set up already
    stays.
    """
    logging.basicConfig(
        level=logging.INFO,
        stream=sys.stderr,
        format="%(asctime)s %(name)s %(levelname)s %(message)s",
    )
    for chatty in ("httpx", "httpcore", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def _listen(host: str, port: int) -> socket.socket:
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


def _write_port(path: Path, port: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_text(str(port))
    temporary.replace(path)
