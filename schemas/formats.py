"""Bounds and formats of external values: years, days, addresses and costs."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from schemas.base import ColumnInfo
from schemas.errors import ConfigurationError
from schemas.text.patterns import IGNORECASE, bounded

EARLIEST_YEAR, LATEST_YEAR = 1500, 2100
EARLIEST_MOMENT = datetime(1900, 1, 1, tzinfo=UTC)
LATEST_MOMENT = datetime(LATEST_YEAR, 12, 31, 23, 59, 59, tzinfo=UTC)
EARLIEST_DAY = datetime(EARLIEST_YEAR, 1, 1, tzinfo=UTC)
"""Earliest publication date."""
SentName = Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,58}[A-Za-z0-9])?$")]
"""Name of an uploaded item, which is also used as a file name."""
MAXIMUM_CALL_USD = 100_000.0
ADDRESS_EXPRESSION = r"(?i:https?)://[^/?#\s]"
_ADDRESS = bounded(r"https?://[^/?#\s]", IGNORECASE)


def check_different(what: str, names: Sequence[str]) -> None:
    """Raise ConfigurationError if two names differ at most in case, as files cannot."""
    folded_names = [name.casefold() for name in names]
    twice = next((name for name in folded_names if folded_names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"two {what} are called {twice}: rename one of them")


def _plausible_year(year: int | None) -> int | None:
    return year if year is not None and EARLIEST_YEAR <= year <= LATEST_YEAR else None


def _plausible_day(day: date | None) -> date | None:
    return day if day is not None and _plausible_year(day.year) is not None else None


def _http_or_empty(address: str) -> str:
    return address if _ADDRESS.match(address) else ""


def _http_or_none(address: str | None) -> str | None:
    return _http_or_empty(address) or None if address is not None else None


# Invalid values of a source become None: one wrong year must not keep a run out of the lake.
Year = Annotated[
    int | None,
    AfterValidator(_plausible_year),
    ColumnInfo(unit="year", minimum=EARLIEST_YEAR, maximum=LATEST_YEAR),
]
PublicationDay = Annotated[date | None, AfterValidator(_plausible_day)]
WebAddress = Annotated[str, AfterValidator(_http_or_empty), ColumnInfo(pattern=ADDRESS_EXPRESSION)]
OptionalWebAddress = Annotated[
    str | None, AfterValidator(_http_or_none), ColumnInfo(pattern=ADDRESS_EXPRESSION)
]
CallUsd = Annotated[float | None, Field(ge=0, le=MAXIMUM_CALL_USD)]
