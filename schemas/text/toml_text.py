"""Bounded parsing of untrusted TOML."""

import tomllib
from typing import Any

# The parser takes quadratic time in the parts of a key; a key is on one line.
_MOST_BYTES, _MOST_DOTS = 100_000, 100


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a small TOML text.

    Raises:
        ValueError: invalid TOML, more than 100,000 bytes, a line with more than 100 dots, or a
            number with too many digits.
        RecursionError: values are nested too deeply.
    """
    if len(text.encode()) > _MOST_BYTES:
        raise tomllib.TOMLDecodeError(f"it has more than {_MOST_BYTES:,} bytes: shorten it")
    for number, line in enumerate(text.split("\n"), start=1):
        if line.count(".") > _MOST_DOTS:
            raise tomllib.TOMLDecodeError(
                f"line {number} has more than {_MOST_DOTS} dots: shorten it or divide it"
            )
    return tomllib.loads(text)
