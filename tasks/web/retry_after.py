"""The one reading of `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_RETRY_AFTER_SECONDS = 3600.0
"""No answer may ask for more: a broken or hostile server must not stop the work for days."""

_LONGEST_HEADER = 100


def retry_after_seconds(given: str | None) -> float | None:
    """Seconds from now that the header asks to wait; None where it is missing or says nothing.

    Always a finite number from 0 to `LONGEST_RETRY_AFTER_SECONDS`. Fractions are taken as well, for some servers send
    them; a date in the past means 0.
    """
    text = (given or "").strip()
    if not text or len(text) > _LONGEST_HEADER:
        return None
    seconds = _number(text)
    if seconds is None:
        seconds = _seconds_until(text)
    return None if seconds is None else min(max(seconds, 0.0), LONGEST_RETRY_AFTER_SECONDS)


def _number(text: str) -> float | None:
    """Digits with at most one point: `nan`, `inf`, `1e308` and signs are no numbers here."""
    plain = text.isascii() and text.replace(".", "", 1).isdigit()
    return float(text) if plain else None


def _seconds_until(text: str) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
