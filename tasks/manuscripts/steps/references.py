"""Is what the text refers to there: labels, citations, sections, equations, theorems, tables,
figures?
"""

from collections.abc import Iterator

from schemas.patterns import IGNORECASE, MULTILINE, Pattern, bounded, linear
from tasks.manuscripts.steps.reading import DetectedProblem, Reading, shown

_UNRESOLVED = bounded(
    r"(?:\b(?:section|sec\.|eq\.|equation|figure|fig\.|table|theorem|lemma|proposition|appendix)\s?~?\(?\s?\?\?)|\[\s?\?{1,9}\s?(?:,\s?\?{1,9}\s?){0,99}\]|\(\?\?\)",
    IGNORECASE,
)
_REF = linear(r"\\(?:[cC]ref|[vV]ref|autoref|nameref|eqref|pageref|ref)\*?\s*\{([^{}]+)\}")
_LABEL = linear(r"\\label\s*\{([^{}]+)\}|label\s*=\s*\{?([\w:.-]+)")
_CITE = linear(r"\\[a-zA-Z]*cite[a-zA-Z]*\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]+)\}")
_BIBITEM = linear(r"\\bibitem\s*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s*\{([^{}]+)\}")
_ELSEWHERE = bounded(r"^\s*+(?:(?:in|of|from)\s++(?:\[|ref|\()|\[)", IGNORECASE)
_STATEMENTS = "theorem|lemma|proposition|corollary|definition|claim|assumption|conjecture"
_STATED = bounded(
    rf"^[^\S\n]*+(?:\*\*)?({_STATEMENTS})\s{{1,9}}(\d+(?:\.\d+)*)", MULTILINE | IGNORECASE
)
_REFERRED_STATEMENT = bounded(rf"\b({_STATEMENTS})\s(\d+(?:\.\d+)*)", IGNORECASE)
_NUMBERED_EQUATION = bounded(r"\((\d{1,3})\)[ \t]{0,99}$", MULTILINE)
_REFERRED_EQUATION = bounded(r"\b(?:eqs?\.|eqns?\.|equations?)\s?\(\s?(\d{1,3})\s?\)", IGNORECASE)


def _caption(word: str) -> Pattern:
    return bounded(rf"^[^\S\n]*+(?:\*\*)?{word}\s{{0,9}}(\d{{1,2}})\b", MULTILINE | IGNORECASE)


def _referred(word: str) -> Pattern:
    return bounded(rf"\b{word}s?\s?(\d{{1,2}})(?![\d.])", IGNORECASE)


_FLOATS = tuple(
    (kind, _caption(word), _referred(word))
    for kind, word in (("table", "table"), ("figure", r"fig(?:ure|\.)"))
)
_NEAR = 40
"""Characters before and behind a mention that are looked at."""
_FEWEST = 2
"""Numbered things of a kind that must be found before a missing one says anything: else they may
have been lost in reading.
"""


def check_unresolved(reading: Reading) -> Iterator[DetectedProblem]:
    """`??` and `[?]` where a number should stand."""
    for placed in reading.sentences:
        if found := _UNRESOLVED.search(placed.sentence):
            yield DetectedProblem(
                "unresolved",
                3,
                f"A reference leads nowhere: “{found.group(0)}”.",
                placed.location,
                f"“{shown(placed.sentence)}” What the statement rests on cannot be found.",
            )


def check_labels(reading: Reading) -> Iterator[DetectedProblem]:
    """References and citations of a LaTeX source whose label or entry is missing."""
    if not reading.is_latex:
        return
    whole = reading.whole
    labels = {name.strip() for pair in _LABEL.findall(whole) for name in pair if name}
    entries = {name.strip() for name in _BIBITEM.findall(whole)}
    yield from _missing(reading, _REF, labels, "label", "label")
    if entries:
        yield from _missing(reading, _CITE, entries, "citation", "bibliography entry")


def _missing(
    reading: Reading, pattern: Pattern, known: set[str], kind: str, what: str
) -> Iterator[DetectedProblem]:
    there = known | {"*"}
    for placed in reading.sentences:
        for found in pattern.finditer(placed.sentence):
            missing = [
                name.strip() for name in found.group(1).split(",") if name.strip() not in there
            ]
            if missing and not any("#" in name for name in missing):
                told = f"there is no {what} “{missing[0]}”"
                yield DetectedProblem(
                    kind,
                    3,
                    f"The text refers to what is not there: {told}.",
                    placed.location,
                    f"“{shown(placed.sentence)}”",
                )


def check_numbers(reading: Reading) -> Iterator[DetectedProblem]:
    """Equations, tables, figures and statements that are referred to and do not exist."""
    if reading.is_latex:
        return
    text = reading.text
    equations = {int(number) for number in _NUMBERED_EQUATION.findall(text)}
    yield from _beyond(reading, "equation", _REFERRED_EQUATION, equations)
    for kind, caption, referred in _FLOATS:
        yield from _beyond(
            reading, kind, referred, {int(number) for number in caption.findall(text)}
        )
    stated = {(kind.lower(), number) for kind, number in _STATED.findall(text)}
    yield from _unstated(reading, stated)


def _beyond(
    reading: Reading, kind: str, mention: Pattern, known: set[int]
) -> Iterator[DetectedProblem]:
    """Mentions of a number beyond the last one there; gaps are left alone, a caption may have been
    misread.
    """
    if len(known) < _FEWEST or max(known) > 2 * len(known) + 2:
        return
    for placed in reading.sentences:
        for found in mention.finditer(placed.sentence):
            if int(found.group(1)) > max(known) and not _ELSEWHERE.match(
                placed.sentence[found.end() : found.end() + _NEAR]
            ):
                problem = (
                    f"The text refers to {kind} {found.group(1)}, but the last {kind} is"
                    f" {max(known)}."
                )
                yield DetectedProblem(
                    f"missing_{kind}", 3, problem, placed.location, f"“{shown(placed.sentence)}”"
                )


def _unstated(reading: Reading, stated: set[tuple[str, str]]) -> Iterator[DetectedProblem]:
    counts = {
        kind: sum(1 for known, _ in stated if known == kind) for kind in _STATEMENTS.split("|")
    }
    for placed in reading.sentences:
        for found in _REFERRED_STATEMENT.finditer(placed.sentence):
            kind, number = found.group(1).lower(), found.group(2)
            before = placed.sentence[max(found.start() - _NEAR, 0) : found.start()]
            behind = placed.sentence[found.end() : found.end() + _NEAR]
            foreign = (
                _ELSEWHERE.match(behind)
                or before.rstrip().endswith((",", "[", "("))
                or "]" in behind[:25]
            )
            if counts[kind] >= _FEWEST and (kind, number) not in stated and not foreign:
                problem = (
                    f"An argument rests on {kind} {number}, which the manuscript does not state."
                )
                yield DetectedProblem(
                    f"missing_{kind}", 2, problem, placed.location, f"“{shown(placed.sentence)}”"
                )
