"""Who reports, and what: spans, and calls counted; nothing where no endpoint is set.

Spans: run → shard → idea → module → step → model call or literature request → gateway →
upstream.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from schemas.calls import ApiCall, LlmCall
from schemas.settings import TelemetrySettings
from tasks.telemetry.spans import Kind, Span, Value

if TYPE_CHECKING:
    from tasks.telemetry.otlp import Reporter


class _ReporterState:
    """The process's reporter and how many use it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.reporter: Reporter | None = None
        self.users = 0
        self.count: Callable[[LlmCall], None] | None = None


_SHARED = _ReporterState()


def current() -> "Reporter | None":
    """The reporter, while one is open."""
    return _SHARED.reporter


@contextmanager
def reporting(settings: TelemetrySettings, service: str) -> Iterator[None]:
    """Report spans and metrics meanwhile as `service`; at the end what is left is sent.

    Without an endpoint nothing happens.

    Inside another `reporting` of the process nothing more is opened. A collector that does not
    answer costs seconds at the end and a warning, never an answer.
    """
    if settings.otlp_endpoint is None:
        yield
        return
    _enter(settings, service)
    try:
        yield
    finally:
        _leave()


def _enter(settings: TelemetrySettings, service: str) -> None:
    # The SDK is imported only where an endpoint is set: it would slow every other start.
    from tasks.telemetry.otlp import Reporter

    with _SHARED.lock:
        if _SHARED.reporter is None:
            _SHARED.reporter = Reporter(settings, service)
        _SHARED.users += 1


def _leave() -> None:
    with _SHARED.lock:
        _SHARED.users -= 1
        unused, _SHARED.reporter = (
            (_SHARED.reporter, None) if _SHARED.users == 0 else (None, _SHARED.reporter)
        )
    if unused is not None:
        unused.close()


_NOTHING: AbstractContextManager[Span] = nullcontext(Span())


def span(
    name: str, *, kind: Kind = "internal", parent: str | None = None, **attributes: Value
) -> AbstractContextManager[Span]:
    """A span around the `with` block, below the current one; where nothing is reported, nothing.

    Args:
        name: what happens, the same for every idea: attributes tell them apart.
        parent: a `traceparent` from another process, instead of the current span.
        attributes: reported as `assay.<name>`; None is left out.
    """
    reporter = current()
    return _NOTHING if reporter is None else reporter.span(name, kind, parent, attributes)


def traceparent() -> str | None:
    """The current span for another process to go on from (W3C Trace Context, section 3.2); None
    where nothing is reported.
    """
    reporter = current()
    return None if reporter is None else reporter.traceparent()


def trace_headers() -> Mapping[str, str]:
    """The same as HTTP headers, for our own gateway only: other hosts need not know."""
    parent = traceparent()
    return {} if parent is None else {"traceparent": parent}


CallT = TypeVar("CallT")


class _ObservedList(list[CallT]):
    """A list that tells of every entry appended."""

    def __init__(self, tell: Callable[[CallT], object]) -> None:
        super().__init__()
        self._tell = tell

    def append(self, call: CallT, /) -> None:
        super().append(call)
        self._tell(call)


def count_calls() -> None:
    """From now on this process counts its model calls for Prometheus, too."""
    from tasks.telemetry.figures import model_call

    _SHARED.count = model_call


def model_calls() -> list[LlmCall]:
    """An empty list; a plain one where nothing is reported."""
    reporter, count = current(), _SHARED.count
    observers = [each for each in (count, reporter and reporter.measures.model_call) if each]
    return _ObservedList(lambda call: [each(call) for each in observers]) if observers else []


def source_calls() -> list[ApiCall]:
    """An empty list; a plain one where nothing is reported."""
    reporter = current()
    return [] if reporter is None else _ObservedList(reporter.measures.source_call)


def idea_landed(outcome: str, seconds: float) -> None:
    """An idea has its receipt; `outcome` is `complete` or why it ended early."""
    if (reporter := current()) is not None:
        reporter.measures.idea(outcome, seconds)


def gateway_answered(endpoint: str, status: int, cache: str, seconds: float) -> None:
    """A client of this process's gateway got its answer."""
    if (reporter := current()) is not None:
        reporter.measures.gateway_answered(endpoint, status, cache, seconds)


def upstream_answered(
    endpoint: str, outcome: str, latency_seconds: float, wait_seconds: float
) -> None:
    """A request of this process's gateway came to its end."""
    if (reporter := current()) is not None:
        reporter.measures.upstream_answered(endpoint, outcome, latency_seconds, wait_seconds)
