"""Do numbers agree with each other: shares with their counts, estimates with their intervals, the abstract with the text?"""

import re
from collections.abc import Iterator

from tasks.manuscripts.baselines.reading import Finding, Reading, shown

_SHARE = re.compile(
    r"\b(\d{1,3}(?:,\d{3})+|\d+)\s*(?:/|(?:out )?of(?: the)?)\s*(\d{1,3}(?:,\d{3})+|\d+)\b[^().;%]{0,40}\(\s*(\d{1,3}(?:\.\d+)?)\s*\\?%"
)
_INTERVAL = re.compile(
    r"(-?\d+\.\d+)\s*[\[(,;]?\s*\(?\s*95\s*\\?%\s*(?:CI|confidence interval)\s*[:=,]?\s*[\[(]?\s*"
    r"(-?\d+\.\d+)\s*(?:to|–|—|-|,|;)\s*(-?\d+\.\d+)",
    re.IGNORECASE,
)
_REMAINING = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*\\?%")
_TELLING = re.compile(r"(?<![\w.])\d+\.\d+(?:\s*\\?%)?|(?<![\w.])\d{1,3}\s*\\?%")
_ABSTRACT = re.compile(
    r"\\begin\{abstract\}(.*?)\\end\{abstract\}|^\s*(?:#+\s*)?abstract\b[\s.:—-]*(.*?)(?=^\s*(?:#+\s*)?(?:1\.?|I\.?)?\s*introduction\b)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
_FEWEST_WORDS_OF_A_BODY = 300
_TOLERANCE = 1.0
"""Percentage points that a printed share may differ from its count beyond rounding."""


def check_shares(reading: Reading) -> Iterator[Finding]:
    """`12 of 40 (25 %)` where 12 of 40 are 30 %; parts and a rest that do not come to 100 %."""
    for placed in reading.sentences:
        for found in _SHARE.finditer(placed.sentence):
            count, total, share = (float(number.replace(",", "")) for number in found.groups())
            if total > 0 and count <= total and abs(100 * count / total - share) > _TOLERANCE:
                told = f"{count:g} of {total:g} are {100 * count / total:.1f} %, not {share:g} %."
                yield Finding(
                    "share",
                    1,
                    f"A percentage contradicts its own counts: {told}",
                    placed.location,
                    f"“{shown(placed.sentence)}” {told}",
                )
        shares = [float(number) for number in _REMAINING.findall(placed.sentence)]
        if re.search(
            r"\b(?:the )?(?:remaining|rest)\b[^.]{0,30}\d\s*\\?%|\d\s*\\?%\)?[^.]{0,12}\b(?:remaining|rest)\b", placed.sentence
        ) and (len(shares) >= 2 and abs(sum(shares) - 100) > _TOLERANCE * len(shares)):
            yield Finding(
                "share",
                2,
                f"Parts and their rest come to {sum(shares):g} % instead of 100 %.",
                placed.location,
                f"“{shown(placed.sentence)}”",
            )


def check_intervals(reading: Reading) -> Iterator[Finding]:
    """An estimate outside its own confidence interval, or an interval whose ends are exchanged."""
    for placed in reading.sentences:
        for found in _INTERVAL.finditer(placed.sentence.replace("−", "-")):
            estimate, lower, upper = (float(number) for number in found.groups())
            if lower <= estimate <= upper:
                continue
            what = "has its ends exchanged" if lower > upper else f"does not contain its estimate {estimate:g}"
            yield Finding(
                "interval",
                1,
                f"A 95 % confidence interval from {lower:g} to {upper:g} {what}.",
                placed.location,
                f"“{shown(placed.sentence)}”",
            )


def check_abstract(reading: Reading) -> Iterator[Finding]:
    """Figures of the abstract that nothing behind it mentions."""
    found = _ABSTRACT.search(reading.text)
    if found is None:
        return
    abstract, body = found.group(1) or found.group(2) or "", reading.text[found.end() :]
    if len(body.split()) < _FEWEST_WORDS_OF_A_BODY or len(abstract.split()) > len(body.split()) / 2:
        return
    there = {_bare(number) for number in re.findall(r"\d+(?:\.\d+)?", body)}
    missing = [number for number in dict.fromkeys(_TELLING.findall(abstract)) if not _mentioned(_bare(number), there)]
    if missing:
        yield Finding(
            "abstract_number",
            2,
            f"The abstract states {', '.join(missing[:5])}, which the text never shows.",
            "the abstract",
            "A figure that the abstract reports must be found among the results, in this form or with more digits.",
        )


def _bare(number: str) -> str:
    return number.replace("\\", "").replace("%", "").strip()


def _mentioned(number: str, there: set[str]) -> bool:
    """As printed, with more digits, or as a share of 1."""
    if number in there:
        return True
    digits, value = len(number.partition(".")[2]), float(number)
    half = 0.5 * 10.0**-digits + 1e-9
    return any(abs(scale * float(other) - value) <= half for other in there if "." in other for scale in (1, 100))
