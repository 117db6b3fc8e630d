"""Texts of replies about manuscripts, as models write them."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

_LONGEST = 8_000


def _text(value: Any) -> Any:
    """Numbers and lists as models write places ([3, 4], 12) become text; null becomes nothing."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Words = Annotated[str, BeforeValidator(_text), Field(max_length=_LONGEST)]
