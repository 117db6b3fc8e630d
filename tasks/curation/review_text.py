"""A review as its sentences are looked up in it, word for word."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from schemas.text.patterns import IGNORECASE, MULTILINE, bounded
from tasks.text.words import sentences

_LABEL = bounded(
    r"^[ \t]{0,9}(?:#{1,6}[ \t]{1,9}|[-*+•][ \t]{0,9}|\d{1,2}[.)][ \t]{1,9})?(?:\*\*|__)?"
    r"(summary|paper summary|strengths?(?: and weaknesses)?|weakness(?:es)?|pros|cons"
    r"|questions?(?: for (?:the )?authors)?|limitations?|general discussion|detailed comments"
    r"|(?:major|minor|main) (?:comments?|concerns?|issues?|weaknesses|points?)"
    r"|(?:other |additional )?comments?|concerns?|suggestions?|contributions?|novelty|soundness"
    r"|significance|originality|clarity|presentation)"
    r"(?:\*\*|__)?[ \t]{0,9}(?::|$)(?:\*\*|__)?[ \t]{0,9}",
    IGNORECASE | MULTILINE,
)
"""A line, or the beginning of one, that says what follows is about."""
_FEWEST_CHARACTERS, _FEWEST_WORDS = 12, 3
_AROUND = " \"'“”…"


@dataclass(frozen=True, slots=True)
class Place:
    """A stretch of a review. Attributes are characters of the review as it was given.

    Attributes:
        heading: that it stands under; empty: none.
    """

    start: int
    end: int
    heading: str = ""


@dataclass(frozen=True)
class ReviewText:
    """A review's text, looked through once."""

    text: str

    def place_of(self, quote: str) -> Place | None:
        """Where the quotation stands, widened to whole sentences; None: it does not stand there.

        White space makes no difference, everything else does. A part of a sentence could say the
        opposite of the whole.
        """
        wanted = " ".join(quote.split())
        found = self._found(wanted)
        if found is None:
            found = self._found(wanted.strip(_AROUND))
        if found is None:
            return None
        start, end = found
        own = [each for each in self._sentences if each[0] < end and each[1] > start]
        if own:
            start, end = own[0][0], own[-1][1]
        first, last = self._flat[1][start], self._flat[1][end - 1] + 1
        return Place(first, last, self._heading_at(first))

    def _found(self, wanted: str) -> tuple[int, int] | None:
        if len(wanted) < _FEWEST_CHARACTERS or len(wanted.split()) < _FEWEST_WORDS:
            return None
        flat = self._flat[0]
        start = flat.find(wanted)
        while start >= 0:
            end = start + len(wanted)
            if _is_whole(flat, start, end):
                return start, end
            start = flat.find(wanted, end)
        return None

    @cached_property
    def _flat(self) -> tuple[str, list[int]]:
        """The text with its white space made single, and where each character of it stands."""
        characters: list[str] = []
        offsets: list[int] = []
        for place, character in enumerate(self.text):
            if not character.isspace():
                characters.append(character)
                offsets.append(place)
            elif characters and characters[-1] != " ":
                characters.append(" ")
                offsets.append(place)
        return "".join(characters), offsets

    @cached_property
    def _sentences(self) -> list[tuple[int, int]]:
        return list(self._spans())

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Of each sentence in the flat text, without the label that it begins with."""
        flat, after = self._flat[0], 0
        for sentence in sentences(self.text):
            start = flat.find(sentence, after)
            if start < 0:
                continue
            after = start + len(sentence)
            label = _LABEL.match(sentence)
            shift = label.end() if label is not None and label.end() < len(sentence) else 0
            yield start + shift, after

    @cached_property
    def _labels(self) -> list[tuple[int, str]]:
        return [(found.start(), found[1].capitalize()) for found in _LABEL.finditer(self.text)]

    def _heading_at(self, place: int) -> str:
        before = bisect_right([start for start, _ in self._labels], place)
        return self._labels[before - 1][1] if before else ""


def _is_whole(flat: str, start: int, end: int) -> bool:
    """Whether no word is cut at either end."""
    cut_before = start > 0 and flat[start - 1].isalnum() and flat[start].isalnum()
    cut_behind = end < len(flat) and flat[end].isalnum() and flat[end - 1].isalnum()
    return not (cut_before or cut_behind)
