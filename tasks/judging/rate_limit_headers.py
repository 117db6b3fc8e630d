"""What a provider's answer says of its rate limits.

Sources: https://platform.openai.com/docs/guides/rate-limits ("Rate limits in headers"; Azure and
OpenRouter use the same names) and https://platform.claude.com/docs/en/api/rate-limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from tasks.web.headers import plain_number, seconds_until


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
        found = [
            tuple(headers.get(f"{before}{part}{after}") for part in ("limit", "remaining", "reset"))
            for before, after in spellings
        ]
        told = [plain_number(limit) for limit, _, _ in found if plain_number(limit)]
        limits[kind] = min((one for one in told if one), default=None)
        waits += [
            seconds_until(reset, now)
            for _, remaining, reset in found
            if remaining is not None and reset is not None and plain_number(remaining) == 0
        ]
    return RateLimitHeaders(limits["requests"], limits["tokens"], max(waits))
