"""Web server for dashboard pages and the API, on one address.

`python -m flows.api.server WAREHOUSE HOST PORT GATEWAY PARTS NOTE`. GATEWAY: URL of the literature
gateway; empty: no search. PARTS: `all`, or `programs` without pages. NOTE: printed on stderr once
it listens; empty: nothing.
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from flows.cli.command_line import log_to_stderr, run_command
from flows.cli.terminal import print_warning
from flows.run.environment import prepare_environment
from schemas.errors import AssayError
from schemas.people.web_origins import names_of_server
from tasks.web.serving import ProgramsOnly, answer_requests, listen
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse

ALL_PARTS = "all"
_API_PATHS = ("/v1", "/mcp", "/openapi.json", "/health")


_health = JSONResponse({"state": "ok"})


class LazyApi:
    """ASGI application that builds API and MCP on the first request, or on `prepare`.

    Pages start without them.
    """

    def __init__(self, warehouse: Warehouse, gateway_url: str) -> None:
        self._warehouse, self._gateway_url = warehouse, gateway_url
        self._requested = asyncio.Event()
        self._app: asyncio.Future[ASGIApp] | None = None

    def prepare(self) -> None:
        """Build the API now instead of on the first request."""
        self._requested.set()

    def with_lifespan(self, app: ASGIApp) -> ASGIApp:
        """Return `app` with the lifespan that the API needs."""
        return Starlette(routes=[Mount("/", app)], lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        app: ASGIApp = _health
        if scope["path"] != "/health":
            self._requested.set()
        if self._requested.is_set():  # unhealthy until it is built
            try:
                api = await asyncio.shield(self._app)
            except AssayError as error:
                app = JSONResponse({"state": "error", "error": str(error)}, 503)
            else:
                app = app if scope["path"] == "/health" else api
        await app(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        self._app = asyncio.get_running_loop().create_future()
        running = asyncio.create_task(self._run(self._app))
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])

    async def _run(self, app_future: asyncio.Future[ASGIApp]) -> None:
        def import_api() -> tuple[Any, Any]:
            from flows.api.application import application
            from flows.api.service import open_service

            return application, open_service

        await self._requested.wait()
        application, open_service = await run_in_threadpool(import_api)
        try:
            with ServiceDatabase(self._warehouse) as database:
                service = await run_in_threadpool(
                    open_service, self._warehouse, database, self._gateway_url
                )
                api, sessions = application(service)
                async with sessions():
                    app_future.set_result(api)
                    await asyncio.Event().wait()
        except AssayError as error:
            app_future.set_exception(error)


def serve(
    warehouse: Warehouse, host: str, port: int, gateway_url: str, parts: str, note: str
) -> None:
    """Serve until SIGTERM or SIGINT. Raises ConfigurationError if it cannot start."""
    settings = warehouse.settings
    prepare_environment(settings.home)
    programs = LazyApi(warehouse, gateway_url)
    app: ASGIApp = ProgramsOnly(programs)
    hosts = settings.dashboard.allowed_hosts
    if parts == ALL_PARTS:
        from dashboards.app.application import pages

        app = _by_path(app, pages(settings))
    else:
        programs.prepare()
    names = names_of_server(host, hosts)
    listener = listen(host, port)
    if note:
        print_warning(note)
    answer_requests(programs.with_lifespan(app), listener, names, settings.api.timeout_seconds)


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
