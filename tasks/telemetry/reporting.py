"""Reporting of spans and call metrics; without an endpoint nothing is reported.

Spans: run → shard → idea → module → step → model call or literature request → gateway → upstream.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from schemas.calls import ApiCall, LlmCall
from schemas.settings import TelemetrySettings
from tasks.telemetry import Kind, Span, Value

if TYPE_CHECKING:
    from tasks.telemetry.otlp import Reporter


class _ReporterState:
    """The process's reporter and its number of users."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reporter: Reporter | None = None
        self.users = 0
        self.count: Callable[[LlmCall], None] | None = None


_STATE = _ReporterState()


def current() -> "Reporter | None":
    """Return the open reporter, if any."""
    return _STATE.reporter


@contextmanager
def reporting(settings: TelemetrySettings, service: str) -> Iterator[None]:
    """Report spans and metrics as `service` during the block.

    Flush them at the end. Nothing happens without an endpoint, or inside another `reporting`. A
    collector that does not answer causes a delay of seconds and a warning, never a failure.
    """
    if settings.otlp_endpoint is None:
        yield
        return
    # The SDK is imported only if an endpoint is set, because the import is slow.
    from tasks.telemetry.otlp import Reporter

    with _STATE.lock:
        _STATE.reporter = _STATE.reporter or Reporter(settings, service)
        _STATE.users += 1
    try:
        yield
    finally:
        unused_reporter = None
        with _STATE.lock:
            _STATE.users -= 1
            if _STATE.users == 0:
                unused_reporter, _STATE.reporter = _STATE.reporter, None
        if unused_reporter is not None:
            unused_reporter.close()


_NO_SPAN: AbstractContextManager[Span] = nullcontext(Span())


def span(
    name: str, *, kind: Kind = "internal", parent: str | None = None, **attributes: Value
) -> AbstractContextManager[Span]:
    """Return a span for a `with` block, below the current one.

    Without a reporter, the span does nothing.

    Args:
        name: kind of event, equal for all ideas, which differ by their attributes.
        parent: a `traceparent` from another process, instead of the current span.
        attributes: reported as `assay.<name>`; None is left out.
    """
    reporter = current()
    return _NO_SPAN if reporter is None else reporter.span(name, kind, parent, attributes)


def traceparent() -> str | None:
    """Return the current span for another process, if any.

    Format: W3C Trace Context, section 3.2.
    """
    reporter = current()
    return None if reporter is None else reporter.traceparent()


def trace_headers() -> Mapping[str, str]:
    """Return the current span as HTTP headers, for our own gateway only."""
    parent = traceparent()
    return {} if parent is None else {"traceparent": parent}


CallT = TypeVar("CallT")


class _ObservedList(list[CallT]):
    """A list that calls an observer with every appended entry."""

    def __init__(self, tell: Callable[[CallT], object]) -> None:
        super().__init__()
        self._tell = tell

    def append(self, call: CallT, /) -> None:
        super().append(call)
        self._tell(call)


def count_calls() -> None:
    """Count the model calls of this process for Prometheus from now on."""
    from tasks.telemetry.figures import model_call

    _STATE.count = model_call


def model_calls() -> list[LlmCall]:
    """Return an empty list that reports the model calls appended to it."""
    reporter, count = current(), _STATE.count
    observers = [each for each in (count, reporter and partial(_model_call, reporter)) if each]
    return _ObservedList(lambda call: [each(call) for each in observers]) if observers else []


def _model_call(reporter: "Reporter", call: LlmCall) -> None:
    labels = {"step": call.step, "model": call.model_requested}
    status = labels | {"status": call.status.value}
    reporter.add("model.calls", 1, status)
    if call.cache_hit:
        return
    for kind, count in (
        ("prompt", call.prompt_tokens),
        ("completion", call.completion_tokens),
        ("cached", call.cached_tokens),
    ):
        reporter.add("model.tokens", count, labels | {"kind": kind})
    if call.cost_usd is None:
        reporter.add("model.unpriced_calls", 1, labels)
    else:
        reporter.add("model.cost", call.cost_usd, labels)
    reporter.time("model.latency", call.latency_seconds, status)
    reporter.time("model.queue", call.queue_seconds, labels)


def source_calls() -> list[ApiCall]:
    """Return an empty list that reports the source calls appended to it."""
    reporter = current()
    return [] if reporter is None else _ObservedList(partial(_source_call, reporter))


def _source_call(reporter: "Reporter", call: ApiCall) -> None:
    labels = {"source": call.source}  # no endpoint: it is an address if a file is downloaded
    outcome = call.failure_reason or "answered"
    reporter.add("source.requests", 1, {**labels, "outcome": outcome, "cache_hit": call.cache_hit})
    reporter.add("source.upstream_requests", call.upstream_requests, labels)
    if not call.cache_hit:
        reporter.time("source.latency", call.latency_seconds, labels)
        reporter.time("source.wait", call.wait_seconds, labels)


def idea_landed(outcome: str, seconds: float) -> None:
    """Report a landed idea.

    `outcome` is `complete` or the reason it ended early.
    """
    if (reporter := current()) is not None:
        reporter.add("ideas", 1, {"outcome": outcome})
        reporter.time("idea.duration", seconds, {"outcome": outcome})


def gateway_answered(endpoint: str, status: int, cache: str, seconds: float) -> None:
    """Report an answer of this process's gateway."""
    if (reporter := current()) is not None:
        labels = {"endpoint": endpoint, "status": str(status), "cache": cache}
        reporter.add("gateway.requests", 1, labels)
        reporter.time("gateway.latency", seconds, {"endpoint": endpoint})


def upstream_answered(
    endpoint: str, outcome: str, latency_seconds: float, wait_seconds: float
) -> None:
    """Report a finished upstream request of this process's gateway."""
    if (reporter := current()) is not None:
        labels = {"endpoint": endpoint}
        reporter.add("gateway.upstream_requests", 1, labels | {"outcome": outcome})
        reporter.time("gateway.upstream_latency", latency_seconds, labels)
        reporter.time("gateway.wait", wait_seconds, labels)
