"""Spans: run → shard → idea → module → step → model call or literature request → gateway →
upstream.
"""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

from tasks.telemetry.reporter import current

# What spans are made of, without OpenTelemetry.

Value = str | int | float | bool | None
"""Of an attribute: names, counts and outcomes; never a text of an idea, a prompt, a reply or a key.
"""

Kind = Literal["internal", "client", "server"]


class Span(Protocol):
    """Something that takes time."""

    def note(self, **attributes: Value) -> None:
        """Add attributes known only later."""
        ...

    def fail(self, reason: str) -> None:
        """Mark it as failed; `reason` is one of a closed list."""
        ...


class NoSpan:
    """Implements `Span` where nothing is reported."""

    def note(self, **attributes: Value) -> None:
        """Nothing."""

    def fail(self, reason: str) -> None:
        """Nothing."""


_NOTHING: AbstractContextManager[Span] = nullcontext(NoSpan())


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
