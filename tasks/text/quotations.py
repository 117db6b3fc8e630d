"""Whether a quotation stands in a text word for word, however either of them is printed.

White space, hyphens, quotation marks and Markdown's emphasis make no difference.
"""

import unicodedata
from functools import lru_cache

from schemas.patterns import bounded

LEAST_CHARACTERS = 20
"""A shorter quotation of a long source proves nothing: nearly every text holds it."""
_HYPHENATED = bounded(r"(?<=\w)[-\u2010\u2011][^\S\n]{0,99}+\n\s{0,99}+(?=\w)")
_DASHES = bounded(r"(?<!\s)\s*+[-\u2010-\u2015\u2212]+\s*")
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "«": '"', "»": '"'}
)
_INVISIBLE = bounded(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_EMPHASIS = bounded(r"[*`]")
AROUND = " \"'."
"""Signs around a quotation that need not be its own."""


@lru_cache(maxsize=128)
def normal(text: str) -> str:
    """The letters that count: one case, one kind of space, quotation mark and dash.

    Words hyphenated at line ends are joined, and marks of emphasis left out.
    """
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_QUOTES)
    text = _DASHES.sub("-", _HYPHENATED.sub("-", _EMPHASIS.sub("", text)))
    return " ".join(text.casefold().split())


def stands_in(passage: str, text: str, *, least_characters: int = LEAST_CHARACTERS) -> bool:
    """Whether `passage` is a stretch of `text`; a hyphen at a line's end may be the word's own or
    not.
    """
    wanted = normal(passage).strip(AROUND)
    if len(wanted) < least_characters:
        return False
    whole = normal(text)
    return wanted in whole or wanted.replace("-", "") in whole.replace("-", "")
