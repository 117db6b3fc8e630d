"""Number formats for readers. Missing values are named, never printed as zero."""

from collections.abc import Callable
from datetime import date, datetime

MINUS, NOTHING = "\u2212", "–"


def count(number: int | None) -> str:
    """Return `12,345`, or `unknown`."""
    return "unknown" if number is None else f"{number:,}"


def plural(number: int, singular: str, plural: str | None = None) -> str:
    """Return `1 paper`, `1,200 papers`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def score(value: float | None) -> str:
    """Return a judgement with one decimal, or `unscored`."""
    return "unscored" if value is None else f"{value:.1f}"


def mean(value: float | None) -> str:
    """Return a mean of judgements with two decimals, or `unscored`.

    Two decimals, so that ranks which differ seldom show equal scores.
    """
    return "unscored" if value is None else f"{value:.2f}"


def with_sign(value: float | None) -> str:
    """Return a mean comparison score with sign and two decimals, or `unscored`."""
    if value is None:
        return "unscored"
    rounded_value = round(value, 2)
    return (
        "0.00"
        if rounded_value == 0
        else f"{'+' if rounded_value > 0 else MINUS}{abs(rounded_value):.2f}"
    )


def decimals(value: float | None) -> str:
    """Return two decimals with a true minus sign, or `–`."""
    return NOTHING if value is None else f"{round(value, 2) + 0:.2f}".replace("-", MINUS)


def between(
    lower: float | None, upper: float | None, write: Callable[[float | None], str] = decimals
) -> str:
    """Return `−1.43 to 1.61`, or `–` if an end is unknown; `write` formats an end."""
    return NOTHING if lower is None or upper is None else f"{write(lower)} to {write(upper)}"


def rate(value: float | None) -> str:
    """Return a mean count with one decimal, or `–`."""
    return NOTHING if value is None else f"{value:,.1f}"


def megabytes(size_bytes: float) -> str:
    """Return `12 MB`."""
    return f"{size_bytes / 1e6:,.0f} MB"


def rank_change(places: int | None) -> str:
    """Return the ranks gained or lost with their sign, or `–`."""
    return NOTHING if places is None else f"{places:+d}".replace("-", MINUS)


def difference(value: float | None) -> str:
    """Return `measure` with a sign, or `undefined`."""
    text = measure(value)
    return text.replace("-", MINUS) if value is None or value < 0 else f"+{text}"


def measure(value: float | None) -> str:
    """Return four significant digits, thousands as whole numbers, or `undefined`."""
    if value is None:
        return "undefined"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def thinking(tokens: int | None, unknown_calls: int) -> str:
    """Return the thinking tokens, and how many calls do not report them."""
    if tokens is None:
        return "not told" if unknown_calls else count(0)
    untold = (
        f", and {plural(unknown_calls, 'call')} that {'does' if unknown_calls == 1 else 'do'} not"
        " tell"
    )
    return f"{count(tokens)}{untold if unknown_calls else ''}"


def usd(cost_usd: float | None, unknown_price_calls: int = 0) -> str:
    """Return dollars, and how many paid calls are missing because their price is unknown."""
    if cost_usd is None:
        return "price unknown"
    digits = 2 if cost_usd == 0 or cost_usd >= 1 else 4
    smallest = cost_usd > 0 and round(cost_usd, digits) == 0
    amount = "under 0.0001 USD" if smallest else f"{cost_usd:,.{digits}f} USD"
    return (
        f"{amount}, and {plural(unknown_price_calls, 'call')} of unknown price"
        if unknown_price_calls
        else amount
    )


def duration(seconds: float | None) -> str:
    """Return `0.42 s`, `12 s`, `3 min 20 s`, `2 h 5 min`.

    `unknown` for negative durations, which a clock that was set back causes.
    """
    if seconds is None or seconds < 0:
        return "unknown"
    if seconds < 9.95:
        return f"{seconds:.2f} s" if seconds < 0.995 else f"{seconds:.1f} s"
    whole_seconds = round(seconds)
    if whole_seconds < 60:
        return f"{whole_seconds} s"
    minutes, rest = divmod(whole_seconds, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(whole_seconds / 60), 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def share(part: int, whole: int) -> str:
    """Return `12 %`, or `none` if `whole` is 0."""
    return percent(part / whole) if whole else "none"


def percent(share_0_to_1: float | None) -> str:
    """Return `12 %`, or `undefined`; only 0 and 1 print as 0 % and 100 %."""
    if share_0_to_1 is None:
        return "undefined"
    value = 100 * share_0_to_1
    if 0 < value < 1:
        return "under 1 %"
    return "over 99 %" if 99 < value < 100 else f"{value:.0f} %"


def day(value: date | None) -> str:
    return "unknown" if value is None else value.strftime("%Y-%m-%d")


def moment(value: datetime) -> str:
    """Return `2026-03-01 02:00 UTC`."""
    return value.strftime("%Y-%m-%d %H:%M UTC")
