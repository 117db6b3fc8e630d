"""The gateway as an ASGI application."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from schemas.settings import TelemetrySettings
from tasks.literature.gateway.attempts import ATTEMPTS_HEADER, SHARE_HEADER, STOPPING_HEADER, header_of
from tasks.literature.gateway.messages import Reply, Request, Upstream, could_not_look, error_reply
from tasks.literature.gateway.metrics import CONTENT_TYPE, Metrics
from tasks.telemetry.counting import gateway_answered
from tasks.telemetry.reporter import reporting
from tasks.telemetry.tracing import span

_LOG = logging.getLogger("assay.gateway")
_LARGEST_BODY = 2_000_000
_SECRET_PARAMETERS = frozenset({"api_key", "apikey", "key", "token_key", "x-api-key"})


class Gateway:
    """Counts and translates; what an answer is, the upstream decides."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._started = time.monotonic()
        self._counts: Counter[str] = Counter()
        self._metrics = Metrics(upstream.statistics)

    async def serve(self, web: WebRequest) -> Response:
        """Every path of the Graph and Recommendations API."""
        started = time.monotonic()
        body = await web.body()
        if len(body) > _LARGEST_BODY:
            return _response(error_reply(400, "Request body is too large"), self._upstream.name)
        parameters = sorted((name, value) for name, value in web.query_params.multi_items() if name.lower() not in _SECRET_PARAMETERS)
        request = Request(web.method, web.url.path, tuple(parameters), body)
        try:
            with span("gateway request", kind="server", parent=web.headers.get("traceparent"), endpoint=request.endpoint) as spanned:
                reply = await self._upstream.answer(request)
                spanned.note(status=reply.status, cache=reply.cache.value, upstream_requests=len(reply.attempts))
                if reply.reason is not None:
                    spanned.fail(reply.reason)
        except asyncio.CancelledError:  # only at the end, for those who still wait then
            stopping = _response(could_not_look("unreachable", "the gateway stops; ask again"), self._upstream.name)
            stopping.headers[STOPPING_HEADER] = "1"
            return stopping
        self._counts.update(["requests", f"cache_{reply.cache}", f"status_{reply.status}"])
        seconds = time.monotonic() - started
        gateway_answered(self._metrics.answered(request, reply, seconds), reply.status, reply.cache.value, seconds)
        _LOG.info("%s %s %d %s %.0f ms", request.method, request.path, reply.status, reply.cache, seconds * 1000)
        return _response(reply, self._upstream.name)

    async def health(self, _: WebRequest) -> Response:
        """Alive, and what literature is behind it."""
        named = {"source": self._upstream.name, "literature": self._upstream.identity}
        return JSONResponse({"status": "ok", "service": "assay-gateway", **named})

    async def statistics(self, _: WebRequest) -> Response:
        """Requests of clients since the start; under `upstream` what was sent on, `hours` of it from the kept record."""
        figures = {"uptime_seconds": round(time.monotonic() - self._started, 1), **self._counts}
        return JSONResponse({"gateway": figures, **self._upstream.statistics()})

    async def metrics(self, _: WebRequest) -> Response:
        """The same for Prometheus."""
        return Response(self._metrics.exposition(), headers={"content-type": CONTENT_TYPE})


def application(upstream: Upstream, telemetry: TelemetrySettings | None = None) -> Starlette:
    """The application around an upstream, which it closes at the end. It reports itself: uvicorn ends with the signal that ended it."""
    gateway = Gateway(upstream)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with reporting(telemetry or TelemetrySettings(), "assay-gateway"):
            yield
            await upstream.close()

    routes = [
        Route("/healthz", gateway.health),
        Route("/stats", gateway.statistics),
        Route("/metrics", gateway.metrics),
        Route("/graph/v1/{rest:path}", gateway.serve, methods=["GET", "POST"]),
        Route("/recommendations/v1/{rest:path}", gateway.serve, methods=["GET", "POST"]),
    ]
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers={404: _not_found, 500: _broken})


async def _not_found(web: WebRequest, _: Exception) -> Response:
    return _response(error_reply(404, f"{web.url.path} is no path of the Semantic Scholar API"), "gateway")


async def _broken(web: WebRequest, error: Exception) -> Response:
    _LOG.error("%s %s failed: %s: %s", web.method, web.url.path, type(error).__name__, error)
    return _response(could_not_look("server_error", f"the gateway failed: {type(error).__name__}"), "gateway")


def _response(reply: Reply, source: str) -> Response:
    headers = {
        "x-assay-cache": reply.cache.value,
        "x-assay-wait-seconds": f"{reply.wait_seconds:.3f}",
        "x-assay-upstream-requests": str(len(reply.attempts)),
        ATTEMPTS_HEADER: header_of(reply.attempts),
        SHARE_HEADER: f"{reply.share:.6f}",
        "x-assay-packed": str(reply.packed),
        "x-assay-source": source,
    }
    return Response(reply.body, status_code=reply.status, media_type="application/json", headers=headers)
