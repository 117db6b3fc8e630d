"""Dates as sources write them, read as the last day they can mean."""

import calendar
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from schemas.patterns import bounded

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_ISO = bounded(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_MONTH_FIRST = bounded(r"([A-Za-z]{3})[a-z]{0,20}\.? (\d{1,2}),? (\d{4})")
_DAY_FIRST = bounded(
    r"(?:[A-Za-z]{3,9}, )?(\d{1,2}) ([A-Za-z]{3})[a-z]{0,20}\.?,? (\d{4})(?: [\d:]+.*)?"
)
_AGO = bounded(r"(\d{1,4}|an?) (second|minute|hour|day|week|month|year)s? ago")
_UNIT_DAYS = {"second": 0, "minute": 0, "hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}


def last_day(year: int, month: int | None = None, day: int | None = None) -> date | None:
    """The last day of a year or month, or the day itself; None when there is no such day."""
    try:
        if month is None:
            return date(year, 12, 31)
        return date(year, month, day if day is not None else calendar.monthrange(year, month)[1])
    except (ValueError, OverflowError):
        return None


def of_parts(parts: Sequence[Any]) -> date | None:
    """Crossref's `[year, month, day]`, the last ones optional; None when the year is missing."""
    numbers = [part for part in parts if isinstance(part, int)]
    return last_day(*numbers[:3]) if numbers and len(numbers) == len(parts) else None


def iso_day(text: str) -> date | None:
    """`2024`, `2024-03`, `2024-03-05` or a moment, taken in UTC; None for anything else."""
    text = text.strip()
    if match := _ISO.fullmatch(text):
        return last_day(*(int(part) for part in match.groups() if part is not None))
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    try:
        return (moment.astimezone(UTC) if moment.tzinfo else moment).date()
    except OverflowError:
        return None


def spoken_day(text: str, today: date) -> date | None:
    """`Mar 5, 2024`, `5 March 2024`, `Tue, 05 Mar 2024 10:00:00 GMT`, `3 weeks ago`, or an ISO date.

    "3 weeks ago" may be rounded: the last day it can mean is two weeks ago.
    """
    text = text.strip()
    if match := _MONTH_FIRST.fullmatch(text):
        return _named(match[3], match[1], match[2])
    if match := _DAY_FIRST.fullmatch(text):
        return _named(match[3], match[2], match[1])
    if match := _AGO.fullmatch(text.lower()):
        count = int(match[1]) if match[1].isdigit() else 1
        days = max(count - 1, 0) * _UNIT_DAYS[match[2]]
        return today - timedelta(days=days) if days < today.toordinal() else None
    return iso_day(text)


def _named(year: str, month: str, day: str) -> date | None:
    number = _MONTHS.get(month.lower())
    return last_day(int(year), number, int(day)) if number else None
