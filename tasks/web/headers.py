"""Parsing of numbers and wait times in response headers."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from schemas.text.patterns import bounded

LONGEST_WAIT_SECONDS = 3600.0
"""Limit of wait times, so that a broken or hostile server cannot stop the work for days."""

# Whole numbers of so many digits are exact as floats.
_MOST_DIGITS = 15
_LONGEST_HEADER = 100
_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = bounded(r" {0,9}([0-9]{1,15}(?:\.[0-9]{0,15})?|\.[0-9]{1,15}) {0,9}(ms|[smhd])")
# Larger values are epoch times: as a wait they would be 31 years.
_LEAST_EPOCH_SECONDS = 1e9
_LEAST_EPOCH_MILLISECONDS = 1e11


def whole_number(text: str | None) -> int | None:
    """Parse a number of at most 15 ASCII digits.

    Returns None for any other text.
    """
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def plain_number(text: str | None) -> float | None:
    """Parse digits with at most one point.

    Returns None for `nan`, `inf`, `1e308`, signs and other text.
    """
    text = (text or "").strip()
    plain = len(text) <= _LONGEST_HEADER and text.isascii()
    return float(text) if plain and text.replace(".", "", 1).isdigit() else None


def retry_after_seconds(header: str | None) -> float | None:
    """Parse `Retry-After` as seconds from now; None if missing or invalid.

    The result is from 0 to `LONGEST_WAIT_SECONDS`; a past date gives 0. Fractions, which some
    servers send, are accepted. Source: RFC 9110, section 10.2.3.
    """
    text = (header or "").strip()
    if not text or len(text) > _LONGEST_HEADER:
        return None
    seconds = plain_number(text)
    if seconds is None:
        seconds = _seconds_until_date(text)
    return None if seconds is None else _within_limits(seconds)


def seconds_until(reset: str, now: datetime | None = None) -> float:
    """Parse a reset time as seconds from now, else return 0.

    Formats are `1s`, `6m0s`, seconds, ISO time and epoch.
    """
    now = now or datetime.now(UTC)
    seconds = plain_number(reset)
    if seconds is not None:
        if seconds >= _LEAST_EPOCH_SECONDS:
            in_seconds = seconds if seconds < _LEAST_EPOCH_MILLISECONDS else seconds / 1000
            seconds = in_seconds - now.timestamp()
        return _within_limits(seconds)
    parts = list(_PART.finditer(reset))
    if parts and "".join(part[0] for part in parts) == reset.rstrip():
        return _within_limits(sum(float(part[1]) * _UNIT_SECONDS[part[2]] for part in parts))
    try:
        moment = datetime.fromisoformat(reset)
    except ValueError:
        return 0.0
    return _within_limits((moment - now).total_seconds()) if moment.tzinfo else 0.0


def _within_limits(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_WAIT_SECONDS)


def _seconds_until_date(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
