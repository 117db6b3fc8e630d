"""Do reported p-values follow from their test statistics? (As statcheck does: Nuijten and Polanin,
2020.)
"""

from collections.abc import Callable, Iterator

from scipy.special import chdtrc, fdtrc, ndtr, stdtr

from schemas.patterns import IGNORECASE, Pattern, bounded
from tasks.manuscripts.steps.reading import DetectedProblem, Reading, shown

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
