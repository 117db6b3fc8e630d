"""What the gateway did, for Prometheus: text exposition format 0.0.4 at `/metrics`."""

from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from tasks.literature.gateway.messages import Reply, Request

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0, 600.0, 3600.0)
Json = dict[str, Any]


class Metrics:
    """Figures of one gateway since its start.

    Labels hold endpoints and outcomes only: no query, no key, no client.
    """

    def __init__(self, statistics: Callable[[], Json]) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "assay_gateway_requests",
            "Requests of clients.",
            ("endpoint", "status", "cache"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "assay_gateway_request_seconds",
            "Until the answer.",
            ("endpoint",),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._registry.register(_UpstreamCollector(statistics))

    def answered(self, request: Request, reply: Reply, seconds: float) -> str:
        """A client got its answer. Returns the endpoint as it is counted: one of a closed list."""
        endpoint = request.endpoint
        self._requests.labels(endpoint, str(reply.status), reply.cache.value).inc()
        self._seconds.labels(endpoint).observe(seconds)
        return endpoint

    def exposition(self) -> bytes:
        """The page."""
        return generate_latest(self._registry)


class _UpstreamCollector:
    """Reads the upstream's statistics at the moment they are asked for."""

    def __init__(self, statistics: Callable[[], Json]) -> None:
        self._statistics = statistics

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        figures = self._statistics()
        live: Json = figures.get("live", figures)
        if "upstream" not in live:
            return
        upstream: Json = live["upstream"]
        yield _counted(
            "assay_gateway_upstream_requests",
            "Requests sent upstream, by outcome: a status, timeout, unreachable or"
            " malformed_answer.",
            ("endpoint", "outcome"),
            {
                (endpoint, outcome): n
                for endpoint, counts in upstream["outcomes"].items()
                for outcome, n in counts.items()
            },
        )
        yield _counted(
            "assay_gateway_given_up",
            "Questions answered with: could not look.",
            ("reason",),
            {(reason,): n for reason, n in upstream["given_up"].items()},
        )
        yield _counted(
            "assay_gateway_look_ups",
            "Paper identifiers: asked for, kept from before, sent, coalesced with others in"
            " flight.",
            ("outcome",),
            {(name,): n for name, n in live["look_ups"].items()},
        )
        yield CounterMetricFamily(
            "assay_gateway_wait_seconds",
            "Waiting for turns at the limiter.",
            value=upstream["wait_seconds"],
        )
        yield CounterMetricFamily(
            "assay_gateway_upstream_seconds",
            "Waiting for upstream answers.",
            value=upstream["latency_seconds"],
        )
        for name, text, value in _gauges(upstream):
            yield GaugeMetricFamily(f"assay_gateway_{name}", text, value=value)


def _counted(
    name: str, text: str, labels: tuple[str, ...], counts: dict[tuple[str, ...], int]
) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for values, count in counts.items():
        family.add_metric(values, count)
    return family


def _gauges(upstream: Json) -> Iterator[tuple[str, str, float]]:
    yield "allowed_per_second", "Requests a second the key allows.", upstream["allowed_per_second"]
    if upstream["allowance_used_share"] is not None:
        yield (
            "allowance_used_share",
            "Of the allowance, while there was work.",
            upstream["allowance_used_share"],
        )
    yield "waiting", "Requests waiting for their turn.", upstream["waiting"]
    yield (
        "slowed_down_times",
        "How many times slower than allowed, because the upstream pushes back.",
        upstream["slowed_down_times"],
    )
    yield (
        "circuit_open",
        "1 while the upstream counts as down.",
        float(upstream["circuit"] == "open"),
    )
