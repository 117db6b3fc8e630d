"""A paper taken apart: what its authors planned, and what came of it (ScholarEval §3.1: sections on
background and method are kept, those on execution and results are not).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from schemas.literature.paper import SectionKind
from schemas.text.patterns import bounded
from tasks.curation.leaks import claims_outcome
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.headings import chapter_of, is_closing, is_opening, kind_of, plain
from tasks.text.signs import read_sentence
from tasks.text.words import sentences, shorten_words

MOST_WORDS = 7_000
"""Shown of one paper."""
FEWEST_METHOD_WORDS = 40
"""A paper with fewer on what it does describes no method."""


class Part(StrEnum):
    """Part of a paper that a section is for."""

    BACKGROUND = "background"
    METHOD = "method"
    EXPERIMENT = "experiment"


@dataclass(frozen=True, slots=True)
class PlannedSection:
    """A section as far as it tells a plan."""

    part: Part
    heading: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PaperParts:
    """Plan of a paper, and its outcomes.

    Attributes:
        planned: in the paper's order.
        outcomes: sentences that tell what came of it.
        method_words: words on what it does, apart from sections that tell its results too.
    """

    planned: tuple[PlannedSection, ...]
    outcomes: tuple[str, ...] = field(repr=False)
    method_words: int

    def text_of(self, *parts: Part) -> str:
        """The text of the sections for one of `parts`."""
        return "\n\n".join(each.text for each in self.planned if each.part in parts)


class _Role(StrEnum):
    """Fate of a section."""

    BACKGROUND = "background"
    METHOD = "method"
    EXPERIMENT = "experiment"
    TESTED = "tested"
    OUTCOME = "outcome"
    BESIDE = "beside"


class _Above(NamedTuple):
    """A section that others may stand below."""

    level: int
    chapter: str | None
    role: _Role

    def has_below(self, section: HeadedSection) -> bool:
        """By their depth, and their numbers: 3.1 stands below no 2, though the 3 has no text."""
        chapter = chapter_of(section.heading)
        is_another = None not in (chapter, self.chapter) and chapter != self.chapter
        return self.level < section.level and not is_another


_PART_OF = {
    _Role.BACKGROUND: Part.BACKGROUND,
    _Role.METHOD: Part.METHOD,
    _Role.EXPERIMENT: Part.EXPERIMENT,
    _Role.TESTED: Part.EXPERIMENT,
}
_RESULTS = bounded(r"\b(?:results?|findings|outcomes|ablations?|case stud(?:y|ies))\b")
_EXPERIMENTAL = bounded(
    r"\b(?:experiment\w{0,4}|evaluation|protocols?|set-?ups?|settings?|data ?sets?|participants"
    r"|subjects|patients|baselines?|metrics|measures|statistic\w{0,3}|data analysis|benchmarks?"
    r"|implementation|training details|hyper-?parameters|apparatus)\b"
)


def parts_of_paper(paper: ParsedDocument) -> PaperParts:
    """Sections by what they are for, and by what they stand below.

    Sections on results are not shown; of those on experiments that are not told apart from their
    results, only what tells a procedure or a condition
    is shown. Related work and what closes the paper are no part
    of the plan; of them, and of the abstract, only outcomes are read.
    """
    planned: list[PlannedSection] = []
    outcomes = list(_outcomes(paper.abstract or ""))
    above: list[_Above] = []
    room, method_words, closed = MOST_WORDS, 0, False
    for section in paper.sections:
        while above and not above[-1].has_below(section):
            above.pop()
        role = _role(section.heading, above[-1].role if above else None, closed=closed)
        above.append(_Above(section.level, chapter_of(section.heading), role))
        closed = closed or (section.level == 0 and is_closing(section.heading))
        text = section.text
        if role not in (_Role.BACKGROUND, _Role.METHOD, _Role.EXPERIMENT):
            outcomes += _outcomes(text)
        if role is _Role.TESTED:
            text = " ".join(each for each in sentences(text) if _tells_plan(each))
        if role not in _PART_OF or room <= 0:
            continue
        text, _ = shorten_words(text, room)
        if text.strip():
            words = len(text.split())
            room -= words
            method_words += words if role in (_Role.METHOD, _Role.EXPERIMENT) else 0
            planned.append(PlannedSection(_PART_OF[role], section.heading, text.strip()))
    return PaperParts(tuple(planned), tuple(dict.fromkeys(outcomes)), method_words)


def _role(heading: str, above: _Role | None, *, closed: bool) -> _Role:
    """Of a section by its heading and that of the section around it.

    Args:
        closed: whether the paper was closed before it: what follows names authors, funds and the
            like, or is the methods, which some journals print last.
    """
    kind, name = kind_of(heading), plain(heading)
    beside = kind in (SectionKind.ABSTRACT, SectionKind.RELATED_WORK, SectionKind.DISCUSSION)
    if above is _Role.BESIDE or beside or name == "contents":
        return _Role.BESIDE
    closes = above is None and closed
    if kind is None and name and (closes or is_closing(heading)):
        return _Role.BESIDE
    if _RESULTS.search(name):
        return _Role.OUTCOME
    if above in (_Role.OUTCOME, _Role.TESTED):
        is_set_up = kind is SectionKind.METHODS and _EXPERIMENTAL.search(name)
        return _Role.EXPERIMENT if is_set_up else above
    if kind is SectionKind.RESULTS and above is None:
        return _Role.TESTED
    if above is None and kind is None and is_opening(heading):
        return _Role.BACKGROUND
    if above is _Role.EXPERIMENT:
        return above
    if above is _Role.BACKGROUND and kind is not SectionKind.METHODS:
        return above
    return _Role.EXPERIMENT if _EXPERIMENTAL.search(name) else _Role.METHOD


def _tells_plan(sentence: str) -> bool:
    read = read_sentence(sentence)
    return (read.procedure or read.condition) and not claims_outcome(sentence)


def _outcomes(text: str) -> Iterator[str]:
    return (
        each
        for each in sentences(text)
        if claims_outcome(each) or (_states_figures(each) and not _tells_plan(each))
    )


def _states_figures(sentence: str) -> bool:
    return any(each.isdigit() for each in sentence)
