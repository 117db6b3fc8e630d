"""Titles as they are compared."""

import unicodedata

from schemas.patterns import bounded

_WORDS = bounded(r"\w+")


def plain_title(title: str) -> str:
    """Letters and digits of a title, lower case, without accents."""
    decomposed = unicodedata.normalize("NFKD", title).casefold()
    return " ".join(
        _WORDS.findall("".join(sign for sign in decomposed if not unicodedata.combining(sign)))
    )
