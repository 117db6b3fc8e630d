"""Traces and metrics over OTLP; OpenTelemetry is imported only with `telemetry.otlp_endpoint`."""

from collections.abc import Mapping
from typing import Literal

Value = str | int | float | bool | None
"""Value of an attribute: a name, count or outcome, never a key or the text of an idea or call."""
Labels = Mapping[str, str | bool]
Kind = Literal["internal", "client", "server"]


class Span:
    """A span that reports nothing; `otlp.RecordedSpan` reports."""

    def note(self, **attributes: Value) -> None:
        """Add attributes."""

    def fail(self, reason: str) -> None:
        """Mark the span as failed; `reason` is one of a closed list."""
