"""Running the gateway in this process until it is told to stop."""

import logging
import sys
from pathlib import Path

from schemas.choices import LiteratureChoice
from schemas.people.web_origins import names_of_server
from schemas.settings import Settings
from tasks.literature.gateway.application import application
from tasks.literature.gateway.upstreams import open_upstream
from tasks.web.serving import answer_requests, listen


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
    listener = listen(host, port)
    if port_file is not None:
        _write_port(port_file, listener.getsockname()[1])
    names = names_of_server(host, settings.literature.allowed_hosts)
    answer_requests(application(upstream, settings.telemetry), listener, names)


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


def _write_port(path: Path, port: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_text(str(port))
    temporary.replace(path)
