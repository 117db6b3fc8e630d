"""Figures as people read them. What is missing says so: it is never printed as a zero."""

from datetime import date, datetime

MINUS, NOTHING = "\u2212", "–"


def count(number: int | None) -> str:
    """`12,345`."""
    return "unknown" if number is None else f"{number:,}"


def plural(number: int, singular: str, plural: str | None = None) -> str:
    """`1 paper`, `1,200 papers`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def score(value: float | None) -> str:
    """One judgement: one decimal, or `unscored`."""
    return "unscored" if value is None else f"{value:.1f}"


def mean(value: float | None) -> str:
    """A mean of judgements: two decimals, so that ranks which differ seldom show equal scores, or
    `unscored`.
    """
    return "unscored" if value is None else f"{value:.2f}"


def with_sign(value: float | None) -> str:
    """A mean comparison score, two decimals with its sign, or `unscored`."""
    if value is None:
        return "unscored"
    rounded = round(value, 2)
    return "0.00" if rounded == 0 else f"{'+' if rounded > 0 else MINUS}{abs(rounded):.2f}"


def decimals(value: float | None) -> str:
    """A score's part, a strength or a distance: two decimals with a true minus, or `–`."""
    return NOTHING if value is None else f"{round(value, 2) + 0:.2f}".replace("-", MINUS)


def between(lower: float | None, upper: float | None) -> str:
    """`−1.43 to 1.61`, or `–` where an end is unknown."""
    if lower is None or upper is None:
        return NOTHING
    return f"{decimals(lower)} to {decimals(upper)}"


def rank_change(places: int | None) -> str:
    """Ranks gained or lost with their sign, or `–`."""
    return NOTHING if places is None else f"{places:+d}".replace("-", MINUS)


def measure(value: float | None) -> str:
    """A metric of any size: four significant digits, thousands as whole numbers (`43,361`), or
    `undefined`.
    """
    if value is None:
        return "undefined"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def thinking(tokens: int | None, unknown_calls: int) -> str:
    """Tokens received that were thinking: `1,200`; says how many calls do not tell, or that none
    does.
    """
    if tokens is None:
        return "not told" if unknown_calls else count(0)
    untold = (
        f", and {plural(unknown_calls, 'call')} that {'does' if unknown_calls == 1 else 'do'} not"
        " tell"
    )
    return f"{count(tokens)}{untold if unknown_calls else ''}"


def usd(cost_usd: float | None, unknown_price_calls: int = 0) -> str:
    """Dollars; says how many paid calls are missing from the sum because their price is unknown."""
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
    """`0.42 s`, `12 s`, `3 min 20 s`, `2 h 5 min`.

    Unknown where a clock was set back between the two times it comes from.
    """
    if seconds is None or seconds < 0:
        return "unknown"
    if seconds < 9.95:
        return f"{seconds:.2f} s" if seconds < 0.995 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(whole / 60), 60)
    return f"{hours:,} h {minutes} min" if minutes else f"{hours:,} h"


def share(part: int, whole: int) -> str:
    """`12 %`, or `none` of nothing."""
    return percent(part / whole) if whole else "none"


def percent(share_0_to_1: float | None) -> str:
    """`12 %`, or `undefined`; a share that is neither none nor all never rounds to either."""
    if share_0_to_1 is None:
        return "undefined"
    value = 100 * share_0_to_1
    if 0 < value < 1:
        return "under 1 %"
    return "over 99 %" if 99 < value < 100 else f"{value:.0f} %"


def day(value: date | None) -> str:
    return "unknown" if value is None else value.strftime("%Y-%m-%d")


def moment(value: datetime) -> str:
    """`2026-03-01 02:00 UTC`."""
    return value.strftime("%Y-%m-%d %H:%M UTC")
