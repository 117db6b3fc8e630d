"""Checks of numbers: shares with counts, estimates with intervals, p-values with statistics."""

from collections.abc import Callable, Iterator

from schemas.text.patterns import IGNORECASE, Pattern, bounded, linear
from tasks.manuscripts.steps.reading import DetectedProblem, Reading, without_markup

_COUNT = r"(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})"
_PERCENT = r"(\d{1,3}(?:\.\d{1,15})?)\s?%"
_OF = r"\s?(?:/|(?:out )?of(?: the)?)\s?"
_OF_TOTAL = r"\bof(?: the| these| those| all| our)? "
_SHARE_FORMS: tuple[tuple[Pattern, tuple[int, int, int]], ...] = (
    # Each with its groups of count, total and share.
    (bounded(rf"\b{_COUNT}{_OF}{_COUNT}\b[^().;%]{{0,40}}\(\s?{_PERCENT}"), (1, 2, 3)),
    (bounded(rf"\b{_COUNT}{_OF}{_COUNT}\s?[,;:]\s?{_PERCENT}\s?\)"), (1, 2, 3)),
    (
        bounded(
            rf"(?<!% )(?<![.\w]){_PERCENT}\s?\(\s?(?:n\s?=\s?)?{_COUNT}{_OF}{_COUNT}\s?\)",
            IGNORECASE,
        ),
        (2, 3, 1),
    ),
    (
        bounded(
            rf"{_OF_TOTAL}{_COUNT} [^().;%\d,]{{1,60}}, ?[^().;%\d,]{{0,30}}\b{_COUNT}"
            rf"[^().;%\d]{{0,40}}\(\s?{_PERCENT}\s?[),;]",
            IGNORECASE,
        ),
        (2, 1, 3),
    ),
    (
        bounded(
            rf"{_OF_TOTAL}{_COUNT} [^().;%\d,]{{1,60}}, ?[^().;%\d,]{{0,30}}\b{_PERCENT}"
            rf"\s?\(\s?(?:n\s?=\s?)?{_COUNT}\s?\)",
            IGNORECASE,
        ),
        (3, 1, 2),
    ),
)
_INTERVAL = linear(
    r"(-?\d+\.\d+)\s*[\[(,;]?\s*\(?\s*95\s*\\?%\s*(?:CI|confidence interval)\s*[:=,]?\s*[\[(]?\s*"
    r"(-?\d+\.\d+)\s*(?:to|–|—|-|,|;)\s*(-?\d+\.\d+)",
    IGNORECASE,
)
_SHARES = bounded(r"(\d{1,3}(?:\.\d{1,15})?)\s?\\?%")
_REMAINING = bounded(
    r"\b(?:the"
    r" )?(?:remaining|rest)\b[^.]{0,30}\d\s?\\?%|\d\s?\\?%\)?[^.]{0,12}\b(?:remaining|rest)\b"
)
_TOLERANCE = 1.0
"""Percentage points that a share may differ from its count beyond rounding."""


def check_shares(reading: Reading) -> Iterator[DetectedProblem]:
    """Find shares that contradict their counts, and parts and a rest that do not add up to 100 %.

    Forms are `12 of 40 (25 %)`, `of 40 moths, 12 (25 %)` and `25 % (12/40)`.
    """
    for entry in reading.sentences:
        sentence = without_markup(entry.sentence)
        for form, groups in _SHARE_FORMS:
            for match in form.finditer(sentence):
                count, total, share = (float(match[group].replace(",", "")) for group in groups)
                if 0 < total >= count and abs(100 * count / total - share) > _TOLERANCE:
                    correction = (
                        f"{count:g} of {total:g} are {100 * count / total:.1f} %, not {share:g} %."
                    )
                    yield entry.problem(
                        "share",
                        1,
                        f"A percentage contradicts its own counts: {correction}",
                        correction,
                    )
        shares = [float(number) for number in _SHARES.findall(entry.sentence)]
        is_off = len(shares) >= 2 and abs(sum(shares) - 100) > _TOLERANCE * len(shares)
        is_distinct = len(set(shares)) == len(shares)  # a repeated share belongs to another set
        if is_off and is_distinct and _REMAINING.search(entry.sentence):
            yield entry.problem(
                "share", 2, f"Parts and their rest come to {sum(shares):g} % instead of 100 %."
            )


def check_intervals(reading: Reading) -> Iterator[DetectedProblem]:
    """Find estimates outside their confidence interval, and intervals with swapped ends."""
    for entry in reading.sentences:
        for match in _INTERVAL.finditer(entry.sentence.replace("−", "-")):
            estimate, lower, upper = (float(number) for number in match.groups())
            if lower <= estimate <= upper:
                continue
            description = (
                "has its ends swapped"
                if lower > upper
                else f"does not contain its estimate {estimate:g}"
            )
            yield entry.problem(
                "interval",
                1,
                f"A 95 % confidence interval from {lower:g} to {upper:g} {description}.",
            )


_S = r"\s{0,9}+"
_NUMBER = r"(-?\d{0,15}\.?\d{1,15})"
_DEGREES = r"(\d{1,15}\.?\d{0,15})"
_CHI_SQUARE = rf"(?:χ{_S}2|χ²|\bchi2|\bchi-?squared?|\\chi\^?\{{?2\}}?)"
_WHOLE = r"(\d{1,15})"
_IS = (
    rf"{_S}={_S}{_NUMBER}{_S}[,;]?{_S}\(?{_S}p{_S}(?:-?{_S}value)?{_S}([<>=]){_S}(\d{{0,15}}\.\d+)"
)
_TESTS: tuple[tuple[str, Pattern], ...] = (
    ("t", bounded(rf"\bt{_S}\({_S}{_DEGREES}{_S}\){_IS}", IGNORECASE)),
    ("F", bounded(rf"\bF{_S}\({_S}{_DEGREES}{_S},{_S}{_DEGREES}{_S}\){_IS}", IGNORECASE)),
    (
        "chi2",
        bounded(
            rf"{_CHI_SQUARE}{_S}\({_S}{_WHOLE}(?:{_S},{_S}N{_S}={_S}\d{{1,15}})?{_S}\){_IS}",
            IGNORECASE,
        ),
    ),
    ("r", bounded(rf"\br{_S}\({_S}{_WHOLE}{_S}\){_IS}", IGNORECASE)),
    ("z", bounded(rf"\bz{_IS}", IGNORECASE)),
)
_SIGNIFICANT = 0.05


def check_statistics(reading: Reading) -> Iterator[DetectedProblem]:
    """Find p-values that their rounded statistic excludes; one-sided tests are allowed."""
    for entry in reading.sentences:
        sentence = entry.sentence.replace("−", "-").replace("$", "")
        for name, pattern in _TESTS:
            for match in pattern.finditer(sentence):
                *degrees, statistic, sign, printed_value = match.groups()
                possible = _possible(name, [float(number) for number in degrees], statistic)
                if possible is None or _agrees(possible, sign, printed_value):
                    continue
                middle = sum(possible) / 2
                is_significant = sign != ">" and float(printed_value) <= _SIGNIFICANT
                flips = (middle < _SIGNIFICANT) != is_significant
                flip = ", and the correct one changes whether the result is significant"
                yield entry.problem(
                    "p_value",
                    1 if flips else 2,
                    f"The reported p-value p {sign} {printed_value} does not follow from its test"
                    f" statistic{flip if flips else ''}.",
                    f"The statistic gives a two-sided p of about {middle:.3g}, not p {sign}"
                    f" {printed_value}.",
                )


def _possible(name: str, degrees: list[float], statistic: str) -> tuple[float, float] | None:
    """Return the least and greatest two-sided p of the rounded statistic; None if impossible."""
    # Imported late, because scipy is slow to import and every command that lists steps imports this.
    from scipy.special import chdtrc, fdtrc, ndtr, stdtr

    half = 0.5 * 10.0 ** -len(statistic.partition(".")[2])
    size = abs(float(statistic))
    if (name == "r" and size >= 1) or (degrees and min(degrees) <= 0):
        return None
    first = degrees[0] if degrees else 0.0
    two_sided: dict[str, Callable[[float], float]] = {
        "t": lambda size: 2 * stdtr(first, -size),
        "F": lambda size: fdtrc(*degrees, size),
        "chi2": lambda size: chdtrc(first, size),
        "r": lambda size: 2 * stdtr(first, -size * (first / (1 - size * size)) ** 0.5),
        "z": lambda size: 2 * ndtr(-size),
    }
    largest = min(size + half, 0.999999) if name == "r" else size + half
    value = two_sided[name]
    return float(value(largest)), float(value(max(size - half, 0.0)))


def _agrees(possible: tuple[float, float], sign: str, printed_text: str) -> bool:
    minimum, maximum = possible
    value, half = float(printed_text), 0.5 * 10.0 ** -len(printed_text.partition(".")[2])
    for low, high in ((minimum, maximum), (minimum / 2, maximum / 2)):
        if sign == "=" and low - half <= value <= high + half:
            return True
        if (sign == "<" and low < value) or (sign == ">" and high > value):
            return True
    return False
