"""A paper taken apart: what its authors planned, and what came of it (ScholarEval §3.1: sections on
background and method are kept, those on execution and results are not).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from schemas.paper import SectionKind
from tasks.curation.leaks import claims_outcome
from tasks.documents.document import HeadedSection, ParsedDocument
from tasks.documents.headings import is_closing, is_opening, kind_of, plain
from tasks.text.words import sentences, shorten_words

MOST_WORDS = 7_000
"""Shown of one paper."""
FEWEST_METHOD_WORDS = 40
"""A paper with fewer on what it does describes no method."""


class Part(StrEnum):
    """What a section of a paper is for."""

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
    """Attributes:
    planned: in the paper's order.
    outcomes: sentences that tell what came of it.
    """

    planned: tuple[PlannedSection, ...]
    outcomes: tuple[str, ...] = field(repr=False)

    @property
    def method_words(self) -> int:
        """Words on what the paper does."""
        told = (each.text for each in self.planned if each.part is Part.METHOD)
        return sum(len(text.split()) for text in told)

    def text_of(self, *parts: Part) -> str:
        """The text of the sections for one of `parts`."""
        return "\n\n".join(each.text for each in self.planned if each.part in parts)


_BESIDE = (SectionKind.ABSTRACT, SectionKind.RELATED_WORK)
_RESULTS = (SectionKind.RESULTS, SectionKind.DISCUSSION)


def parts_of_paper(paper: ParsedDocument) -> PaperParts:
    """Sections by what they are for.

    Of sections on experiments what tells an outcome is left out; of the abstract only outcomes are
    read; related work and what closes the paper are no part of the plan.
    """
    planned: list[PlannedSection] = []
    outcomes = list(_outcomes(paper.abstract or ""))
    room, within_results = MOST_WORDS, False
    for section in paper.sections:
        kind = kind_of(section.heading)
        within_results = _is_within_results(section, kind, within_results)
        if kind in _BESIDE or _closes(section, kind):
            outcomes += _outcomes(section.text)
            continue
        part = _part(section, kind, within_results)
        text = section.text
        if part is Part.EXPERIMENT:
            outcomes += _outcomes(text)
            text = " ".join(each for each in sentences(text) if not claims_outcome(each))
        text, _ = shorten_words(text, room)
        if text.strip() and room > 0:
            room -= len(text.split())
            planned.append(PlannedSection(part, section.heading, text.strip()))
    return PaperParts(tuple(planned), tuple(dict.fromkeys(outcomes)))


def _is_within_results(section: HeadedSection, kind: SectionKind | None, within: bool) -> bool:
    """Whether the section is one on results, or stands below one."""
    return kind in _RESULTS or (within and section.level > 0)


def _closes(section: HeadedSection, kind: SectionKind | None) -> bool:
    name = plain(section.heading)
    return kind is SectionKind.DISCUSSION or (
        kind is None and bool(name) and is_closing(section.heading)
    )


def _part(section: HeadedSection, kind: SectionKind | None, within_results: bool) -> Part:
    if within_results:
        return Part.EXPERIMENT
    if kind is None and is_opening(section.heading):
        return Part.BACKGROUND
    return Part.METHOD


def _outcomes(text: str) -> Iterator[str]:
    return (each for each in sentences(text) if claims_outcome(each) or _states_figures(each))


def _states_figures(sentence: str) -> bool:
    return any(each.isdigit() for each in sentence)
