"""Letters in identifiers that many services share."""

from string import ascii_lowercase, ascii_uppercase

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)


def ascii_lower(text: str) -> str:
    """`text` with A–Z in lower case. `str.lower` also makes a `k` of the Kelvin sign, and so one name of two."""
    return text.translate(_LOWER)
