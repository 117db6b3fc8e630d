"""Is what the text refers to there: labels, citations, sections, equations, theorems, tables, figures?"""

import re
from collections.abc import Iterator

from tasks.manuscripts.baselines.reading import Finding, Reading, shown

_UNRESOLVED = re.compile(
    r"(?:\b(?:section|sec\.|eq\.|equation|figure|fig\.|table|theorem|lemma|proposition|appendix)\s*~?\(?\s*\?\?)|\[\s*\?+\s*(?:,\s*\?+\s*)*\]|\(\?\?\)",
    re.IGNORECASE,
)
_REF = re.compile(r"\\(?:[cC]ref|[vV]ref|autoref|nameref|eqref|pageref|ref)\*?\s*\{([^{}]+)\}")
_LABEL = re.compile(r"\\label\s*\{([^{}]+)\}|label\s*=\s*\{?([\w:.-]+)")
_CITE = re.compile(r"\\[a-zA-Z]*cite[a-zA-Z]*\*?\s*(?:\[[^\[\]]*\]\s*){0,2}\{([^{}]+)\}")
_BIBITEM = re.compile(r"\\bibitem\s*(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\])?\s*\{([^{}]+)\}")
_ELSEWHERE = re.compile(r"^\s*(?:in|of|from)\s+(?:\[|ref|\()|^\s*\[", re.IGNORECASE)
_STATEMENTS = "theorem|lemma|proposition|corollary|definition|claim|assumption|conjecture"
_FEWEST = 2
"""Numbered things of a kind that must be found before a missing one says anything: else they may have been lost in reading."""


def check_unresolved(reading: Reading) -> Iterator[Finding]:
    """`??` and `[?]` where a number should stand."""
    for placed in reading.sentences:
        if found := _UNRESOLVED.search(placed.sentence):
            yield Finding(
                "unresolved",
                3,
                f"A reference leads nowhere: “{found.group(0)}”.",
                placed.location,
                f"“{shown(placed.sentence)}” What the statement rests on cannot be found.",
            )


def check_labels(reading: Reading) -> Iterator[Finding]:
    """References and citations of a LaTeX source whose label or entry is missing."""
    if not reading.is_latex:
        return
    whole = reading.question.text
    labels = {name.strip() for pair in _LABEL.findall(whole) for name in pair if name}
    entries = {name.strip() for name in _BIBITEM.findall(whole)}
    yield from _missing(reading, _REF, labels, "label", "label")
    if entries:
        yield from _missing(reading, _CITE, entries, "citation", "bibliography entry")


def _missing(reading: Reading, pattern: re.Pattern[str], known: set[str], kind: str, what: str) -> Iterator[Finding]:
    for placed in reading.sentences:
        for found in pattern.finditer(placed.sentence):
            missing = [name.strip() for name in found.group(1).split(",") if name.strip() not in known | {"*"}]
            if missing and not any("#" in name for name in missing):
                told = f"there is no {what} “{missing[0]}”"
                yield Finding(kind, 3, f"The text refers to what is not there: {told}.", placed.location, f"“{shown(placed.sentence)}”")


def check_numbers(reading: Reading) -> Iterator[Finding]:
    """Equations, tables, figures and statements that are referred to and do not exist."""
    if reading.is_latex:
        return
    text = reading.text
    equations = {int(number) for number in re.findall(r"\((\d{1,3})\)[ \t]*$", text, re.MULTILINE)}
    yield from _beyond(reading, "equation", r"\b(?:eqs?\.|eqns?\.|equations?)\s*\(\s*(\d{1,3})\s*\)", equations)
    for kind, word in (("table", "table"), ("figure", r"fig(?:ure|\.)")):
        captions = {int(number) for number in re.findall(rf"^\s*(?:\*\*)?{word}\s*(\d{{1,2}})\b", text, re.MULTILINE | re.IGNORECASE)}
        yield from _beyond(reading, kind, rf"\b{word}s?\s*(\d{{1,2}})(?![\d.])", captions)
    stated = {
        (kind.lower(), number)
        for kind, number in re.findall(rf"^\s*(?:\*\*)?({_STATEMENTS})\s+(\d+(?:\.\d+)*)", text, re.MULTILINE | re.IGNORECASE)
    }
    yield from _unstated(reading, stated)


def _beyond(reading: Reading, kind: str, mention: str, known: set[int]) -> Iterator[Finding]:
    """Mentions of a number beyond the last one there; gaps are left alone, a caption may have been misread."""
    if len(known) < _FEWEST or max(known) > 2 * len(known) + 2:
        return
    for placed in reading.sentences:
        for found in re.finditer(mention, placed.sentence, re.IGNORECASE):
            if int(found.group(1)) > max(known) and not _ELSEWHERE.search(placed.sentence[found.end() :]):
                problem = f"The text refers to {kind} {found.group(1)}, but the last {kind} is {max(known)}."
                yield Finding(f"missing_{kind}", 3, problem, placed.location, f"“{shown(placed.sentence)}”")


def _unstated(reading: Reading, stated: set[tuple[str, str]]) -> Iterator[Finding]:
    counts = {kind: sum(1 for known, _ in stated if known == kind) for kind in _STATEMENTS.split("|")}
    for placed in reading.sentences:
        for found in re.finditer(rf"\b({_STATEMENTS})\s+(\d+(?:\.\d+)*)", placed.sentence, re.IGNORECASE):
            kind, number = found.group(1).lower(), found.group(2)
            before, behind = placed.sentence[: found.start()], placed.sentence[found.end() :]
            foreign = _ELSEWHERE.search(behind) or before.rstrip().endswith((",", "[", "(")) or "]" in behind[:25]
            if counts[kind] >= _FEWEST and (kind, number) not in stated and not foreign:
                problem = f"An argument rests on {kind} {number}, which the manuscript does not state."
                yield Finding(f"missing_{kind}", 2, problem, placed.location, f"“{shown(placed.sentence)}”")
