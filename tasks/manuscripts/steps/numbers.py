"""Do numbers agree with each other: shares with their counts, estimates with their intervals, the
abstract with the text, p-values with their test statistics?
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator

from schemas.patterns import IGNORECASE, Pattern, bounded, linear
from tasks.manuscripts.steps.reading import DetectedProblem, Reading, shown

_SHARE = bounded(
    r"\b(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})\s?(?:/|(?:out )?of(?:"
    r" the)?)\s?(\d{1,3}(?:,\d{3}){1,4}|\d{1,15})\b"
    r"[^().;%]{0,40}\(\s?(\d{1,3}(?:\.\d{1,15})?)\s?\\?%"
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
_FIGURE = bounded(r"\d+(?:\.\d+)?")
_TELLING = bounded(
    r"(?<![\w.])\d{1,15}\.\d{1,15}(?!\d)(?:\s{0,9}\\?%)?|(?<![\w.])\d{1,3}\s{0,9}\\?%"
)
_FEWEST_WORDS_OF_A_BODY = 300
_TOLERANCE = 1.0
"""Percentage points that a printed share may differ from its count beyond rounding."""


def check_shares(reading: Reading) -> Iterator[DetectedProblem]:
    """`12 of 40 (25 %)` where 12 of 40 are 30 %; parts and a rest that do not come to 100 %."""
    for placed in reading.sentences:
        for found in _SHARE.finditer(placed.sentence):
            count, total, share = (float(number.replace(",", "")) for number in found.groups())
            if total > 0 and count <= total and abs(100 * count / total - share) > _TOLERANCE:
                told = f"{count:g} of {total:g} are {100 * count / total:.1f} %, not {share:g} %."
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


def check_abstract(reading: Reading) -> Iterator[DetectedProblem]:
    """Figures of the abstract that nothing behind it mentions."""
    if reading.abstract_span is None or not reading.is_mostly_whole:
        return
    begin, end = reading.abstract_span
    abstract, body = reading.text[begin:end], reading.text[end:]
    if len(body.split()) < _FEWEST_WORDS_OF_A_BODY or len(abstract.split()) > len(body.split()) / 2:
        return
    there = {_bare(number) for number in _FIGURE.findall(body)}
    values = sorted(float(number) for number in there if "." in number)
    missing = [
        number
        for number in dict.fromkeys(_TELLING.findall(abstract))
        if not _mentioned(_bare(number), there, values)
    ]
    if missing:
        stated = (placed.sentence for placed in reading.sentences if missing[0] in placed.sentence)
        yield DetectedProblem(
            "abstract_number",
            2,
            f"The abstract states {', '.join(missing[:5])}, which the text never shows.",
            "the abstract",
            "A figure that the abstract reports must be found among the results, in this form or"
            " with more digits.",
            next(stated, ""),
        )


def _bare(number: str) -> str:
    return number.replace("\\", "").replace("%", "").strip()


def _mentioned(number: str, there: set[str], values: list[float]) -> bool:
    """As printed, with more digits, or as a share of 1."""
    if number in there:
        return True
    digits, value = len(number.partition(".")[2]), float(number)
    half = 0.5 * 10.0**-digits + 1e-9
    for scale in (1, 100):
        nearest = bisect_left(values, (value - half) / scale)
        if nearest < len(values) and scale * values[nearest] <= value + half:
            return True
    return False


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
