"""Parts of spans, without OpenTelemetry."""

from typing import Literal

Value = str | int | float | bool | None
"""Of an attribute: names, counts and outcomes; never a text of an idea, a prompt, a reply or a key.
"""

Kind = Literal["internal", "client", "server"]


class Span:
    """Something that takes time. Where nothing is reported, nothing comes of what it is told."""

    def note(self, **attributes: Value) -> None:
        """Add attributes known only later."""

    def fail(self, reason: str) -> None:
        """Mark it as failed; `reason` is one of a closed list."""
