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


class Programs:
    """ASGI application that builds the API on the first request, or on `prepare`."""

    def __init__(self, warehouse: Warehouse, gateway_url: str) -> None:
        self._warehouse, self._gateway_url = warehouse, gateway_url
        self._wanted = asyncio.Event()
        self._made: asyncio.Future[ASGIApp] | None = None

    def prepare(self) -> None:
        """Build the API now instead of on the first request."""
        self._wanted.set()

    def beside(self, served: ASGIApp) -> ASGIApp:
        """Return `served` with the lifespan that the API needs."""
        return Starlette(routes=[Mount("/", served)], lifespan=self._lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._made is not None
        app: ASGIApp = _health
        if scope["path"] != "/health":
            self._wanted.set()
        if self._wanted.is_set():  # a service that is still being made is not healthy yet
            try:
                made = await asyncio.shield(self._made)
            except AssayError as error:
                app = JSONResponse({"state": "error", "error": str(error)}, 503)
            else:
                app = app if scope["path"] == "/health" else made
        await app(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        self._made = asyncio.get_running_loop().create_future()
        running = asyncio.create_task(self._run(self._made))
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])

    async def _run(self, made: asyncio.Future[ASGIApp]) -> None:
        await self._wanted.wait()
        application, open_service = await run_in_threadpool(_imported)
        try:
            with ServiceDatabase(self._warehouse) as database:
                service = await run_in_threadpool(
                    open_service, self._warehouse, database, self._gateway_url
                )
                app, sessions = application(service)
                async with sessions():
                    made.set_result(app)
                    await asyncio.Event().wait()
        except AssayError as error:
            made.set_exception(error)


_health = JSONResponse({"state": "ok"})


def _imported() -> tuple[Any, Any]:
    from flows.api.application import application
    from flows.api.service import open_service

    return application, open_service
