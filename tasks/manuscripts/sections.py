"""Stretches of a manuscript as long as one question shows, and the passages about a problem."""

from dataclasses import dataclass

from tasks.manuscripts.steps.reading import Reading
from tasks.manuscripts.steps.reading import shown as shortened
from tasks.text.quotations import normal
from tasks.text.words import rank_sentences

SECTION_WORDS = 1_500
"""Of one question; a longer section is read in parts, and short ones together."""
_CHARACTERS_PER_WORD = 12
"""Of text with hardly a space, such as formulas or Chinese."""
_SENTENCE_CHARACTERS = 1_500
"""Shown of one sentence."""
PASSAGE_SENTENCES = 25
_BESIDE = 2
"""Sentences to each side of the quoted one that a reader of the report is shown."""
_AROUND = 5
"""Sentences to each side of the one a problem points at that are shown with it."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a manuscript that one question shows; `place` is where it begins."""

    place: str
    text: str


def sections_of(reading: Reading, section_words: int = SECTION_WORDS) -> tuple[Section, ...]:
    """The text without its references in stretches of at most `section_words` words, in order.

    Stretches end at headings and pages where they can, else at paragraphs; a paragraph that is
    longer is cut.
    """
    found: list[Section] = []
    place, size = "", 0
    kept: list[str] = []
    for where, begin, end in reading.stretches:
        for part in _parts(reading.text[begin:end], section_words):
            length = _size(part)
            if kept and size + length > section_words:
                found.append(Section(place, "\n\n".join(kept)))
                kept, size = [], 0
            place = place if kept else where
            kept.append(part if kept and where == place else f"[{where}]\n{part}")
            size += length
    if kept:
        found.append(Section(place, "\n\n".join(kept)))
    return tuple(found)


def _parts(text: str, limit: int) -> list[str]:
    """Paragraphs that are not empty, long ones in pieces of `limit` words, or of as many characters
    where a script sets no spaces between words.
    """
    parts: list[str] = []
    longest = limit * _CHARACTERS_PER_WORD
    for paragraph in text.split("\n\n"):
        tokens = paragraph.split()
        if len(tokens) <= limit:
            pieces = [paragraph.strip()] if tokens else []
        else:
            pieces = [" ".join(tokens[at : at + limit]) for at in range(0, len(tokens), limit)]
        parts += [
            piece[at : at + longest] for piece in pieces for at in range(0, len(piece), longest)
        ]
    return parts


def _size(text: str) -> int:
    """Words; at least as many as its characters would make long ones."""
    return max(len(text.split()), len(text) // _CHARACTERS_PER_WORD)


def sentence_of(quoted: str, reading: Reading) -> int | None:
    """Return which of the reading's sentences a quotation is of, or holds; None: none of them."""
    wanted = normal(quoted)
    for number, one in enumerate(reading.sentences):
        sentence = normal(one.sentence)
        if wanted in sentence or (sentence in wanted and len(sentence) > len(wanted) / 2):
            return number
    return None


def place_of(quoted: str, reading: Reading, otherwise: str) -> str:
    """Return where the sentence stands that a quotation is of; `otherwise` where the text has none."""
    at = sentence_of(quoted, reading) if quoted else None
    return otherwise if at is None else reading.sentences[at].location


def passage_around(quoted: str, reading: Reading) -> str:
    """The sentence a quotation is of, with those around it as far as they stand at one place; empty
    where the text has no such sentence.
    """
    at = sentence_of(quoted, reading) if normal(quoted) else None
    if at is None:
        return ""
    placed = reading.sentences
    around = placed[max(at - _BESIDE, 0) : at + _BESIDE + 1]
    return " ".join(one.sentence for one in around if one.location == placed[at].location)


def passages_about(problem: str, quoted: str, reading: Reading) -> str:
    """The sentences around the one a problem points at, and those of the whole text that speak of
    the same things, in order, with their places.
    """
    at = sentence_of(quoted, reading)
    near = set() if at is None else set(range(max(at - _AROUND, 0), at + _AROUND + 1))
    found = _listed(f"{problem} {quoted}", reading, PASSAGE_SENTENCES, near)
    return f"{quoted}\n{found}" if at is None else found


def passages_near(words: str, reading: Reading, limit: int) -> str:
    """The `limit` sentences of the whole text nearest to some words, in order,
    with their places.
    """
    return _listed(words, reading, limit, set())


def _listed(words: str, reading: Reading, limit: int, near: set[int]) -> str:
    """The sentences numbered in `near`, and those nearest to `words`, `limit` in all."""
    listed = [one.sentence for one in reading.sentences]
    best = rank_sentences(words, listed, limit - len(near))
    wanted = {sentence for score, sentence in best if score > 0}
    shown: list[str] = []
    place = ""
    for number, one in enumerate(reading.sentences):
        if number not in near and one.sentence not in wanted:
            continue
        wanted.discard(one.sentence)  # what is said often is shown once
        shown += [f"[{one.location}]"] if one.location != place else []
        place = one.location
        shown.append(shortened(one.sentence, _SENTENCE_CHARACTERS))
    return "\n".join(shown)
