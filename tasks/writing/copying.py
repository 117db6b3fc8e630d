"""Whether words stand one after the other as in a stored text of another paper."""

from collections.abc import Iterable, Sequence

from schemas.text.patterns import bounded
from schemas.works.draft_run import StoredText

LEAST_WORDS = 8
"""So many words in a row are a sentence, or the greater part of one."""
_WORD = bounded(r"\w+")


def words_of(text: str) -> list[str]:
    return [match.group().casefold() for match in _WORD.finditer(text)]


def repeated(texts: Sequence[str], stored: Iterable[StoredText]) -> list[tuple[int, str, str]]:
    """Of each of `texts` that repeats a stored one: its place, the title it stands under, and the
    first words of it that do. In time linear in all texts together.
    """
    places: dict[tuple[str, ...], int] = {}
    for place, text in enumerate(texts):
        words = words_of(text)
        for start in range(len(words) - LEAST_WORDS + 1):
            places.setdefault(tuple(words[start : start + LEAST_WORDS]), place)
    found: dict[int, tuple[int, str, str]] = {}
    for other in stored if places else ():
        words = words_of(other.text)
        for start in range(len(words) - LEAST_WORDS + 1):
            run = tuple(words[start : start + LEAST_WORDS])
            place = places.get(run, -1)
            if place >= 0:
                found.setdefault(place, (place, other.title, " ".join(run)))
    return [found[place] for place in sorted(found)]
