"""Publication dates with their precision, read from the fields of any source."""

import math
from calendar import month_abbr, month_name, monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any

from schemas.formats import EARLIEST_YEAR, LATEST_YEAR
from schemas.text.patterns import IGNORECASE, bounded


class DatePrecision(StrEnum):
    DAY = "day"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class PartialDate:
    """Date with a precision of a year, a month or a day.

    Attributes:
        exact: it had a time of day, so that it is not a placeholder.
        sure: day and month are unambiguous.
    """

    year: int
    month: int | None = None
    day: int | None = None
    exact: bool = False
    sure: bool = True

    @property
    def last(self) -> date:
        """Last day of the year, month or day."""
        month = self.month or 12
        return date(self.year, month, self.day or monthrange(self.year, month)[1])

    @property
    def precision(self) -> DatePrecision:
        if self.day is not None:
            return DatePrecision.DAY
        return DatePrecision.YEAR if self.month is None else DatePrecision.MONTH


@dataclass(frozen=True, slots=True)
class Publication:
    """Publication date of a paper, as far as its fields are reliable.

    Attributes:
        day: the day, or the last day of the month; None: only the year is known.
        unreadable: whether a field had a value that could not be read.
    """

    year: int | None = None
    day: date | None = None
    precision: DatePrecision | None = None
    unreadable: bool = False

    @property
    def last(self) -> date | None:
        """Latest possible day; None if nothing is known."""
        if self.day is not None or self.year is None:
            return self.day
        return date(self.year, 12, 31)


# Placeholder days of programs, in addition to the first of January of any year.
_EPOCHS = frozenset({1600, 1601, 1700, 1753, 1800, 1900, 1904, 1970, 1980})
_ZERO_DAYS = frozenset({date(1899, 12, 30), date(1899, 12, 31), date(1969, 12, 31)})
_EARLIEST_UNIX, _LATEST_UNIX = 100_000_000, 4_200_000_000
"""Unix times, from 1973 on: smaller numbers are years, months and days."""
_UNIX_DIGITS = range(9, 14)
_LONGEST = 100
"""Maximum characters of a date."""

_MONTHS = {name.lower(): number for number, name in enumerate(month_abbr) if name}
_NAME = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_TIME = r"(?:[t ,]{1,2}\d{1,2}:\d{2}.{0,60})?"
_ZONE = r"(?:\s?(?:z|utc|gmt|[-+]\d{2}:\d{2}))?"
_SEPARATOR = r"[-/. ]{1,2}"
_DASHES = bounded("[‐‑‒–—−]")
# Without words of other dates, such as “received” and “accepted”.
_BEFORE = bounded(
    r"^(?:(?:first|published|publication|date|posted|issued|released|available|online|on|epub|print"
    r"|ahead of print|(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6})\b[.,:]{0,2}\s?){1,6}",
    IGNORECASE,
)
_YEAR_FIRST = bounded(
    rf"(\d{{4}})(?:[-/.](\d{{1,2}})(?:[-/.](\d{{1,2}}))?)?({_TIME}){_ZONE}", IGNORECASE
)
_FRACTION = bounded(r"(?<=^\d{4})\.0{1,9}$")
"""Fraction of a year that a table stores as a number."""
_DIGITS = bounded(r"(\d{4})(\d{2})(\d{2})?")
_YEAR_LAST = bounded(rf"(\d{{1,2}})([-/.]) ?(\d{{1,2}})[-/.] ?(\d{{4}}){_TIME}", IGNORECASE)
_MONTH_LAST = bounded(r"(\d{1,2})[-/.](\d{4})")
_UNTIL_MONTH = rf"(?P<from_month>{_NAME}\.?(?:,? \d{{4}})?\s?[-/]\s?)?"
_MONTH_NAME_DATES = (
    bounded(
        rf"(?P<from_year>\d{{4}} {_NAME}\.?\s?[-/]\s?(?=\d))?(?P<year>\d{{4}}),?{_SEPARATOR}"
        rf"{_UNTIL_MONTH}(?P<month>{_NAME})\.?(?:{_SEPARATOR}(?P<day>\d{{1,2}}))?{_TIME}",
        IGNORECASE,
    ),
    bounded(
        rf"{_UNTIL_MONTH}(?P<month>{_NAME})\.?,?"
        rf"(?:{_SEPARATOR}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?)?{_SEPARATOR}(?P<year>\d{{4}}){_TIME}",
        IGNORECASE,
    ),
    bounded(
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?{_SEPARATOR}(?:of )?(?P<month>{_NAME})\.?,?"
        rf"{_SEPARATOR}(?P<year>\d{{4}}){_TIME}",
        IGNORECASE,
    ),
)
_WORDS = bounded(r"\w+")
_A_YEAR = bounded(r"c?(\d{4})[a-z]?", IGNORECASE)
_AROUND_A_YEAR_TEXT = """
spring summer autumn fall winter early mid late q1 q2 q3 q4 quarter first second third fourth half
of in press forthcoming accepted published online print to appear preprint submitted c ca circa
copyright year s
"""
_AROUND_A_YEAR = frozenset(_AROUND_A_YEAR_TEXT.split())


def read_date(value: Any) -> PartialDate | None:
    """Parse the date in a field of a source; None without a date.

    Accepts texts in the usual orders with digits or English month names, numbers (years, Unix
    times), lists of year, month and day, `{"date-parts": [[…]]}` and Python dates. An impossible
    day counts as its month. Of ambiguous readings, as in 03/05/2019, the later counts.
    """
    if isinstance(value, Mapping):
        value = value.get("date-parts")
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, date):
        return _partial(value.year, value.month, value.day)
    if isinstance(value, list | tuple):
        return _of_list(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_number(value)
    return _of_text(" ".join(value.split())) if isinstance(value, str) else None


def publication_of(
    day: Any = None, year: Any = None, *, preprint: PartialDate | None = None
) -> Publication:
    """Return the publication date from a source's day and year.

    Placeholder days, such as the first of January without a time, count as the year. If day and
    year contradict each other, the later counts. The preprint's month counts if it is earlier.
    """
    stated_date, stated_year = read_date(day), read_date(year)
    unreadable = (stated_date is None and has_value(day)) or (
        stated_year is None and has_value(year)
    )
    best = _reliable_date(stated_date, stated_year.year if stated_year else None)
    if preprint is not None and (best is None or preprint.last < best.last):
        best = preprint
    if best is None:
        return Publication(unreadable=unreadable)
    of_year = best.precision is DatePrecision.YEAR
    return Publication(best.year, None if of_year else best.last, best.precision, unreadable)


def _reliable_date(stated_date: PartialDate | None, year: int | None) -> PartialDate | None:
    if stated_date is None:
        return PartialDate(year) if year is not None else None
    if not stated_date.exact and (_is_first_of_january(stated_date) or _is_zero_day(stated_date)):
        if stated_date.year in _EPOCHS or _is_zero_day(stated_date):
            # The year is a placeholder too.
            return PartialDate(year) if year is not None else None
        stated_date = PartialDate(stated_date.year)
    return PartialDate(year) if year is not None and year > stated_date.year else stated_date


def _is_first_of_january(stated_date: PartialDate) -> bool:
    return (stated_date.month, stated_date.day) == (1, 1)


def _is_zero_day(stated_date: PartialDate) -> bool:
    return stated_date.day is not None and stated_date.last in _ZERO_DAYS


def has_value(value: Any) -> bool:
    """Return whether a field has a value."""
    if isinstance(value, list | tuple | Mapping):
        return bool(value)
    return str(value).strip().casefold() not in ("", "none", "nan", "nat", "null")


def _partial(
    year: int,
    month: int | None = None,
    day: int | None = None,
    *,
    exact: bool = False,
    is_sure: bool = True,
) -> PartialDate | None:
    if not EARLIEST_YEAR <= year <= LATEST_YEAR or not (month is None or 1 <= month <= 12):
        return None
    if day is not None and (month is None or not 1 <= day <= monthrange(year, month)[1]):
        day, is_sure = None, False
    return PartialDate(year, month, day, exact and day is not None, is_sure)


def _moment(moment: datetime) -> PartialDate | None:
    try:
        moment = moment.astimezone(UTC) if moment.tzinfo else moment
    except OverflowError:
        return None
    # Tables convert days without a time to midnight.
    exact = (moment.hour, moment.minute, moment.second, moment.microsecond) != (0, 0, 0, 0)
    return _partial(moment.year, moment.month, moment.day, exact=exact)


def _of_list(parts: list[Any] | tuple[Any, ...]) -> PartialDate | None:
    if parts and isinstance(parts[0], list | tuple):
        return _of_list(parts[0])
    numbers = [int(part) if str(part).strip().isdecimal() else None for part in parts[:3]]
    if not numbers or None in numbers:
        return None
    year, month, day = (*(number or 0 for number in numbers), 0, 0)[:3]
    return _partial(year, month or None, day or None)


def _of_number(number: float) -> PartialDate | None:
    if isinstance(number, float) and not math.isfinite(number):
        return None
    for unit in (1, 1_000):
        if _EARLIEST_UNIX * unit <= number <= _LATEST_UNIX * unit:
            return _moment(datetime.fromtimestamp(number / unit, UTC))
    is_whole = abs(number) < _EARLIEST_UNIX and number == int(number)
    return _of_text(str(int(number))) if is_whole else None


def _of_text(text: str) -> PartialDate | None:
    if len(text) > _LONGEST:
        return None
    text = _FRACTION.sub("", _BEFORE.sub("", _DASHES.sub("-", text)).rstrip(" .,;"))
    if match := _YEAR_FIRST.fullmatch(text):
        return _iso(text, *match.groups())
    if match := _DIGITS.fullmatch(text):
        return _partial(*(int(part) for part in match.groups() if part))
    if text.isdecimal():
        return _of_number(int(text)) if len(text) in _UNIX_DIGITS else None
    if match := _YEAR_LAST.fullmatch(text):
        return _day_and_month(int(match[4]), int(match[1]), int(match[3]), match[2])
    if match := _MONTH_LAST.fullmatch(text):
        return _partial(int(match[2]), int(match[1]))
    for pattern in _MONTH_NAME_DATES:
        if match := pattern.fullmatch(text):
            return _from_month_name(**match.groupdict())
    return _year_among_words(text)


def _year_among_words(text: str) -> PartialDate | None:
    """Parse texts such as `Spring 2024`, `2024a` and `2023/2024`: the latest year."""
    years = []
    for word in _WORDS.findall(text):
        if match := _A_YEAR.fullmatch(word):
            years.append(int(match[1]))
        elif word.lower() not in _AROUND_A_YEAR:
            return None
    return _partial(max(years)) if years else None


def _iso(text: str, year: str, month: str | None, day: str | None, time: str) -> PartialDate | None:
    # Databases write zeros for an unknown month or day.
    stated_date = _partial(int(year), int(month or 0) or None, int(day or 0) or None)
    if stated_date is None or stated_date.day is None or not time:
        return stated_date
    try:
        return _moment(datetime.fromisoformat(text))
    except ValueError:
        return stated_date


def _from_month_name(
    year: str,
    month: str,
    day: str | None,
    from_month: str | None = None,
    from_year: str | None = None,
) -> PartialDate | None:
    number = _MONTHS[month[:3].lower()]
    is_english = month_name[number].lower().startswith(month.lower())
    is_sure = is_english and not (from_month or from_year)
    return _partial(int(year), number, int(day) if day else None, is_sure=is_sure)


def _day_and_month(year: int, first: int, second: int, separator: str) -> PartialDate | None:
    """Resolve the order: dots separate day and month, slashes also month and day."""
    orders = [(second, first)] if separator == "." else [(second, first), (first, second)]
    is_sure = separator == "."
    dates = [_partial(year, month, day, is_sure=is_sure) for month, day in orders]
    days = [one for one in dates if one is not None and one.day is not None]
    return max(days, key=lambda one: one.last, default=None)


_ARXIV_NEW = bounded(
    r"(?:^|/|arxiv[:.])(\d{2})(\d{2})\.\d{4,5}(?:v\d{1,3})?(?:\.pdf)?$", IGNORECASE
)
_ARXIV_OLD = bounded(
    r"(?:^|/|arxiv[:.])[a-z-]{2,20}(?:\.[a-z]{2})?/(\d{2})(\d{2})\d{3}(?:v\d{1,3})?(?:\.pdf)?$",
    IGNORECASE,
)
_FIRST_YEAR_OF_ARXIV = 91


def preprint_month(*names: str | None) -> PartialDate | None:
    """Return the month in the first arXiv identifier, address or DOI among `names`."""
    for name in names:
        text = (name or "").strip()
        if match := _ARXIV_NEW.search(text):
            return _partial(2000 + int(match[1]), int(match[2]))
        if match := _ARXIV_OLD.search(text):
            century = 1900 if int(match[1]) >= _FIRST_YEAR_OF_ARXIV else 2000
            return _partial(century + int(match[1]), int(match[2]))
    return None


def in_words(
    day: date | None, precision: DatePrecision | None, year: int | None, unknown_text: str
) -> str:
    """Format a stored date with its precision: `2024-06-03`, `2024-06` or `2024`."""
    if day is None:
        return str(year) if year is not None else unknown_text
    return f"{day:%Y-%m}" if precision is DatePrecision.MONTH else day.isoformat()
