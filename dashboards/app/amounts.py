"""Numbers as a reader takes them in at a glance."""

from decimal import Decimal

_UNITS = ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k"))


def count(value: float | Decimal) -> str:
    """`576M`, `9,600k`, `9,876`."""
    for size, letter in _UNITS:
        if value >= 10 * size:
            return f"{value / size:,.0f}{letter}"
    return f"{value:,.0f}"


def dollars(value: float | None) -> str:
    """`$0.0180`, `$647`; None: unknown, which is not nothing."""
    if value is None:
        return "unknown"
    return f"${value:,.0f}" if value >= 100 else f"${value:,.2f}" if value >= 1 else f"${value:.4f}"
