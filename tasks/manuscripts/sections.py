"""Sections of a manuscript sized for one prompt, and passages about a problem."""

from dataclasses import dataclass

from tasks.manuscripts.steps.reading import Reading, excerpt
from tasks.text.quotations import normal
from tasks.text.words import rank_sentences

SECTION_WORDS = 1_500
"""Words per prompt; longer sections are split, and short ones joined."""
_CHARACTERS_PER_WORD = 12
"""Characters per word in text with few spaces, such as formulas or Chinese."""
_SENTENCE_CHARACTERS = 1_500
"""Characters shown of one sentence."""
PASSAGE_SENTENCES = 25
_REPORT_MARGIN = 2
"""Sentences to each side of the quoted one shown in the report."""
_PROMPT_MARGIN = 5
"""Sentences to each side of the quoted one shown in prompts."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a manuscript for one prompt; `place` is its beginning."""

    place: str
    text: str


def sections_of(reading: Reading, section_words: int = SECTION_WORDS) -> tuple[Section, ...]:
    """Split the text without references into sections of at most `section_words` words.

    Sections end at headings and pages if possible, else at paragraphs; longer paragraphs are cut.
    """
    sections: list[Section] = []
    place, size = "", 0
    parts: list[str] = []
    for where, begin, end in reading.stretches:
        for part in _parts(reading.text[begin:end], section_words):
            length = _size(part)
            if parts and size + length > section_words:
                sections.append(Section(place, "\n\n".join(parts)))
                parts, size = [], 0
            place = place if parts else where
            parts.append(part if parts and where == place else f"[{where}]\n{part}")
            size += length
    if parts:
        sections.append(Section(place, "\n\n".join(parts)))
    return tuple(sections)


def _parts(text: str, limit: int) -> list[str]:
    """Return non-empty paragraphs, long ones in pieces of `limit` words.

    In scripts without spaces a piece has as many characters as that many words.
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
    """Return the words, or more if the text has few spaces."""
    return max(len(text.split()), len(text) // _CHARACTERS_PER_WORD)


def sentence_of(quote: str, reading: Reading) -> int | None:
    """Return the index of the sentence that contains, or is contained in, a quotation."""
    quotation = normal(quote)
    for number, one in enumerate(reading.sentences):
        sentence = normal(one.sentence)
        if quotation in sentence or (sentence in quotation and len(sentence) > len(quotation) / 2):
            return number
    return None


def place_of(quote: str, reading: Reading, otherwise: str) -> str:
    """Return the place of the quoted sentence, or `otherwise` if the text has none."""
    index = sentence_of(quote, reading) if quote else None
    return otherwise if index is None else reading.sentences[index].location


def passage_around(quote: str, reading: Reading) -> str:
    """Return the quoted sentence with its neighbors at the same place, or an empty text."""
    index = sentence_of(quote, reading) if normal(quote) else None
    if index is None:
        return ""
    entries = reading.sentences
    neighbors = entries[max(index - _REPORT_MARGIN, 0) : index + _REPORT_MARGIN + 1]
    return " ".join(one.sentence for one in neighbors if one.location == entries[index].location)


def passages_about(problem: str, quote: str, reading: Reading) -> str:
    """Return sentences around the quoted one and others on the same topic, with places."""
    index = sentence_of(quote, reading)
    near_places = (
        set()
        if index is None
        else set(range(max(index - _PROMPT_MARGIN, 0), index + _PROMPT_MARGIN + 1))
    )
    passages = _passages(f"{problem} {quote}", reading, PASSAGE_SENTENCES, near_places)
    return f"{quote}\n{passages}" if index is None else passages


def passages_near(words: str, reading: Reading, limit: int) -> str:
    """Return the `limit` sentences nearest to some words, in order, with places."""
    return _passages(words, reading, limit, set())


def _passages(words: str, reading: Reading, limit: int, near_indices: set[int]) -> str:
    """Return the sentences numbered in `near_indices` and those nearest to `words`, `limit` in all."""
    all_sentences = [one.sentence for one in reading.sentences]
    best = rank_sentences(words, all_sentences, limit - len(near_indices))
    relevant = {sentence for score, sentence in best if score > 0}
    lines: list[str] = []
    place = ""
    for number, one in enumerate(reading.sentences):
        if number not in near_indices and one.sentence not in relevant:
            continue
        relevant.discard(one.sentence)  # a repeated sentence is shown once
        lines += [f"[{one.location}]"] if one.location != place else []
        place = one.location
        lines.append(excerpt(one.sentence, _SENTENCE_CHARACTERS))
    return "\n".join(lines)
