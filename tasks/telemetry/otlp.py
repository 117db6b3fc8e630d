"""The one file that knows OpenTelemetry's SDK. Imported only where an endpoint is set.

Its providers are its own, never the process's global ones: other libraries that trace themselves,
and may put texts into attributes, do not report through them. Source:
https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import metadata

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Counter, Histogram, Meter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from schemas.calls import ApiCall, LlmCall
from schemas.settings import TelemetrySettings
from tasks.telemetry.spans import Kind, Span, Value
from warehouse.scrubbing import mask_secrets

# The instruments: what is counted and timed, under which names and units. Labels hold names and
# outcomes only.

INTERVAL_SECONDS = 30.0
"""Between two reports of the metrics; the last one is sent at the end."""
TIMEOUT_SECONDS = 3.0
"""What a collector that does not answer may cost, each time."""
_SECONDS = (0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)


class Measures:
    """One set per process. Counters add up over processes; each process counts from its start."""

    def __init__(self, meter: Meter) -> None:
        def counter(name: str, unit: str, meaning: str) -> Counter:
            return meter.create_counter(f"assay.{name}", f"{{{unit}}}", meaning)

        def timed(name: str, meaning: str) -> Histogram:
            return meter.create_histogram(
                f"assay.{name}", "s", meaning, explicit_bucket_boundaries_advisory=_SECONDS
            )

        self._calls = counter(
            "model.calls", "call", "Attempts at model calls, and answers from the cache."
        )
        self._tokens = counter(
            "model.tokens",
            "token",
            "By kind: prompt, completion; cached ones are prompt tokens too.",
        )
        self._cost = counter("model.cost", "USD", "Of calls whose price is known.")
        self._unpriced = counter(
            "model.unpriced_calls", "call", "Calls missing from the cost: their price is unknown."
        )
        self._model_seconds = timed(
            "model.latency", "From sending to the answer, of calls that were sent."
        )
        self._queue_seconds = timed("model.queue", "Waiting for Assay's own limits.")
        self._requests = counter(
            "source.requests", "request", "Look-ups at literature and full-text sources."
        )
        self._upstream = counter(
            "source.upstream_requests", "request", "Requests that left for a source."
        )
        self._source_seconds = timed(
            "source.latency", "Until the answer, of look-ups no cache answered."
        )
        self._wait_seconds = timed("source.wait", "Waiting for a source's allowance.")
        self._ideas = counter(
            "ideas", "idea", "Ideas landed, by outcome: complete, or why they ended early."
        )
        self._idea_seconds = timed("idea.duration", "From beginning to landing.")
        self._gateway = counter("gateway.requests", "request", "Requests of the gateway's clients.")
        self._gateway_seconds = timed("gateway.latency", "Until the gateway answered.")
        self._sent = counter(
            "gateway.upstream_requests", "request", "Requests the gateway sent, by outcome."
        )
        self._sent_seconds = timed("gateway.upstream_latency", "Until the upstream answered.")
        self._turn_seconds = timed("gateway.wait", "Waiting for a turn at the limiter.")

    def model_call(self, call: LlmCall) -> None:
        """One attempt at a model call ended."""
        labels = {"step": call.step, "model": call.model_requested}
        self._calls.add(1, {**labels, "status": call.status.value})
        if call.cache_hit:
            return
        for kind, count in (
            ("prompt", call.prompt_tokens),
            ("completion", call.completion_tokens),
            ("cached", call.cached_tokens),
        ):
            self._tokens.add(count, {**labels, "kind": kind})
        if call.cost_usd is None:
            self._unpriced.add(1, labels)
        else:
            self._cost.add(call.cost_usd, labels)
        self._model_seconds.record(call.latency_seconds, {**labels, "status": call.status.value})
        self._queue_seconds.record(call.queue_seconds, labels)

    def source_call(self, call: ApiCall) -> None:
        """One request to a source ended.

        Its endpoint is no label: of a download it is an address.
        """
        labels = {"source": call.source}
        self._requests.add(
            1, {**labels, "outcome": call.failure_reason or "answered", "cache_hit": call.cache_hit}
        )
        self._upstream.add(call.upstream_requests, labels)
        if not call.cache_hit:
            self._source_seconds.record(call.latency_seconds, labels)
            self._wait_seconds.record(call.wait_seconds, labels)

    def idea(self, outcome: str, seconds: float) -> None:
        """An idea landed."""
        self._ideas.add(1, {"outcome": outcome})
        self._idea_seconds.record(seconds, {"outcome": outcome})

    def gateway_answered(self, endpoint: str, status: int, cache: str, seconds: float) -> None:
        """A client of the gateway got its answer."""
        self._gateway.add(1, {"endpoint": endpoint, "status": str(status), "cache": cache})
        self._gateway_seconds.record(seconds, {"endpoint": endpoint})

    def upstream_answered(
        self, endpoint: str, outcome: str, latency_seconds: float, wait_seconds: float
    ) -> None:
        """A request of the gateway came to its end."""
        self._sent.add(1, {"endpoint": endpoint, "outcome": outcome})
        self._sent_seconds.record(latency_seconds, {"endpoint": endpoint})
        self._turn_seconds.record(wait_seconds, {"endpoint": endpoint})


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
    """Sends to `<endpoint>/v1/traces` and `<endpoint>/v1/metrics`.

    `OTEL_EXPORTER_OTLP_HEADERS` may hold what the collector asks for.
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
        self.measures = Measures(self._meters.get_meter(_SCOPE))

    @contextmanager
    def span(
        self, name: str, kind: Kind, parent: str | None, attributes: Mapping[str, Value]
    ) -> Iterator[RecordedSpan]:
        """A span around what happens inside; of an error only the type is told, for its message may
        quote anything.
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
        with span_context as span, ExitStack() as ending:
            ending.push(partial(_record_error, span))
            yield RecordedSpan(span)

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


def _record_error(span: trace.Span, kind: type[BaseException] | None, *_: object) -> None:
    if kind is not None:
        span.set_status(Status(StatusCode.ERROR, kind.__name__))


def _attributes(attributes: Mapping[str, Value]) -> dict[str, str | int | float | bool]:
    """Return attributes of a span without unknown ones: absent and empty differ.

    A name that others gave, such as a model's, may repeat a key.
    """
    return {
        f"{_SCOPE}.{name}": mask_secrets(value)
        for name, value in attributes.items()
        if value is not None
    }
