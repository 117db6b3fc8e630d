"""Verbatim matching of quotations, and quotations in Markdown.

White space, hyphens, quotation marks and Markdown emphasis are ignored.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from schemas.text.patterns import Match, bounded
from tasks.text.words import shorten_words

LEAST_CHARACTERS = 20
"""A shorter quotation proves nothing, since nearly every long text contains it."""
LEAST_CHARACTERS_OF_A_PLAN = 8
"""For plans, which are short: `n = 12 mice` suffices."""
_HYPHENATED = bounded(r"(?<=\w)[-\u2010\u2011][^\S\n]{0,99}+\n\s{0,99}+(?=\w)")
_DASHES = bounded(r"(?<!\s)\s*+[-\u2010-\u2015\u2212]+\s*")
_QUOTES = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "«": '"', "»": '"'}
)
_INVISIBLE = bounded(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_EMPHASIS = bounded(r"[*`]")
AROUND = " \"'."
"""Characters ignored around a quotation."""


@lru_cache(maxsize=128)
def normal(text: str) -> str:
    """Normalize case, spaces, quotation marks and dashes.

    Words hyphenated at line ends are joined, and marks of emphasis left out.
    """
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_QUOTES)
    text = _DASHES.sub("-", _HYPHENATED.sub("-", _EMPHASIS.sub("", text)))
    return " ".join(text.casefold().split())


def stands_in(passage: str, text: str, *, least_characters: int = LEAST_CHARACTERS) -> bool:
    """Return whether `passage` occurs in `text`, after normalization."""
    quotation = normal(passage).strip(AROUND)
    if len(quotation) < least_characters:
        return False
    whole_text = normal(text)
    return quotation in whole_text or quotation.replace("-", "") in whole_text.replace("-", "")


QUOTATION_WORD_LIMIT = 60
KEYS_SHOWN = 5

_ADDRESS = bounded(r"(?:https?|ftp)://\S+|\bwww\.\S+")
_BRACKETED = bounded(r"[\[【]([^\[\]【】]{1,600})[\]】]")
_KEY_LIKE = bounded(r"(?<!\w)[PpKk]\s?\d")
_INNER_MARKS = str.maketrans("“”", "‘’")


def quotable(sentence: str) -> str:
    """Return the sentence for a quotation in “…”, shortened to `QUOTATION_WORD_LIMIT` words.

    A shortened sentence ends in an ellipsis. Signs such as `<`, `*` and `[MASK]` stay; renderers escape them. Addresses are left out, inner
    quotation marks become single ones, and square brackets that would cite (`[P2]`) become round
    ones.
    """
    text = _ADDRESS.sub(" ", sentence).translate(_INNER_MARKS)
    one_line = " ".join(_BRACKETED.sub(_without_key, text).split())
    text, left_out = shorten_words(one_line, QUOTATION_WORD_LIMIT)
    return f"{text.rstrip(' ,;:')} …" if left_out else text


def _without_key(bracket: Match[str]) -> str:
    return f"({bracket[1]})" if _KEY_LIKE.search(bracket[1]) else bracket.group()


def passages(quotes: Iterable[tuple[str, str]]) -> str:
    """Return quotations as paragraphs, each with the key of its paper."""
    return "\n\n".join(f"“{quotable(sentence)}” [{key}]" for sentence, key in quotes)


def cited(keys: Sequence[str]) -> str:
    """Return the first `KEYS_SHOWN` keys in brackets, noting more."""
    listed_keys = " ".join(f"[{key}]" for key in keys[:KEYS_SHOWN])
    return f"(among them {listed_keys})" if len(keys) > KEYS_SHOWN else listed_keys
