"""A collector on loopback: takes OTLP over HTTP, decodes it and keeps it."""

import gzip
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.loopback import Loopback, QuietHandler, serving


@dataclass(frozen=True)
class SeenSpan:
    name: str
    span_id: bytes
    parent_id: bytes
    trace_id: bytes
    service: str
    failed_because: str | None
    attributes: dict


@dataclass
class Collector(Loopback):
    spans: list[SeenSpan] = field(default_factory=list)
    figures: dict = field(default_factory=dict)
    bodies: list[bytes] = field(default_factory=list)

    def named(self, name: str) -> list[SeenSpan]:
        return [span for span in self.spans if span.name == name]

    def parent_of(self, span: SeenSpan) -> SeenSpan:
        (parent,) = [other for other in self.spans if other.span_id == span.parent_id]
        return parent

    def total(self, name: str, **labels) -> float:
        """Sum (of a histogram: the count) over the points that carry the labels."""
        points = self.figures.get(name, {}).items()
        return sum(value for key, value in points if labels.items() <= dict(key[1]).items())

    def take(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                service = _attributes(resource.resource.attributes)["service.name"]
                self.spans.extend(
                    _span(span, service) for scope in resource.scope_spans for span in scope.spans
                )
        elif path == "/v1/metrics":
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                instance = _attributes(resource.resource.attributes)["service.instance.id"]
                for metric in (
                    metric for scope in resource.scope_metrics for metric in scope.metrics
                ):
                    self._keep(metric, instance)

    def _keep(self, metric, instance: str) -> None:
        kind = metric.WhichOneof("data")
        for point in getattr(metric, kind).data_points:
            value = point.count if kind == "histogram" else point.as_int or point.as_double
            self.figures.setdefault(metric.name, {})[
                instance, tuple(sorted(_attributes(point.attributes).items()))
            ] = value


def _span(span, service: str) -> SeenSpan:
    failed = span.status.message if span.status.code == 2 else None
    return SeenSpan(
        span.name,
        span.span_id,
        span.parent_span_id,
        span.trace_id,
        service,
        failed,
        _attributes(span.attributes),
    )


def _attributes(pairs) -> dict:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}


def collector() -> AbstractContextManager[Collector]:
    return serving(Collector, _Handler)


class _Handler(QuietHandler):
    def answer(self) -> None:
        body = self.body()
        packed = self.headers.get("content-encoding") == "gzip"
        self.told.take(self.path, gzip.decompress(body) if packed else body)
        self.send_whole(200)
