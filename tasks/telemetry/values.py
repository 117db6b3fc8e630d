"""What spans are made of, without OpenTelemetry."""

from typing import Literal, Protocol

Value = str | int | float | bool | None
"""Of an attribute: names, counts and outcomes; never a text of an idea, a prompt, a reply or a key."""

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
