"""Untrusted text on a terminal: ideas, papers, servers and mistyped options may hold what moves its
cursor or worse.
"""

import logging

_CONTROL = dict.fromkeys(
    (
        *range(0x09),
        *range(0x0B, 0x20),
        *range(0x7F, 0xA0),
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ),
    "\ufffd",
) | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
"""Everything but tab and line feed that a terminal obeys or that turns the reading order, and half
characters.
"""

_ESCAPED = {code: f"\\u{code:04x}" for code in _CONTROL}


def safe(text: str) -> str:
    """`text` with U+FFFD in place of each control character: it can be shown, and does nothing."""
    return text.translate(_CONTROL)


def safe_json(document: str) -> str:
    """A JSON document that says the same without control characters, which JSON leaves as they are
    from U+007F on.
    """
    return document.translate(_ESCAPED)


class SafeFormatter(logging.Formatter):
    """Log lines and tracebacks for the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return safe(super().format(record))
