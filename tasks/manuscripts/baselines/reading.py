"""A manuscript's text taken apart for checking: sentences with the place each stands at."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tasks.judging.text import sentences
from tasks.manuscripts.questions import ManuscriptQuestion

_PAGE = re.compile(r"^\[page (\d+)\]$", re.MULTILINE)
_LATEX_HEADING = re.compile(r"\\(?:part|chapter|(?:sub){0,2}section)\*?\s*(?:\[[^\[\]]*\]\s*)?\{([^{}]{1,200})\}")
_PRINTED_HEADING = re.compile(
    r"^(?:#{1,6}\s+)?((?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5}\.|[A-H](?:\.\d{0,2}|\d{1,2}))\.?\s+[A-Z][^\n.]{2,70}|#{1,6}\s+[^\n]{2,80})$",
    re.MULTILINE,
)
_REFERENCES = re.compile(r"^(?:#{1,6}\s+)?(?:\d{1,2}\.?\s+)?(?:references|bibliography|literature cited)\s*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Placed:
    """One sentence, and where it stands: `page 3, section 4.1 Cohort`."""

    sentence: str
    location: str


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a check found; `gravity` 1 is the worst. Findings of one `kind` are reported as one problem."""

    kind: str
    gravity: int
    problem: str
    location: str
    explanation: str


@dataclass(frozen=True)
class Reading:
    """The text of a manuscript, without its list of references."""

    question: ManuscriptQuestion

    @property
    def is_latex(self) -> bool:
        return self.question.form == "latex"

    @cached_property
    def text(self) -> str:
        found = list(_REFERENCES.finditer(self.question.text))
        return self.question.text[: found[-1].start()] if found and found[-1].start() > len(self.question.text) // 3 else self.question.text

    @cached_property
    def sentences(self) -> tuple[Placed, ...]:
        return tuple(self._placed())

    def _placed(self) -> Iterator[Placed]:
        heading = _LATEX_HEADING if self.is_latex else _PRINTED_HEADING
        page, section, place = "", "", 0
        marks = sorted([*_PAGE.finditer(self.text), *heading.finditer(self.text)], key=lambda mark: mark.start())
        for mark in [*marks, None]:
            end = mark.start() if mark else len(self.text)
            location = ", ".join(part for part in (page, section) if part) or "the beginning"
            for paragraph in re.split(r"\n\s*\n", self.text[place:end]):
                yield from (Placed(sentence, location) for sentence in sentences(" ".join(paragraph.split())))
            if mark is None:
                return
            if mark.re is _PAGE:
                page = f"page {mark.group(1)}"
            else:
                section = f"section {' '.join(mark.group(1).strip('# ').split())}"
            place = mark.end()

    def place_of(self, wording: str) -> str:
        """Where `wording` stands first; `the text` where it spans sentences."""
        flat = " ".join(wording.split())
        return next((placed.location for placed in self.sentences if flat in placed.sentence), "the text")


def shown(sentence: str, limit: int = 400) -> str:
    """A sentence as evidence; what is left out of a long one is marked."""
    return sentence if len(sentence) <= limit else f"{sentence[:limit]} […]"
