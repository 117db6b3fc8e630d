"""Spans and metrics by OpenTelemetry's SDK.

This module is imported only if an endpoint is set. The providers are separate from the process's
global ones, so that other libraries, whose attributes may contain texts, do not report through
them. Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from schemas.settings import TelemetrySettings
from tasks.telemetry import Kind, Labels, Span, Value
from warehouse.scrubbing import mask_secrets

INTERVAL_SECONDS = 30.0
"""Time between two reports of the metrics; the last report is sent at the end."""
TIMEOUT_SECONDS = 3.0
"""Maximum delay for each request to a collector that does not answer."""

# Labels hold names and outcomes only. Counters add up over processes, each from its start.
_COUNTERS = {  # name: unit and meaning
    "model.calls": ("call", "Attempts at model calls, and answers from the cache."),
    "model.tokens": ("token", "By kind: prompt, completion; cached ones are prompt tokens too."),
    "model.cost": ("USD", "Of calls whose price is known."),
    "model.unpriced_calls": ("call", "Calls missing from the cost: their price is unknown."),
    "source.requests": ("request", "Look-ups at literature and full-text sources."),
    "source.upstream_requests": ("request", "Requests that left for a source."),
    "ideas": ("idea", "Ideas landed, by outcome: complete, or why they ended early."),
    "gateway.requests": ("request", "Requests of the gateway's clients."),
    "gateway.upstream_requests": ("request", "Requests the gateway sent, by outcome."),
}
_TIMES = {  # name: meaning
    "model.latency": "From sending to the answer, of calls that were sent.",
    "model.queue": "Waiting for Assay's own limits.",
    "source.latency": "Until the answer, of look-ups no cache answered.",
    "source.wait": "Waiting for a source's allowance.",
    "idea.duration": "From beginning to landing.",
    "gateway.latency": "Until the gateway answered.",
    "gateway.upstream_latency": "Until the upstream answered.",
    "gateway.wait": "Waiting for a turn at the limiter.",
}
_SECONDS = (0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
_KINDS: Mapping[Kind, SpanKind] = {
    "internal": SpanKind.INTERNAL,
    "client": SpanKind.CLIENT,
    "server": SpanKind.SERVER,
}
_PROPAGATOR = TraceContextTextMapPropagator()
_SCOPE = "assay"


class RecordedSpan(Span):
    """A span of the SDK."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, **attributes: Value) -> None:
        self._span.set_attributes(_attributes(attributes))

    def fail(self, reason: str) -> None:
        self._span.set_status(Status(StatusCode.ERROR, reason))


class Reporter:
    """Reporter to `<endpoint>/v1/traces` and `<endpoint>/v1/metrics`.

    `OTEL_EXPORTER_OTLP_HEADERS` may hold headers that the collector requires.
    """

    def __init__(self, settings: TelemetrySettings, service: str) -> None:
        root = str(settings.otlp_endpoint).rstrip("/")
        resource = Resource.create(
            {
                "service.name": service,
                "service.namespace": _SCOPE,
                "service.version": metadata.version("assay"),
                "service.instance.id": f"{socket.gethostname()}-{os.getpid()}",
            }
        )
        spans = OTLPSpanExporter(endpoint=f"{root}/v1/traces", timeout=TIMEOUT_SECONDS)
        figures = OTLPMetricExporter(endpoint=f"{root}/v1/metrics", timeout=TIMEOUT_SECONDS)
        reader = PeriodicExportingMetricReader(
            figures,
            export_interval_millis=INTERVAL_SECONDS * 1000,
            export_timeout_millis=TIMEOUT_SECONDS * 1000,
        )
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracers.add_span_processor(BatchSpanProcessor(spans))
        self._meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._milliseconds = TIMEOUT_SECONDS * 1000
        self._tracer = self._tracers.get_tracer(_SCOPE)
        meter = self._meters.get_meter(_SCOPE)
        self._counters = {
            name: meter.create_counter(f"{_SCOPE}.{name}", f"{{{unit}}}", meaning)
            for name, (unit, meaning) in _COUNTERS.items()
        }
        self._times = {
            name: meter.create_histogram(
                f"{_SCOPE}.{name}", "s", meaning, explicit_bucket_boundaries_advisory=_SECONDS
            )
            for name, meaning in _TIMES.items()
        }

    def add(self, name: str, amount: float, labels: Labels) -> None:
        """Raise a counter."""
        self._counters[name].add(amount, labels)

    def time(self, name: str, seconds: float, labels: Labels) -> None:
        """Record a duration."""
        self._times[name].record(seconds, labels)

    @contextmanager
    def span(
        self, name: str, kind: Kind, parent: str | None, attributes: Mapping[str, Value]
    ) -> Iterator[RecordedSpan]:
        """Record a span around the block.

        Only the type of an error is reported, because its message may quote any text.
        """
        context = (
            _PROPAGATOR.extract({"traceparent": parent}, context=Context()) if parent else None
        )
        span_context = self._tracer.start_as_current_span(
            name,
            context=context,
            kind=_KINDS[kind],
            attributes=_attributes(attributes),
            record_exception=False,
            set_status_on_exception=False,
        )
        with span_context as span:
            try:
                yield RecordedSpan(span)
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def traceparent(self) -> str | None:
        """Return the current span as a W3C `traceparent`."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier.get("traceparent")

    def close(self) -> None:
        """Send the remaining reports, within `TIMEOUT_SECONDS`."""
        self._tracers.force_flush(int(self._milliseconds))
        self._tracers.shutdown()
        self._meters.shutdown(timeout_millis=self._milliseconds)


def _attributes(attributes: Mapping[str, Value]) -> dict[str, str | int | float | bool]:
    """Return a span's attributes except None, with secrets masked.

    Names from outside, such as a model's, may contain a key.
    """
    return {
        f"{_SCOPE}.{name}": mask_secrets(value)
        for name, value in attributes.items()
        if value is not None
    }
