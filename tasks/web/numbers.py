"""Whole numbers in headers and answers of others."""

_MOST_DIGITS = 15


def whole_number(text: str | None) -> int | None:
    """A number of at most 15 ASCII digits; None for everything else, a longer one and `²` included."""
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None
