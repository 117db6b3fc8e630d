"""Do numbers agree with each other: shares with their counts, estimates with their intervals,
p-values with their test statistics?
"""

from collections.abc import Callable, Iterator

from schemas.text.patterns import IGNORECASE, Pattern, bounded, linear
from tasks.manuscripts.steps.reading import DetectedProblem, Reading, shown, unmarked

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
"""Percentage points that a printed share may differ from its count beyond rounding."""


def check_shares(reading: Reading) -> Iterator[DetectedProblem]:
    """`12 of 40 (25 %)`, `of 40 moths, 12 (25 %)` or `25 % (12/40)` where 12 of 40 are 30 %; parts
    and a rest that do not come to 100 %.
    """
    for placed in reading.sentences:
        sentence = unmarked(placed.sentence)
        for form, groups in _SHARE_FORMS:
            for found in form.finditer(sentence):
                count, total, share = (float(found[group].replace(",", "")) for group in groups)
                if 0 < total >= count and abs(100 * count / total - share) > _TOLERANCE:
                    told = (
                        f"{count:g} of {total:g} are {100 * count / total:.1f} %, not {share:g} %."
                    )
                    yield placed.problem(
                        "share", 1, f"A percentage contradicts its own counts: {told}", told
                    )
        shares = [float(number) for number in _SHARES.findall(placed.sentence)]
        apart = len(shares) >= 2 and abs(sum(shares) - 100) > _TOLERANCE * len(shares)
        once = len(set(shares)) == len(shares)  # a repeated share is told of again, or of two sets
        if apart and once and _REMAINING.search(placed.sentence):
            yield placed.problem(
                "share", 2, f"Parts and their rest come to {sum(shares):g} % instead of 100 %."
            )


def check_intervals(reading: Reading) -> Iterator[DetectedProblem]:
    """An estimate outside its own confidence interval, or an interval whose ends are exchanged."""
    for placed in reading.sentences:
        for found in _INTERVAL.finditer(placed.sentence.replace("−", "-")):
            estimate, lower, upper = (float(number) for number in found.groups())
            if lower <= estimate <= upper:
                continue
            what = (
                "has its ends exchanged"
                if lower > upper
                else f"does not contain its estimate {estimate:g}"
            )
            yield placed.problem(
                "interval", 1, f"A 95 % confidence interval from {lower:g} to {upper:g} {what}."
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
    """p-values outside what their statistic, as rounded, allows; one-sided tests pass too."""
    for placed in reading.sentences:
        sentence = placed.sentence.replace("−", "-").replace("$", "")
        for name, pattern in _TESTS:
            for found in pattern.finditer(sentence):
                *degrees, statistic, sign, printed = found.groups()
                possible = _possible(name, [float(number) for number in degrees], statistic)
                if possible is None or _agrees(possible, sign, printed):
                    continue
                middle = sum(possible) / 2
                flips = (middle < _SIGNIFICANT) != _called_significant(sign, float(printed))
                yield DetectedProblem(
                    "p_value",
                    1 if flips else 2,
                    f"The reported p-value p {sign} {printed} does not follow from its test"
                    " statistic"
                    + (
                        ", and the correct one changes whether the result is significant."
                        if flips
                        else "."
                    ),
                    placed.location,
                    f"“{shown(placed.sentence)}” The statistic gives a two-sided p of about"
                    f" {middle:.3g}, not p {sign} {printed}.",
                    placed.sentence,
                )


def _possible(name: str, degrees: list[float], statistic: str) -> tuple[float, float] | None:
    """Least and greatest two-sided p of any statistic that is printed so; None for one that cannot
    be.
    """
    half = 0.5 * 10.0 ** -len(statistic.partition(".")[2])
    size = abs(float(statistic))
    if (name == "r" and size >= 1) or (degrees and min(degrees) <= 0):
        return None
    value = _two_sided(name, degrees)
    return value(min(size + half, 0.999999) if name == "r" else size + half), value(
        max(size - half, 0.0)
    )


def _two_sided(name: str, degrees: list[float]) -> Callable[[float], float]:
    # Here, because it takes long to import, and every command that lists the steps imports them.
    from scipy.special import chdtrc, fdtrc, ndtr, stdtr

    if name == "t":
        return lambda size: float(2 * stdtr(degrees[0], -size))
    if name == "F":
        return lambda size: float(fdtrc(degrees[0], degrees[1], size))
    if name == "chi2":
        return lambda size: float(chdtrc(degrees[0], size))
    if name == "r":
        return lambda size: float(
            2 * stdtr(degrees[0], -size * (degrees[0] / (1 - size * size)) ** 0.5)
        )
    return lambda size: float(2 * ndtr(-size))


def _agrees(possible: tuple[float, float], sign: str, printed: str) -> bool:
    least, greatest = possible
    value, half = float(printed), 0.5 * 10.0 ** -len(printed.partition(".")[2])
    for low, high in ((least, greatest), (least / 2, greatest / 2)):
        if sign == "=" and low - half <= value <= high + half:
            return True
        if (sign == "<" and low < value) or (sign == ">" and high > value):
            return True
    return False


def _called_significant(sign: str, value: float) -> bool:
    return sign != ">" and value <= _SIGNIFICANT
