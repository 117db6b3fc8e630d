"""Sentences of papers and ideas as a reader of Markdown meets them."""

from collections.abc import Iterable

from schemas.patterns import bounded
from tasks.text.words import shorten_words

QUOTATION_WORD_LIMIT = 60

_UNQUOTABLE = bounded(r"[\[\]<>*_`“”\\|]|https?://\S+|www\.\S+")


def quotable(sentence: str) -> str:
    """The sentence without marks that Markdown or a citation would claim, at most
    `QUOTATION_WORD_LIMIT` words (then with an ellipsis).
    """
    plain = " ".join(_UNQUOTABLE.sub(" ", sentence).split())
    text, left_out = shorten_words(plain, QUOTATION_WORD_LIMIT)
    return f"{text.rstrip(' ,;:')} …" if left_out else text


def passages(found: Iterable[tuple[str, str]]) -> str:
    """Sentences of papers in quotation marks, one per paragraph, each with the key it is cited by."""
    return "\n\n".join(f"“{quotable(sentence)}” [{key}]" for sentence, key in found)
