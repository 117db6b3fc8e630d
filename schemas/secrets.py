"""Validation of secrets: stripped, and valid in headers."""

import unicodedata
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, SecretStr

QUOTATION_MARKS = "\"'`“”„‘’‚«»"
_INVISIBLE = ("Cc", "Cf", "Zl", "Zp")


def fault_of(secret: str) -> str | None:
    """Return the fault of a secret, with the remedy; None if it is valid."""
    if secret.startswith(tuple(QUOTATION_MARKS)):
        return "begins with a quotation mark: remove it"
    if any(unicodedata.category(character) in _INVISIBLE for character in secret):
        return "holds a line end or an invisible character: copy it again, as one line"
    return None


def key_fault(key: str) -> str | None:
    """Return the fault of a key for a header, with the remedy; None if it is valid."""
    foreign = None if key.isascii() else "holds a letter that no key has: copy it again"
    return fault_of(key) or foreign


def _plain(value: Any, look: Callable[[str], str | None]) -> Any:
    text = value.get_secret_value() if isinstance(value, SecretStr) else value
    if not isinstance(text, str):
        return value
    fault = look(text.strip())
    if fault is not None:
        raise ValueError(fault)
    return text.strip()


Secret = Annotated[SecretStr, BeforeValidator(partial(_plain, look=fault_of))]
"""Password, or an address with one."""
Key = Annotated[SecretStr, BeforeValidator(partial(_plain, look=key_fault))]
"""Secret for a header."""
