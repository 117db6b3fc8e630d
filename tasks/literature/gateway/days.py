"""Date parameters of the API as a range of days."""

from calendar import monthrange
from dataclasses import dataclass

from schemas.errors import RequestRejectedError
from schemas.patterns import bounded
from tasks.literature.gateway.messages import Request
from tasks.literature.snapshot.records import UNKNOWN_DAY
from tasks.literature.snapshot.text_index import DayRange

# `offset` and `limit` of the API.

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


_POINT = bounded(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_YEARS = bounded(r"(\d{4})?(-)?(\d{4})?")
_EVER = DayRange()


def days_of(request: Request) -> DayRange:
    """The range that `publicationDateOrYear`, `year` and `insertedBefore` leave.

    A snapshot knows no insertion dates: it counts a paper as inserted when it was published.

    Raises:
        RequestRejectedError: a text that is no date or range.
    """
    first, last = _EVER.first, _EVER.last
    for name, read in (
        ("publicationDateOrYear", _date_range),
        ("year", _year_range),
        ("insertedBefore", _before),
    ):
        text = request.parameter(name)
        if not text:
            continue
        found = read(text)
        if found is None:
            raise RequestRejectedError(f"Unacceptable query params: [{name}={text}]")
        first, last = max(first, found.first), min(last, found.last)
    return DayRange(first, last)


def last_day_of(year: int | None) -> int:
    """31 December of the year as YYYYMMDD; after every range when the year is unknown."""
    return year * 10_000 + 1231 if isinstance(year, int) else UNKNOWN_DAY


def _point(text: str) -> DayRange | None:
    """YYYY, YYYY-MM or YYYY-MM-DD as its first and last day."""
    found = _POINT.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day = (int(part) if part else None for part in found.groups())
    if year is None or (month is not None and not 1 <= month <= 12) or year == 0:
        return None
    last_day = monthrange(year, month)[1] if month else 31
    if day is not None and not 1 <= day <= last_day:
        return None
    base = year * 10_000
    return DayRange(
        base + (month or 1) * 100 + (day or 1), base + (month or 12) * 100 + (day or last_day)
    )


def _date_range(text: str) -> DayRange | None:
    start, separator, end = text.partition(":")
    if not separator:
        return _point(start)
    first = _point(start) if start.strip() else _EVER
    last = _point(end) if end.strip() else _EVER
    return DayRange(first.first, last.last) if first and last else None


def _year_range(text: str) -> DayRange | None:
    found = _YEARS.fullmatch(text.strip())
    if found is None or not (found.group(1) or found.group(3)):
        return None
    start, dash, end = found.groups()
    if start and end and not dash:
        return None
    first = int(start) * 10_000 + 101 if start else _EVER.first
    last = int(end) * 10_000 + 1231 if end else _EVER.last if dash else int(start) * 10_000 + 1231
    return DayRange(first, last)


def _before(text: str) -> DayRange | None:
    """Exclusive: the day before the first day of the point; dates compare as numbers, so one less
    will do.
    """
    found = _point(text)
    return DayRange(_EVER.first, found.first - 1) if found else None
