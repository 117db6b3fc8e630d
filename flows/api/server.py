"""Web server for dashboard pages and the API, on one address.

`python -m flows.api.server WAREHOUSE HOST PORT GATEWAY PARTS NOTE`. GATEWAY: URL of the literature
gateway; empty: no search. PARTS: `all`, or `programs` without pages. NOTE: printed on stderr once
it listens; empty: nothing.
"""

import sys
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from flows.api.lazy_api import LazyApi
from flows.cli.command_line import log_to_stderr, run_command
from flows.cli.terminal import print_warning
from flows.run.environment import prepare_environment
from schemas.people.web_origins import names_of_server
from tasks.web.serving import ProgramsOnly, answer_requests, listen
from warehouse.warehouse import Warehouse

ALL_PARTS = "all"
_API_PATHS = ("/v1", "/mcp", "/openapi.json", "/health")


def serve(
    warehouse: Warehouse, host: str, port: int, gateway_url: str, parts: str, note: str
) -> None:
    """Serve until SIGTERM or SIGINT. Raises ConfigurationError if it cannot start."""
    settings = warehouse.settings
    prepare_environment(settings.home)
    programs = LazyApi(warehouse, gateway_url)
    app: ASGIApp = ProgramsOnly(programs)
    hosts = settings.api.allowed_hosts
    if parts == ALL_PARTS:
        from dashboards.app.application import pages

        app = _by_path(app, pages(settings))
        hosts = (*hosts, *settings.dashboard.allowed_hosts)
    else:
        programs.prepare()
    names = names_of_server(host, hosts)
    listener = listen(host, port)
    if note:
        print_warning(note)
    answer_requests(programs.with_lifespan(app), listener, names, settings.api.idle_seconds)


def _by_path(programs: ASGIApp, pages: ASGIApp) -> ASGIApp:
    """Route by path: programs authenticate with tokens, pages with cookies."""

    async def either(scope: Scope, receive: Receive, send: Send) -> None:
        first = "/" + str(scope.get("path", "")).split("/", 2)[1]
        await (programs if first in _API_PATHS else pages)(scope, receive, send)

    return either


if __name__ == "__main__":
    log_to_stderr()
    place, address, number, gateway, parts, note = sys.argv[1:]
    sys.exit(
        run_command(
            lambda: serve(Warehouse(Path(place)), address, int(number), gateway, parts, note)
        )
    )
