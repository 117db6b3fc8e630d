"""Comparison of titles, texts and authors, and of publications with ideas."""

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from schemas.literature.naming import surname
from schemas.text.patterns import bounded
from tasks.text.vocabulary import STOP_WORDS

LEAST_TITLE_WORDS = 4
"""Minimum words of an identifying title; shorter ones are shared by different papers."""
_WORDS_AROUND = 6
_RUN_WORDS = 6
_LEAST_RUNS = 25
"""Minimum runs of a text for comparison by wording: about thirty words."""
_SAME_SHARE = 0.5
_FEWEST_RUNS = 8
_NEAR_SHARE, _NEAR_SHARE_OF_SHORT = 0.6, 0.8
# Thresholds for the same authors, who write several works on a topic.
_NEAR_RUNS_SHARE = 0.2
_NEAR_TITLE_SHARE = 0.6
_ENOUGH_AUTHORS = 2
_TWO_WORDS = 2
_INITIALS = 3
"""Maximum letters of initials after a surname."""
_SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
_BEYOND_ACCENTS = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i", "æ": "a", "Æ": "A"}
    | {"œ": "o", "Œ": "O", "ð": "d", "þ": "th"}
)
_WORDS = bounded(r"\w+")
_GENRE = bounded(r"^(?:research )?(?:plan|proposal|idea|project) (?:for |on )?")


@dataclass(frozen=True, slots=True)
class Work:
    """The compared facts of a work.

    `text` is an idea or an abstract.
    """

    title: str
    text: str | None = None
    authors: Sequence[str] = ()


def plain_title(title: str) -> str:
    """Return the words of a title in lower case, without accents."""
    return " ".join(_plain_words(title))


def _plain_words(text: str) -> list[str]:
    decomposed_text = text if text.isascii() else unicodedata.normalize("NFKD", text)
    folded_text = decomposed_text.casefold()
    if not folded_text.isascii():
        folded_text = "".join(sign for sign in folded_text if not unicodedata.combining(sign))
    return _WORDS.findall(folded_text)


def same_title(idea_title: str, found_title: str) -> bool:
    """Return whether a title is the idea's.

    It may have a few additional words, such as a site name.
    """
    idea_plain, found_plain = _GENRE.sub("", plain_title(idea_title)), plain_title(found_title)
    if len(idea_plain.split()) < LEAST_TITLE_WORDS:
        return False
    is_short = len(found_plain.split()) <= len(idea_plain.split()) + _WORDS_AROUND
    return is_short and f" {idea_plain} " in f" {found_plain} "


def same_text(idea_text: str, found_text: str) -> bool:
    """Return whether the idea contains half of a text's six-word runs."""
    return _shared_runs(idea_text, found_text) >= _SAME_SHARE


def same_authors(idea_authors: Sequence[str], found_authors: Sequence[str]) -> bool:
    """Return whether two of the idea's authors are among `found_authors`.

    A single author suffices if the idea has only one. They are compared by surname and first
    initial; names without both match nobody.
    """
    found_keys = author_keys(found_authors)
    shared_count = sum(not found_keys.isdisjoint(_readings(author)) for author in idea_authors)
    return 0 < min(_ENOUGH_AUTHORS, len(idea_authors)) <= shared_count


def author_keys(authors: Iterable[str]) -> frozenset[tuple[str, str]]:
    """Return surname and first initial of each author, in every possible reading."""
    return frozenset(key for author in authors for key in _readings(author))


@lru_cache(maxsize=16384)
def _readings(author: str) -> tuple[tuple[str, str], ...]:
    """Return the possible readings of a name.

    `Müller, J.`, `Jörg Mueller` and `Muller J` share one. Without a comma the surname may come last
    or first.
    """
    last, comma, first = author.partition(",")
    if comma and last.strip():
        family_names = _name_words(last)
        given_names = [word for word in _name_words(first) if word not in _SUFFIXES]
        return ((family_names[-1], given_names[0][0]),) if family_names and given_names else ()
    family_names, words = _name_words(surname(author)), _name_words(author)
    if not family_names or len(words) < 2 or len(words) == len(family_names):
        return ()
    readings = [(family_names[-1], words[0][0])]
    if len(words) == _TWO_WORDS or len(words[-1]) <= _INITIALS:
        readings.append((words[-2], words[-1][0]))
    return tuple(reading for reading in readings if len(reading[0]) > 1)


def _name_words(name: str) -> list[str]:
    """Return the words of a name without accents, umlauts normalized."""
    folded_name = unicodedata.normalize("NFKD", name.translate(_BEYOND_ACCENTS)).casefold()
    plain_name = "".join(
        sign for sign in folded_name if not (unicodedata.combining(sign) or sign.isdigit())
    )
    for digraph in ("ae", "oe", "ue"):
        plain_name = plain_name.replace(digraph, digraph[0])
    return _WORDS.findall(plain_name)


def is_own_work(idea: Work, work: Work) -> bool:
    """Return whether `work` may be the idea's own publication.

    Matches by title, by nearly identical text, or by authors with a similar title or text.
    """
    if same_title(idea.title, work.title) or same_text(idea.text or "", work.text or ""):
        return True
    return same_authors(idea.authors, work.authors) and (
        _near_title(idea.title, work.title)
        or _shared_runs(idea.text or "", work.text or "") >= _NEAR_RUNS_SHARE
    )


def _near_title(idea_title: str, found_title: str) -> bool:
    one, other = (
        set(_GENRE.sub("", plain_title(title)).split()) - STOP_WORDS
        for title in (idea_title, found_title)
    )
    shared_count = len(one & other)
    return shared_count >= LEAST_TITLE_WORDS and shared_count >= _NEAR_TITLE_SHARE * len(
        one | other
    )


@dataclass(frozen=True, slots=True)
class ComparedText:
    """Words and word runs of a text, computed once."""

    words: list[str]
    runs: frozenset[tuple[str, ...]]

    @classmethod
    def of(cls, text: str) -> "ComparedText":
        words = _plain_words(text)
        return cls(words, _runs(words))


def near_texts(one: ComparedText, other: ComparedText) -> bool:
    """Return whether two abstracts are nearly the same text."""
    fewest = min(len(one.runs), len(other.runs))
    if fewest < _FEWEST_RUNS:
        return len(one.words) >= _FEWEST_RUNS and one.words == other.words
    share = _NEAR_SHARE if fewest >= _LEAST_RUNS else _NEAR_SHARE_OF_SHORT
    return len(one.runs & other.runs) >= share * fewest


def title_key(title: str) -> str:
    """Return a title key that ignores spaces, hyphens, plurals and British spelling."""
    return "".join(_stem(word) for word in _plain_words(title))


def _stem(word: str) -> str:
    for british, american in (("isation", "ization"), ("ising", "izing"), ("our", "or")):
        word = word.replace(british, american)
    return word[:-1] if len(word) > _TWO_WORDS + 1 and word.endswith("s") else word


def _shared_runs(idea_text: str, found_text: str) -> float:
    """Return the share of a text's word runs in the idea.

    The share is from 0 to 1, and 0 if the text is too short.
    """
    found_runs = _runs(_plain_words(found_text))
    if len(found_runs) < _LEAST_RUNS:
        return 0.0
    return len(found_runs & _runs_of_idea(idea_text)) / len(found_runs)


def _runs(words: Sequence[str]) -> frozenset[tuple[str, ...]]:
    parts = (islice(words, start, None) for start in range(_RUN_WORDS))
    return frozenset(zip(*parts, strict=False))


@lru_cache(maxsize=64)
def _runs_of_idea(text: str) -> frozenset[tuple[str, ...]]:
    """Return the word runs of an idea."""
    # Cached, because an idea is compared with hundreds of papers.
    return _runs(_plain_words(text))
