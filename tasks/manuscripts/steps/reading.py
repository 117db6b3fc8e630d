"""A manuscript's text taken apart for checking: sentences with the place each stands at."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from schemas.patterns import IGNORECASE, MULTILINE, Match, bounded, linear
from tasks.text.words import sentences

# Texts of replies about manuscripts, as models write them.

_LONGEST = 8_000


def _text(value: Any) -> Any:
    """Numbers and lists as models write places ([3, 4], 12) become text; null becomes nothing."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Words = Annotated[str, BeforeValidator(_text), Field(max_length=_LONGEST)]


_PAGE = bounded(r"^\[page (\d{1,9})\]$", MULTILINE)
_LATEX_HEADING = linear(
    r"\\(?:part|chapter|(?:sub){0,2}section)\*?\s*(?:\[[^\[\]]*\]\s*)?\{([^{}]{1,200})\}"
)
_PRINTED_HEADING = linear(
    (
        r"^(?:#{1,6}\s+)?((?:\d{1,2}(?:\.\d{1,2}){0,3}|[IVX]{1,5}\.|[A-H](?:\.\d{0,2}"
        r"|\d{1,2}))\.?\s+[A-Z][^\n.]{2,70}|#{1,6}\s+[^\n]{2,80})$"
    ),
    MULTILINE,
)
_REFERENCES = linear(
    r"^(?:#{1,6}\s+)?(?:\d{1,2}\.?\s+)?(?:references|bibliography|literature cited)\s*$",
    IGNORECASE | MULTILINE,
)
_ABSTRACT_BEGINS = bounded(
    r"(?P<latex>\\begin\{abstract\})|^[^\S\n]*+(?:#{1,6}\s{0,9})?abstract\b[\s.:—-]*",
    IGNORECASE | MULTILINE,
)
_LATEX_ABSTRACT_ENDS = bounded(r"\\end\{abstract\}", IGNORECASE)
_INTRODUCTION = bounded(
    r"^[^\S\n]*+(?:#{1,6}\s{0,9})?(?:1\.?|I\.?)?\s{0,9}introduction\b", IGNORECASE | MULTILINE
)
_BLANK_LINES = linear(r"\n\s*\n")
_END: tuple[int, bool, Match[str] | None] = (0, False, None)


@dataclass(frozen=True, slots=True)
class DetectedProblem:
    """What one check of the text detected; `gravity` 1 is the worst.

    Those of one `kind` are reported as one problem.
    """

    kind: str
    gravity: int
    problem: str
    location: str
    explanation: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """One sentence, and where it stands: `page 3, section 4.1 Cohort`."""

    sentence: str
    location: str

    def problem(self, kind: str, gravity: int, problem: str, why: str = "") -> DetectedProblem:
        """A problem at this place; the sentence is quoted as its evidence, with `why` behind it."""
        quoted = f"“{shown(self.sentence)}” {why}".strip()
        return DetectedProblem(kind, gravity, problem, self.location, quoted, self.sentence)


@dataclass(frozen=True)
class Reading:
    """A manuscript: `whole` has its list of references, `text` has not."""

    form: str
    whole: str

    @property
    def is_latex(self) -> bool:
        return self.form == "latex"

    @cached_property
    def text(self) -> str:
        found = list(_REFERENCES.finditer(self.whole))
        return (
            self.whole[: found[-1].start()]
            if found and found[-1].start() > len(self.whole) // 3
            else self.whole
        )

    @cached_property
    def abstract_span(self) -> tuple[int, int] | None:
        """Where in `text` the abstract begins and ends; None where none is marked off."""
        ends = {True: _LATEX_ABSTRACT_ENDS, False: _INTRODUCTION}
        for begins in _ABSTRACT_BEGINS.finditer(self.text):
            marked = begins["latex"] is not None
            if marked not in ends:
                continue
            if found := next(ends[marked].finditer(self.text, begins.end()), None):
                return begins.end(), found.start()
            del ends[marked]  # behind a later beginning there is no end either
        return None

    @cached_property
    def sentences(self) -> tuple[Placed, ...]:
        return tuple(self._placed())

    def _placed(self) -> Iterator[Placed]:
        heading = _LATEX_HEADING if self.is_latex else _PRINTED_HEADING
        page, section, place = "", "", 0
        pages = [(mark.start(), True, mark) for mark in _PAGE.finditer(self.text)]
        headings = [(mark.start(), False, mark) for mark in heading.finditer(self.text)]
        for _, is_page, mark in [*sorted(pages + headings, key=lambda each: each[0]), _END]:
            end = mark.start() if mark else len(self.text)
            location = ", ".join(part for part in (page, section) if part) or "the beginning"
            for paragraph in _BLANK_LINES.split(self.text[place:end]):
                yield from (
                    Placed(sentence, location)
                    for sentence in sentences(" ".join(paragraph.split()))
                )
            if mark is None:
                return
            if is_page:
                page = f"page {mark.group(1)}"
            else:
                section = f"section {' '.join(mark.group(1).strip('# ').split())}"
            place = mark.end()


def shown(sentence: str, limit: int = 400) -> str:
    """A sentence as evidence; what is left out of a long one is marked."""
    return sentence if len(sentence) <= limit else f"{sentence[:limit]} […]"
