"""The gateway as an ASGI application, with its Prometheus metrics and its server."""

import asyncio
import logging
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client import Counter as CounterMetric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect
from starlette.requests import Request as WebRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from schemas.choices import LiteratureChoice
from schemas.people.web_origins import names_of_server
from schemas.reasons import Reason
from schemas.settings import Settings, TelemetrySettings
from tasks.literature.gateway.messages import (
    ATTEMPTS_HEADER,
    KNOWN_BY_YEAR_HEADER,
    LEFT_OUT_HEADER,
    REFUSED_HEADER,
    SHARE_HEADER,
    STOPPING_HEADER,
    Reply,
    Request,
    Upstream,
    could_not_look,
    error_reply,
    header_of,
    no_such_route,
)
from tasks.literature.gateway.upstreams import open_upstream
from tasks.telemetry.reporting import gateway_answered, reporting, span
from tasks.web.headers import whole_number
from tasks.web.serving import ProgramsOnly, answer_requests, listen

_LOG = logging.getLogger("assay.gateway")
# The largest valid body holds 500 identifiers: some tens of thousands of bytes.
LARGEST_BODY_BYTES = 2_000_000
# A slower client would occupy a connection.
BODY_SECONDS = 30.0
_SECRET_PARAMETERS = frozenset({"api_key", "apikey", "key", "token_key", "x-api-key"})
_SECONDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 600.0, 3600.0)
_COUNTERS = (
    (
        "upstream_requests",
        "Requests sent upstream, by outcome: a status, timeout, unreachable or malformed_answer.",
        *("endpoint", "outcome"),
    ),
    ("given_up", "Questions answered with: could not look.", "reason"),
    (
        "look_ups",
        "Paper identifiers: asked for, kept from before, sent, coalesced with others in flight.",
        "outcome",
    ),
    ("wait_seconds", "Waiting for turns at the limiter."),
    ("upstream_seconds", "Waiting for upstream answers."),
)
"""Name, text and labels of counters from the upstream's statistics."""
_GAUGES = {
    "allowed_per_second": "Requests a second the key allows.",
    "allowance_used_share": "Of the allowance, while there was work.",
    "waiting": "Requests waiting for their turn.",
    "slowed_down_times": "How many times slower than allowed, because the upstream pushes back.",
    "circuit_open": "1 while the upstream counts as down.",
}
"""Gauges from the upstream's statistics; unknown values are skipped."""


class Metrics:
    """Prometheus metrics of one gateway since its start.

    Labels hold endpoints and outcomes only: no query, no key, no client.
    """

    def __init__(self, statistics: Callable[[], dict[str, Any]]) -> None:
        self.registry = CollectorRegistry()
        self.requests = CounterMetric(
            "assay_gateway_requests",
            "Requests of clients.",
            ("endpoint", "status", "cache"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "assay_gateway_request_seconds",
            "Until the answer.",
            ("endpoint",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._statistics = statistics
        self.registry.register(self)

    def describe(self) -> list[Metric]:
        """Return no metrics: the upstream's figures are collected on request."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the upstream's figures."""
        figures = self._statistics()
        live: dict[str, Any] = figures.get("live", figures)
        if "upstream" not in live:
            return
        upstream: dict[str, Any] = live["upstream"]
        counts_by_label: tuple[dict[tuple[str, ...], float], ...] = (
            {
                (endpoint, outcome): count
                for endpoint, counts in upstream["outcomes"].items()
                for outcome, count in counts.items()
            },
            {(reason,): count for reason, count in upstream["given_up"].items()},
            {(outcome,): count for outcome, count in live["look_ups"].items()},
            {(): upstream["wait_seconds"]},
            {(): upstream["latency_seconds"]},
        )
        for (name, text, *labels), counts in zip(_COUNTERS, counts_by_label, strict=True):
            family = CounterMetricFamily(f"assay_gateway_{name}", text, labels=labels)
            for values, count in counts.items():
                family.add_metric(values, count)
            yield family
        gauges = {**upstream, "circuit_open": float(upstream["circuit"] == "open")}
        for name, text in _GAUGES.items():
            if gauges[name] is not None:
                yield GaugeMetricFamily(f"assay_gateway_{name}", text, value=gauges[name])


class Gateway:
    """HTTP handlers that pass requests to the upstream and count them."""

    def __init__(self, upstream: Upstream) -> None:
        self._upstream = upstream
        self._started = time.monotonic()
        self._counts: Counter[str] = Counter()
        self._metrics = Metrics(upstream.statistics)

    async def serve(self, web: WebRequest) -> Response:
        """Answer any path of the Graph and Recommendations API."""
        start_time = time.monotonic()
        parameters = sorted(
            (name, value)
            for name, value in web.query_params.multi_items()
            if name.lower() not in _SECRET_PARAMETERS
        )
        request = Request(web.method, web.scope["path"], tuple(parameters))
        refusal = _refusal(request)
        if refusal is None and request.method == "POST":
            body = await _read_body(web)
            if isinstance(body, bytes):
                request = replace(request, body=body)
            else:
                refusal = body
        if refusal is not None:
            self._count(request, refusal, start_time)
            response = _response(refusal, "gateway")
            response.headers["connection"] = "close"  # the rest of the request is not read
            return response
        parent, endpoint = web.headers.get("traceparent"), request.endpoint
        try:
            with span(
                "gateway request", kind="server", parent=parent, endpoint=endpoint
            ) as request_span:
                reply = await self._upstream.answer(request)
                cache, sent_count = reply.cache.value, len(reply.attempts)
                request_span.note(status=reply.status, cache=cache, upstream_requests=sent_count)
                if reply.reason is not None:
                    request_span.fail(reply.reason)
        except asyncio.CancelledError:  # at shutdown, while clients still wait
            stopping = could_not_look(Reason.UNREACHABLE, "the gateway stops; ask again")
            response = _response(stopping, self._upstream.name)
            response.headers[STOPPING_HEADER] = "1"
            return response
        self._counts[f"cache_{reply.cache}"] += 1
        seconds = self._count(request, reply, start_time)
        log_values = (request.method, request.path, reply.status, reply.cache, seconds * 1000)
        _LOG.info("%s %s %d %s %.0f ms", *log_values)
        return _response(reply, self._upstream.name)

    def _count(self, request: Request, reply: Reply, start_time: float) -> float:
        seconds, endpoint = time.monotonic() - start_time, request.endpoint
        self._counts.update(["requests", f"status_{reply.status}"])
        self._metrics.requests.labels(endpoint, str(reply.status), reply.cache.value).inc()
        self._metrics.seconds.labels(endpoint).observe(seconds)
        gateway_answered(endpoint, reply.status, reply.cache.value, seconds)
        return seconds

    async def health(self, _: WebRequest) -> Response:
        literature = {"source": self._upstream.name, "literature": self._upstream.identity}
        return JSONResponse({"status": "ok", "service": "assay-gateway", **literature})

    async def statistics(self, _: WebRequest) -> Response:
        """Return client requests since the start, and the upstream's statistics."""
        figures = {"uptime_seconds": round(time.monotonic() - self._started, 1), **self._counts}
        return JSONResponse({"gateway": figures, **self._upstream.statistics()})

    async def metrics(self, _: WebRequest) -> Response:
        page = generate_latest(self._metrics.registry)
        return Response(page, headers={"content-type": CONTENT_TYPE_LATEST})


def application(upstream: Upstream, telemetry: TelemetrySettings | None = None) -> Starlette:
    """Build the application around an upstream, which it closes at shutdown."""
    gateway = Gateway(upstream)

    # Telemetry is closed here, because uvicorn re-raises the signal that stopped it.
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with reporting(telemetry or TelemetrySettings(), "assay-gateway"):
            yield
            await upstream.close()

    return Starlette(
        routes=[
            Route("/healthz", gateway.health),
            Route("/stats", gateway.statistics),
            Route("/metrics", gateway.metrics),
            Route("/graph/v1/{rest:path}", gateway.serve, methods=["GET", "POST"]),
            Route("/recommendations/v1/{rest:path}", gateway.serve, methods=["GET", "POST"]),
        ],
        lifespan=lifespan,
        exception_handlers={404: _not_found, 500: _server_error},
    )


def serve(
    settings: Settings,
    literature: LiteratureChoice,
    host: str,
    port: int,
    cache_directory: Path,
    port_file: Path | None,
) -> None:
    """Serve requests until SIGTERM or SIGINT; requests in flight are finished first.

    With `port` 0 the system chooses one; `port_file` receives the number once the port is open.

    Raises:
        ConfigurationError, SnapshotError: it cannot start; the message is one line.
    """
    # One line per request, without headers and so without keys.
    logging.basicConfig(
        level=logging.INFO,
        stream=sys.stderr,
        format="%(asctime)s %(name)s %(levelname)s %(message)s",
    )
    for chatty in ("httpx", "httpcore", "uvicorn.error"):
        logging.getLogger(chatty).setLevel(logging.WARNING)
    upstream = open_upstream(settings, literature, cache_directory)
    listener = listen(host, port)
    if port_file is not None:
        port_file.parent.mkdir(parents=True, exist_ok=True)
        temporary = port_file.with_name(f"{port_file.name}.new")
        temporary.write_text(str(listener.getsockname()[1]))
        temporary.replace(port_file)
    names = names_of_server(host, settings.literature.allowed_hosts)
    answer_requests(ProgramsOnly(application(upstream, settings.telemetry)), listener, names)


def _refusal(request: Request) -> Reply | None:
    if request.route is None:
        return no_such_route(request)
    names = [name for name, _ in request.parameters]
    repeated_names = sorted({name for name in names if names.count(name) > 1})
    if not repeated_names:
        return None
    return error_reply(
        400, f"Unacceptable query params: [{repeated_names[0][:100]}] is given twice"
    )


async def _read_body(web: WebRequest) -> bytes | Reply:
    too_large = f"Request body is too large: at most {LARGEST_BODY_BYTES:,} bytes"
    content_length = web.headers.get("content-length")
    if content_length is not None and (whole_number(content_length) or 0) > LARGEST_BODY_BYTES:
        return error_reply(400, too_large)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in web.stream():
                body += piece
                if len(body) > LARGEST_BODY_BYTES:
                    return error_reply(400, too_large)
    except ClientDisconnect:
        return error_reply(400, "Request body is cut off")
    except TimeoutError:
        return error_reply(400, f"Request body did not come within {BODY_SECONDS:g} s")
    return bytes(body)


async def _not_found(web: WebRequest, _: Exception) -> Response:
    message = f"{web.url.path} is no path of the Semantic Scholar API"
    return _response(error_reply(404, message), "gateway")


async def _server_error(web: WebRequest, error: Exception) -> Response:
    _LOG.error("%s %s failed: %s: %s", web.method, web.url.path, type(error).__name__, error)
    message = f"the gateway failed: {type(error).__name__}"
    return _response(could_not_look(Reason.SERVER_ERROR, message), "gateway")


def _response(reply: Reply, source: str) -> Response:
    headers = {
        "x-assay-cache": reply.cache.value,
        "x-assay-wait-seconds": f"{reply.wait_seconds:.3f}",
        "x-assay-upstream-requests": str(len(reply.attempts)),
        ATTEMPTS_HEADER: header_of(reply.attempts),
        SHARE_HEADER: f"{reply.share:.6f}",
        "x-assay-packed": str(reply.packed),
        "x-assay-source": source,
        KNOWN_BY_YEAR_HEADER: reply.known_by_year,
        LEFT_OUT_HEADER: reply.left_out,
    }
    if reply.reason is Reason.FORBIDDEN:
        headers[REFUSED_HEADER] = "1"
    return Response(
        reply.body, status_code=reply.status, media_type="application/json", headers=headers
    )
