"""Running the gateway in this process until it is told to stop."""

import logging
import socket
import sys
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware

from schemas.choices import LiteratureChoice
from schemas.errors import ConfigurationError
from schemas.settings import Settings
from schemas.web_origins import names_of_server
from tasks.literature.gateway.application import application
from tasks.literature.gateway.callers import ProgramsOnly
from tasks.literature.gateway.connections import IDLE_SECONDS, PunctualProtocol
from tasks.literature.gateway.opening import open_upstream

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
    """One line per request, without headers and so without keys; what a caller has set up already stays."""
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
