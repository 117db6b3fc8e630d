"""Titles as they are compared, and when what was found is the idea's own publication."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from schemas.naming import surname
from schemas.patterns import bounded
from tasks.text.vocabulary import STOP_WORDS

LEAST_TITLE_WORDS = 4
"""Shorter titles are shared by different papers."""
_WORDS_AROUND = 6
_RUN_WORDS = 6
_LEAST_RUNS = 25
"""Of a text that can be told apart from another by its wording: some thirty words."""
_SAME_SHARE = 0.5
# What is near enough under the same authors, who write more than one work on a matter.
_NEAR_RUNS_SHARE = 0.2
_NEAR_TITLE_SHARE = 0.6
_ENOUGH_AUTHORS = 2
_WORDS = bounded(r"\w+")
_GENRE = bounded(r"^(?:research )?(?:plan|proposal|idea|project) (?:for |on )?")


@dataclass(frozen=True, slots=True)
class Work:
    """What tells one work from another; `text` is an idea or an abstract, either may be empty."""

    title: str
    text: str | None = None
    authors: Sequence[str] = ()


def plain_title(title: str) -> str:
    """Letters and digits of a title, lower case, without accents."""
    return " ".join(_plain_words(title))


def _plain_words(text: str) -> list[str]:
    decomposed = text if text.isascii() else unicodedata.normalize("NFKD", text)
    folded = decomposed.casefold()
    if not folded.isascii():
        folded = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return _WORDS.findall(folded)


def same_title(idea_title: str, found_title: str) -> bool:
    """Whether the title found is the idea's, with little around it (a site's name, a number)."""
    wanted, found = _GENRE.sub("", plain_title(idea_title)), plain_title(found_title)
    if len(wanted.split()) < LEAST_TITLE_WORDS:
        return False
    few_around = len(found.split()) <= len(wanted.split()) + _WORDS_AROUND
    return few_around and f" {wanted} " in f" {found} "


def same_text(idea_text: str, found_text: str) -> bool:
    """Whether at least half of the runs of six words of a text found stand in the idea's."""
    return _shared_runs(idea_text, found_text) >= _SAME_SHARE


def same_authors(idea_authors: Sequence[str], found_authors: Sequence[str]) -> bool:
    """Whether two authors of the idea, or its only one, are among those found.

    Compared by surname and first initial; a name without both is nobody's.
    """
    wanted = {name for name in map(_plain_name, idea_authors) if name}
    shared = wanted & {name for name in map(_plain_name, found_authors) if name}
    return bool(shared) and len(shared) >= min(_ENOUGH_AUTHORS, len(idea_authors))


def is_own_work(idea: Work, found: Work) -> bool:
    """Whether what was found is possibly the idea's own publication: by title, by nearly identical
    text, or by its authors and a near title or text; never by authors alone.
    """
    if same_title(idea.title, found.title) or same_text(idea.text or "", found.text or ""):
        return True
    return same_authors(idea.authors, found.authors) and (
        _near_title(idea.title, found.title)
        or _shared_runs(idea.text or "", found.text or "") >= _NEAR_RUNS_SHARE
    )


def _near_title(idea_title: str, found_title: str) -> bool:
    one, other = (
        set(_GENRE.sub("", plain_title(title)).split()) - STOP_WORDS
        for title in (idea_title, found_title)
    )
    shared = len(one & other)
    return shared >= LEAST_TITLE_WORDS and shared >= _NEAR_TITLE_SHARE * len(one | other)


def _plain_name(author: str) -> tuple[str, str] | None:
    """Surname and first initial; None where one of them is missing."""
    last = plain_title(surname(author))
    before_comma, comma, after_comma = author.partition(",")
    given = after_comma if comma and before_comma.strip() else author
    first = plain_title(given)
    return (last, first[0]) if last and first and first != last else None


def _shared_runs(idea_text: str, found_text: str) -> float:
    """The share, 0 to 1, of a found text's runs of words that stand in the idea's; 0 for a text too
    short to tell.
    """
    found = _runs(found_text)
    if len(found) < _LEAST_RUNS:
        return 0.0
    return len(found & _runs_of_idea(idea_text)) / len(found)


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _plain_words(text)
    parts = (islice(words, start, None) for start in range(_RUN_WORDS))
    return frozenset(zip(*parts, strict=False))


_runs_of_idea = lru_cache(maxsize=64)(_runs)
"""An idea is held against hundreds of papers, and several ideas at a time."""
