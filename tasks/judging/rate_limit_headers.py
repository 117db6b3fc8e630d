"""What a provider's answer says of its rate limits.

Sources: https://platform.openai.com/docs/guides/rate-limits ("Rate limits in headers"; Azure and
OpenRouter use the same names) and https://platform.claude.com/docs/en/api/rate-limits.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

_UNIT_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LONGEST_WAIT_SECONDS = 3600.0
_LEAST_EPOCH_SECONDS = 1e9


@dataclass(frozen=True, slots=True)
class RateLimitHeaders:
    """Limits as an answer gave them; None: not told.

    Attributes:
        wait_seconds: until something is left again; 0 while there is.
    """

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    wait_seconds: float = 0.0


NOTHING_TOLD = RateLimitHeaders()


def rate_limit_headers(headers: Mapping[str, str], now: datetime | None = None) -> RateLimitHeaders:
    """Read the limits from an answer's headers, whose names are in lower case."""
    now = now or datetime.now(UTC)
    kinds = {
        "requests": (
            ("x-ratelimit-", "-requests"),
            ("anthropic-ratelimit-requests-", ""),
        ),
        "tokens": (
            ("x-ratelimit-", "-tokens"),
            ("anthropic-ratelimit-tokens-", ""),
            ("anthropic-ratelimit-input-tokens-", ""),
        ),
    }
    limits: dict[str, float | None] = {}
    waits = [0.0]
    for kind, spellings in kinds.items():
        found = [tuple(headers.get(f"{before}{part}{after}") for part in ("limit", "remaining", "reset")) for before, after in spellings]
        told = [_number(limit) for limit, _, _ in found if _number(limit)]
        limits[kind] = min((one for one in told if one), default=None)
        waits += [
            seconds_until(reset, now)
            for _, remaining, reset in found
            if remaining is not None and reset is not None and _number(remaining) == 0
        ]
    return RateLimitHeaders(limits["requests"], limits["tokens"], max(waits))


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and math.isfinite(value) and value >= 0 else None


def seconds_until(reset: str, now: datetime | None = None) -> float:
    """Seconds until `reset`: `1s`, `6m0s`, `20ms`, a number of seconds, a moment, or an epoch."""
    now = now or datetime.now(UTC)
    seconds = _number(reset)
    if seconds is None:
        seconds = _duration_seconds(reset)
    elif seconds >= _LEAST_EPOCH_SECONDS:
        in_seconds = seconds if seconds < _LEAST_EPOCH_SECONDS * 100 else seconds / 1000
        seconds = in_seconds - now.timestamp()
    if seconds is None:
        try:
            moment = datetime.fromisoformat(reset)
        except ValueError:
            return 0.0
        seconds = (moment - now).total_seconds() if moment.tzinfo else 0.0
    return min(max(seconds, 0.0), _LONGEST_WAIT_SECONDS)


def _duration_seconds(text: str) -> float | None:
    total, number, unit = 0.0, "", ""
    for character in f"{text.strip()}0":
        if unit and not character.isalpha():
            if unit not in _UNIT_SECONDS or _number(number) is None:
                return None
            total += float(number) * _UNIT_SECONDS[unit]
            number, unit = "", ""
        if character.isalpha():
            unit += character
        else:
            number += character
    return total if number == "0" else None
