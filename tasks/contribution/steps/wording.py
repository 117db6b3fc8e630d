"""How baseline comparisons are worded, and how the baseline review reads them again.

Quotations stand in “ ” and phrases in italics, so that a sentence for a reader is also data for the
next step.
"""

from dataclasses import dataclass

from schemas.patterns import IGNORECASE, Match, bounded, linear
from tasks.text.wording import listed

_QUOTATION = linear(r"“([^”]*)”")
_SHARED = bounded(r"\bin common: ([^.;]*)", IGNORECASE)
_MISSING = bounded(r"\bnot mentioned: ([^.;]*)", IGNORECASE)
_PHRASE = linear(r"\*([^*]+)\*")


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a comparison rests on: the paper's nearest sentence, and the idea's phrases it has and
    lacks.
    """

    quotation: str
    shared: tuple[str, ...]
    missing: tuple[str, ...]


def worded(contrast: Contrast, score: int) -> str:
    """One comparison for a reader."""
    shared = (
        f"In common: {listed(contrast.shared)}."
        if contrast.shared
        else "None of the terms the idea uses here stands in the abstract."
    )
    missing = (
        f"Not mentioned: {listed(contrast.missing)}."
        if contrast.missing
        else "Nothing that the idea names here is missing."
    )
    quoted = f"“{contrast.quotation}”"
    if score < 0:
        return f"The paper comes close to this: {quoted} {shared} {missing}"
    if score > 0:
        return (
            f"The paper works on the same subject: {quoted} {shared} {missing} That is what the"
            " idea would add."
        )
    return f"Neither is ahead; the abstract comes nearest with {quoted} {shared} {missing}"


def read(comparison: str) -> Contrast:
    """The contrast behind a comparison made by `worded`; empty parts where the text has none."""
    quotation = _QUOTATION.search(comparison)
    rest = _QUOTATION.sub("", comparison)
    return Contrast(
        quotation.group(1) if quotation else "",
        _phrases(_SHARED.search(rest)),
        _phrases(_MISSING.search(rest)),
    )


def _phrases(match: Match[str] | None) -> tuple[str, ...]:
    return tuple(_PHRASE.findall(match.group(1))) if match else ()
