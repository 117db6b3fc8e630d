"""`offset` and `limit` of the API."""

from dataclasses import dataclass

from schemas.errors import RequestRejectedError
from tasks.literature.gateway.messages import Request

_MOST_DIGITS = 9


@dataclass(frozen=True, slots=True)
class Window:
    """Which rows of an answer are asked for."""

    offset: int
    limit: int

    @property
    def end(self) -> int:
        return self.offset + self.limit


def window_of(request: Request, *, default: int, largest: int) -> Window:
    """The window asked for. Raises RequestRejectedError for a number the API does not take."""
    numbers = []
    for name, fallback in (("offset", 0), ("limit", default)):
        text = request.parameter(name) or str(fallback)
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS) or (
            name == "limit" and not 1 <= int(text) <= largest
        ):
            raise RequestRejectedError(f"Unacceptable query params: [{name}={text}]")
        numbers.append(int(text))
    return Window(*numbers)
