"""Text of a manuscript split into sentences with their places."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from schemas.text.patterns import IGNORECASE, MULTILINE, Match, bounded, linear
from tasks.text.vocabulary import STOP_WORDS
from tasks.text.words import sentences

# Reply texts about manuscripts, as models write them.

_LONGEST = 8_000


def _text(value: Any) -> Any:
    """Convert numbers and lists such as [3, 4] or 12 to text; null becomes empty."""
    if value is None:
        return ""
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


Words = Annotated[str, BeforeValidator(_text), Field(max_length=_LONGEST)]
Rating = Annotated[int | None, Field(ge=1, le=5)]


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
_PARAGRAPH_END = linear(r"\n\s*\n|\\(?:begin|end)\{(?:(?:table|figure)\*?|abstract)\}")
"""A float or an abstract ends its paragraph, as a blank line does."""
_END: tuple[int, bool, Match[str] | None] = (0, False, None)


@dataclass(frozen=True, slots=True)
class DetectedProblem:
    """Problem detected by one check of the text; `gravity` 1 is the worst.

    Problems of one `kind` are reported as one.
    """

    kind: str
    gravity: int
    problem: str
    location: str
    explanation: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """One sentence and its place: `page 3, section 4.1 Cohort`."""

    sentence: str
    location: str

    def problem(self, kind: str, gravity: int, problem: str, why: str = "") -> DetectedProblem:
        """Return a problem at this place, with the sentence and `why` as evidence."""
        evidence = f"“{excerpt(self.sentence)}” {why}".strip()
        return DetectedProblem(kind, gravity, problem, self.location, evidence, self.sentence)


@dataclass(frozen=True)
class Reading:
    """A manuscript: `whole` includes its list of references, `text` does not."""

    form: str
    whole: str

    @property
    def is_latex(self) -> bool:
        return self.form == "latex"

    @cached_property
    def text(self) -> str:
        lists = list(_REFERENCES.finditer(self.whole))
        has_list = lists and lists[-1].start() > len(self.whole) // 3
        return self.whole[: lists[-1].start()] if has_list else self.whole

    @cached_property
    def abstract_span(self) -> tuple[int, int] | None:
        """Return the span of the abstract in `text`; None if it is not marked."""
        ends = {True: _LATEX_ABSTRACT_ENDS, False: _INTRODUCTION}
        for beginning in _ABSTRACT_BEGINS.finditer(self.text):
            is_latex = beginning["latex"] is not None
            if is_latex not in ends:
                continue
            if end := next(ends[is_latex].finditer(self.text, beginning.end()), None):
                return beginning.end(), end.start()
            del ends[is_latex]  # later beginnings have no end either
        return None

    @property
    def abstract(self) -> str:
        """Return the abstract; empty if it is not marked."""
        begin, end = self.abstract_span or (0, 0)
        return self.text[begin:end]

    @cached_property
    def sentences(self) -> tuple[PlacedSentence, ...]:
        """Return the sentences without damage from reading."""
        return tuple(entry for entry in self._all_sentences if not is_damaged(entry.sentence))

    @cached_property
    def damaged(self) -> tuple[PlacedSentence, ...]:
        """Return sentences damaged by reading, whose oddities are not the authors'."""
        return tuple(entry for entry in self._all_sentences if is_damaged(entry.sentence))

    @property
    def is_mostly_whole(self) -> bool:
        """Return whether so little is damaged that text not found is likely missing."""
        return len(self.damaged) <= _DAMAGED_SHARE * len(self._all_sentences)

    @cached_property
    def oddities(self) -> tuple[str, ...]:
        """Return signs that the file is not one whole paper, one per line."""
        signs = []
        abstracts = sum(1 for _ in _ABSTRACT_BEGINS.finditer(self.whole))
        lists = sum(1 for _ in _REFERENCES.finditer(self.whole))
        if min(abstracts, lists) > 1:
            signs.append(f"the file seems to hold {min(abstracts, lists)} papers, read as one")
        if not self.is_mostly_whole:
            share = len(self.damaged) / len(self._all_sentences)
            signs.append(f"{share:.0%} of its sentences were damaged when it was read")
        signs += [_SLIDES] if self._is_slides else []
        signs += [] if self._is_english else [_NO_ENGLISH]
        return tuple(signs)

    @property
    def _is_slides(self) -> bool:
        pages = [len(page.split()) for page in _PAGE.split(self.whole)[2::2]]
        return len(pages) >= _LEAST_SLIDES and median(pages) <= _SLIDE_WORDS

    @property
    def _is_english(self) -> bool:
        """Return whether stop words are as frequent as in English; short texts count as English."""
        letters = [word for word in self.text.casefold().split() if word.isalpha()]
        if len(letters) < _LEAST_WORDS:
            signs = sum(sign.isalpha() and not sign.isascii() for sign in self.text)
            return signs < _LEAST_WORDS
        return sum(word in STOP_WORDS for word in letters) >= _ENGLISH_SHARE * len(letters)

    def is_of_abstract(self, entry: PlacedSentence) -> bool:
        return entry.sentence in self._abstract

    @cached_property
    def _abstract(self) -> frozenset[str]:
        return frozenset(sentences(" ".join(self.abstract.split())))

    @cached_property
    def _all_sentences(self) -> tuple[PlacedSentence, ...]:
        return tuple(
            PlacedSentence(sentence, location)
            for location, begin, end in self.stretches
            for paragraph in _PARAGRAPH_END.split(self.text[begin:end])
            for sentence in sentences(" ".join(paragraph.split()))
        )

    def place_of(self, position: int) -> str:
        index = bisect_right(self.stretches, position, key=lambda stretch: stretch[1])
        return self.stretches[max(index - 1, 0)][0]

    @cached_property
    def stretches(self) -> tuple[tuple[str, int, int], ...]:
        """Return place, start and end of the text between headings or pages, in order."""
        return tuple(self._between())

    def _between(self) -> Iterator[tuple[str, int, int]]:
        heading = _LATEX_HEADING if self.is_latex else _PRINTED_HEADING
        page, section, place = "", "", 0
        pages = [(mark.start(), True, mark) for mark in _PAGE.finditer(self.text)]
        headings = [(mark.start(), False, mark) for mark in heading.finditer(self.text)]
        for _, is_page, mark in [*sorted(pages + headings, key=lambda each: each[0]), _END]:
            end = mark.start() if mark else len(self.text)
            location = ", ".join(part for part in (page, section) if part) or "the beginning"
            yield location, place, max(end, place)
            if mark is None:
                return
            if is_page:
                page = f"page {mark.group(1)}"
            else:
                section = f"section {' '.join(mark.group(1).strip('# ').split())}"
            place = mark.end()


_LOST_CHARACTER = bounded(r"\ufffd|\(cid:\d{1,6}\)|[\ue000-\uf8ff]|[=(;]\?[;)A-Z]")
_APART = bounded(r"(?:(?<!\S)\w\s){8}|\d\s\.\s?\d|(?<!\S)\d\s\d\s\d\s\d(?!\S)")
_RUN_TOGETHER = bounded(
    r"[a-z]{32}|[a-z][A-Z][a-z]{2,20}[A-Z][a-z]{2,20}[A-Z][a-z]{2,20}[A-Z][a-z]"
)
_DAMAGED_SHARE = 0.05
_LEAST_SLIDES, _SLIDE_WORDS = 5, 60
"""A page of a paper has about 500 words, a page of figures only a few."""
_SLIDES = "its pages hold as few words as slides do: what was said aloud is not in them"
_LEAST_WORDS = 100
_ENGLISH_SHARE = 0.25
"""Least share of stop words; in 14 English papers it was 48 to 58 %."""
_NO_ENGLISH = (
    "it seems to be in another language than English, the only one that the checks of the text know"
)


def is_damaged(sentence: str) -> bool:
    """Return whether reading damaged a sentence: lost, separated or joined characters."""
    return any(
        pattern.search(sentence) is not None for pattern in (_LOST_CHARACTER, _APART, _RUN_TOGETHER)
    )


_LATEX_PERCENT = bounded(r"\\(?:SI|qty)\{([\d.,]{1,20})\}\{\\percent\}")
_LATEX_MARKS = bounded(r"\\[,;:! ]|[~$]|\{,\}|\\%|[\u00a0\u2009\u202f]")
_PLAIN_MARKS = {"$": "", "{,}": ",", "\\%": "%", "\\!": ""}


def without_markup(sentence: str) -> str:
    r"""Return the sentence without LaTeX marks around numbers: `84 %` for `$84\,\%$`."""
    percent = _LATEX_PERCENT.sub(lambda match: f"{match.group(1)}%", sentence)
    plain_text = _LATEX_MARKS.sub(lambda match: _PLAIN_MARKS.get(match.group(), " "), percent)
    return " ".join(plain_text.split())


def excerpt(sentence: str, limit: int = 400) -> str:
    """Return a sentence as evidence, with a mark if it is cut."""
    return sentence if len(sentence) <= limit else f"{sentence[:limit]} […]"
