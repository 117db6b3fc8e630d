"""Sections of a paper split into plan and outcomes.

Background and method are kept, execution and results are not (ScholarEval, section 3.1).
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
"""Words of one paper in the prompt."""
FEWEST_METHOD_WORDS = 40
"""A paper with fewer words on its method describes none."""


class Part(StrEnum):
    """Part of a plan that a section belongs to."""

    BACKGROUND = "background"
    METHOD = "method"
    EXPERIMENT = "experiment"


@dataclass(frozen=True, slots=True)
class PlannedSection:
    """A section reduced to its plan."""

    part: Part
    heading: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PaperParts:
    """Plan and outcomes of a paper.

    Attributes:
        planned: in the paper's order.
        outcomes: sentences that report results.
        method_words: words in sections on the method, without mixed sections.
    """

    planned: tuple[PlannedSection, ...]
    outcomes: tuple[str, ...] = field(repr=False)
    method_words: int

    def text_of(self, *parts: Part) -> str:
        """Return the text of all sections of these parts."""
        return "\n\n".join(each.text for each in self.planned if each.part in parts)


class _Role(StrEnum):
    """Role of a section."""

    BACKGROUND = "background"
    METHOD = "method"
    EXPERIMENT = "experiment"
    MIXED = "mixed"
    OUTCOME = "outcome"
    OTHER = "other"


class _Ancestor(NamedTuple):
    """A section that may contain others."""

    level: int
    chapter: str | None
    role: _Role

    def contains(self, section: HeadedSection) -> bool:
        """Compare depth and chapter number: 3.1 is not in 2, even if 3 has no text."""
        chapter = chapter_of(section.heading)
        is_another = None not in (chapter, self.chapter) and chapter != self.chapter
        return self.level < section.level and not is_another


_PART_OF = {
    _Role.BACKGROUND: Part.BACKGROUND,
    _Role.METHOD: Part.METHOD,
    _Role.EXPERIMENT: Part.EXPERIMENT,
    _Role.MIXED: Part.EXPERIMENT,
}
_RESULTS = bounded(r"\b(?:results?|findings|outcomes|ablations?|case stud(?:y|ies))\b")
_EXPERIMENTAL = bounded(
    r"\b(?:experiment\w{0,4}|evaluation|protocols?|set-?ups?|settings?|data ?sets?|participants"
    r"|subjects|patients|baselines?|metrics|measures|statistic\w{0,3}|data analysis|benchmarks?"
    r"|implementation|training details|hyper-?parameters|apparatus)\b"
)


def parts_of_paper(paper: ParsedDocument) -> PaperParts:
    """Split a paper by the headings of its sections and of the sections around them.

    Sections on results are not shown. In sections that mix experiments and results, only sentences
    on procedures and conditions are shown. Related work, closing sections and the abstract are
    read for outcomes only.
    """
    plan_sections: list[PlannedSection] = []
    outcomes = list(_outcomes(paper.abstract or ""))
    ancestors: list[_Ancestor] = []
    room, method_words, is_closed = MOST_WORDS, 0, False
    for section in paper.sections:
        while ancestors and not ancestors[-1].contains(section):
            ancestors.pop()
        role = _role(
            section.heading, ancestors[-1].role if ancestors else None, is_closed=is_closed
        )
        ancestors.append(_Ancestor(section.level, chapter_of(section.heading), role))
        is_closed = is_closed or (section.level == 0 and is_closing(section.heading))
        text = section.text
        if role not in (_Role.BACKGROUND, _Role.METHOD, _Role.EXPERIMENT):
            outcomes += _outcomes(text)
        if role is _Role.MIXED:
            text = " ".join(each for each in sentences(text) if _tells_plan(each))
        if role not in _PART_OF or room <= 0:
            continue
        text, _ = shorten_words(text, room)
        if text.strip():
            words = len(text.split())
            room -= words
            method_words += words if role in (_Role.METHOD, _Role.EXPERIMENT) else 0
            plan_sections.append(PlannedSection(_PART_OF[role], section.heading, text.strip()))
    return PaperParts(tuple(plan_sections), tuple(dict.fromkeys(outcomes)), method_words)


def _role(heading: str, parent_role: _Role | None, *, is_closed: bool) -> _Role:
    """Return the role of a section from its heading and the role of its parent.

    Args:
        is_closed: True after the end of the paper's body. What follows are authors and funding, or
            methods, which some journals print last.
    """
    kind, name = kind_of(heading), plain(heading)
    is_other = kind in (SectionKind.ABSTRACT, SectionKind.RELATED_WORK, SectionKind.DISCUSSION)
    if parent_role is _Role.OTHER or is_other or name == "contents":
        return _Role.OTHER
    is_top_level_end = parent_role is None and is_closed
    if kind is None and name and (is_top_level_end or is_closing(heading)):
        return _Role.OTHER
    if _RESULTS.search(name):
        return _Role.OUTCOME
    if parent_role in (_Role.OUTCOME, _Role.MIXED):
        is_set_up = kind is SectionKind.METHODS and _EXPERIMENTAL.search(name)
        return _Role.EXPERIMENT if is_set_up else parent_role
    if kind is SectionKind.RESULTS and parent_role is None:
        return _Role.MIXED
    if parent_role is None and kind is None and is_opening(heading):
        return _Role.BACKGROUND
    if parent_role is _Role.EXPERIMENT:
        return parent_role
    if parent_role is _Role.BACKGROUND and kind is not SectionKind.METHODS:
        return parent_role
    return _Role.EXPERIMENT if _EXPERIMENTAL.search(name) else _Role.METHOD


def _tells_plan(sentence: str) -> bool:
    cues = read_sentence(sentence)
    return (cues.procedure or cues.condition) and not claims_outcome(sentence)


def _outcomes(text: str) -> Iterator[str]:
    return (
        each
        for each in sentences(text)
        if claims_outcome(each) or (any(sign.isdigit() for sign in each) and not _tells_plan(each))
    )
