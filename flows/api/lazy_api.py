"""API and MCP, imported on the first request so that pages start without them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from schemas.errors import AssayError
from warehouse.app.database import ServiceDatabase
from warehouse.warehouse import Warehouse


class LazyApi:
    """ASGI application that builds the API on the first request, or on `prepare`."""

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
        await self._requested.wait()
        application, open_service = await run_in_threadpool(_import_api)
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


_health = JSONResponse({"state": "ok"})


def _import_api() -> tuple[Any, Any]:
    from flows.api.application import application
    from flows.api.service import open_service

    return application, open_service
