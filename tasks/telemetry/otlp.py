"""The one file that knows OpenTelemetry's SDK. Imported only where an endpoint is set.

Its providers are its own, never the process's global ones: other libraries that trace themselves, and may put texts into
attributes, do not report through them. Source: https://opentelemetry.io/docs/specs/otlp/#otlphttp
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
from tasks.telemetry.measures import Measures
from tasks.telemetry.values import Kind, Value
from warehouse.scrubbing import concealed

_KINDS: Mapping[Kind, SpanKind] = {
    "internal": SpanKind.INTERNAL,
    "client": SpanKind.CLIENT,
    "server": SpanKind.SERVER,
}
_PROPAGATOR = TraceContextTextMapPropagator()
_SCOPE = "assay"


class RecordedSpan:
    """Implements `Span` by a span of the SDK."""

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, **attributes: Value) -> None:
        self._span.set_attributes(_attributes(attributes))

    def fail(self, reason: str) -> None:
        self._span.set_status(Status(StatusCode.ERROR, reason))


class Reporter:
    """Sends to `<endpoint>/v1/traces` and `<endpoint>/v1/metrics`. `OTEL_EXPORTER_OTLP_HEADERS` may hold what the collector asks for."""

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
        spans = OTLPSpanExporter(endpoint=f"{root}/v1/traces", timeout=settings.timeout_seconds)
        figures = OTLPMetricExporter(
            endpoint=f"{root}/v1/metrics", timeout=settings.timeout_seconds
        )
        reader = PeriodicExportingMetricReader(
            figures,
            export_interval_millis=settings.interval_seconds * 1000,
            export_timeout_millis=settings.timeout_seconds * 1000,
        )
        self._tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._tracers.add_span_processor(BatchSpanProcessor(spans))
        self._meters = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
        self._milliseconds = settings.timeout_seconds * 1000
        self._tracer = self._tracers.get_tracer(_SCOPE)
        self.measures = Measures(self._meters.get_meter(_SCOPE))

    @contextmanager
    def span(
        self, name: str, kind: Kind, parent: str | None, attributes: Mapping[str, Value]
    ) -> Iterator[RecordedSpan]:
        """A span around what happens inside; of an error only the type is told, for its message may quote anything."""
        context = (
            _PROPAGATOR.extract({"traceparent": parent}, context=Context()) if parent else None
        )
        with self._tracer.start_as_current_span(
            name,
            context=context,
            kind=_KINDS[kind],
            attributes=_attributes(attributes),
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield RecordedSpan(span)
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def traceparent(self) -> str | None:
        """The current span as W3C's `traceparent`."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier.get("traceparent")

    def close(self) -> None:
        """Send what is left, for no longer than the settings allow."""
        self._tracers.force_flush(int(self._milliseconds))
        self._tracers.shutdown()
        self._meters.shutdown(timeout_millis=self._milliseconds)


def _attributes(given: Mapping[str, Value]) -> dict[str, str | int | float | bool]:
    """What is unknown is left out: absent and empty differ. A name that others gave, such as a model's, may repeat a key."""
    return {
        f"{_SCOPE}.{name}": concealed(value) for name, value in given.items() if value is not None
    }
