"""Sentences and lists as a reader of Markdown meets them."""

from collections.abc import Sequence

from schemas.patterns import bounded
from tasks.text.words import shorten_words

QUOTATION_WORD_LIMIT = 32

_UNQUOTABLE = bounded(r"[\[\]<>*_`“”\\|]|https?://\S+|www\.\S+")


def quotable(sentence: str) -> str:
    """The sentence without marks that Markdown or a citation would claim, at most
    `QUOTATION_WORD_LIMIT` words (then with an ellipsis).
    """
    plain = " ".join(_UNQUOTABLE.sub(" ", sentence).split())
    text, left_out = shorten_words(plain, QUOTATION_WORD_LIMIT)
    return f"{text.rstrip(' ,;:')} …" if left_out else text


def joined(items: Sequence[str], conjunction: str = "and") -> str:
    """Items as running text: a, b and c; empty for none."""
    return f" {conjunction} ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def listed(phrases: Sequence[str], conjunction: str = "and") -> str:
    """Phrases in italics as running text: *a*, *b* and *c*."""
    return joined([f"*{phrase}*" for phrase in phrases], conjunction)
