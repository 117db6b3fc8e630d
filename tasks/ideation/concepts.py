"""The concepts that a text names: phrases that several papers have in their titles, and keywords.

A concept is known by the stems of its words, so that `neural networks` and `neural network` meet.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from schemas.text.patterns import bounded
from tasks.literature.snapshot.records import PaperRecord
from tasks.text.phrases import specific_stems
from tasks.text.vocabulary import STOP_WORDS
from tasks.text.words import content_words, words

LONGEST_WORDS = 4
_LONGEST_KEYWORD_CHARACTERS = 60
_BREAK = bounded(r"[.,;:!?()\[\]{}\"“”\n\r\t|•*_#<>=]|\s[-–—]\s|—")


def named_phrases(record: PaperRecord) -> dict[str, str]:
    """What a paper names in its title and keywords: by key, as it is written there."""
    found: dict[str, str] = {}
    for run in _runs(record.title):
        for phrase in _phrases(run):
            found.setdefault(key_of(phrase), " ".join(phrase))
    for keyword in record.keywords or ():
        # Some venues write "Machine Learning: Classification".
        last = keyword.rpartition(": ")[2][:_LONGEST_KEYWORD_CHARACTERS]
        parts = [word for word in words(last) if word not in STOP_WORDS]
        if len(parts) <= LONGEST_WORDS and any(map(specific_stems, parts)):
            found[key_of(parts)] = " ".join(parts)
    # A word alone, such as "learning", says too little to link by.
    return {key: phrase for key, phrase in found.items() if " " in key}


def mentioned(text: str, known: Collection[str]) -> list[str]:
    """The keys of known concepts that a text names, each once, in order.

    Of phrases that overlap the first one counts, and the longest that begins there.
    """
    found: dict[str, None] = {}
    for run in _runs(text):
        place = 0
        while place < len(run):
            lengths = range(min(LONGEST_WORDS, len(run) - place), 0, -1)
            keys = ((length, key_of(run[place : place + length])) for length in lengths)
            length, key = next(((n, key) for n, key in keys if key in known), (1, ""))
            if key:
                found[key] = None
            place += length
    return list(found)


def key_of(phrase: Iterable[str]) -> str:
    """The stems of the words of a phrase."""
    return " ".join(stem for word in phrase for stem in content_words(word) or (word,))


def _runs(text: str) -> Iterator[list[str]]:
    """Stretches of words that no stop word, adverb or sign interrupts."""
    for part in _BREAK.split(text):
        run: list[str] = []
        for word in words(part):
            if word in STOP_WORDS or word.endswith("ly") or word.isdigit():
                if run:
                    yield run
                run = []
            else:
                run.append(word)
        if run:
            yield run


def _phrases(run: Sequence[str]) -> Iterator[Sequence[str]]:
    """Phrases of two to four words that begin and end with a word that names something."""
    names = [bool(specific_stems(word)) for word in run]
    for length in range(2, LONGEST_WORDS + 1):
        for start in range(len(run) - length + 1):
            if names[start] and names[start + length - 1]:
                yield run[start : start + length]
