"""Titles as they are compared, and when what was found is the idea's own publication."""

import unicodedata
from itertools import islice

from schemas.patterns import bounded

LEAST_TITLE_WORDS = 4
"""Shorter titles are shared by different papers."""
_WORDS_AROUND = 6
_RUN_WORDS = 6
_LEAST_RUNS = 25
"""Of a text that can be told apart from another by its wording: some thirty words."""
_SAME_SHARE = 0.5
_WORDS = bounded(r"\w+")
_GENRE = bounded(r"^(?:research )?(?:plan|proposal|idea|project) (?:for |on )?")


def plain_title(title: str) -> str:
    """Letters and digits of a title, lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", title).casefold()
    return " ".join(
        _WORDS.findall("".join(sign for sign in decomposed if not unicodedata.combining(sign)))
    )


def same_title(idea_title: str, found_title: str) -> bool:
    """Whether the title found is the idea's, with little around it (a site's name, a number)."""
    wanted, found = _GENRE.sub("", plain_title(idea_title)), plain_title(found_title)
    if len(wanted.split()) < LEAST_TITLE_WORDS:
        return False
    few_around = len(found.split()) <= len(wanted.split()) + _WORDS_AROUND
    return few_around and f" {wanted} " in f" {found} "


def same_text(idea_text: str, found_text: str) -> bool:
    """Whether at least half of the runs of six words of a text found stand in the idea's."""
    found = _runs(found_text)
    return len(found) >= _LEAST_RUNS and len(found & _runs(idea_text)) >= _SAME_SHARE * len(found)


def is_own_work(
    idea_title: str, idea_text: str, found_title: str, found_text: str | None = None
) -> bool:
    """Whether what was found is possibly the idea's own publication, by title or nearly identical
    text.
    """
    return same_title(idea_title, found_title) or same_text(idea_text, found_text or "")


def _runs(text: str) -> set[tuple[str, ...]]:
    words = plain_title(text).split()
    return set(zip(*(islice(words, start, None) for start in range(_RUN_WORDS)), strict=False))
