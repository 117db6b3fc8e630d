"""Words of texts in any script."""

from itertools import islice

from schemas.text.patterns import bounded

WORD = bounded(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
"""Sequence of letters and digits; in scripts without spaces, every character."""


def has_words(text: str, count: int) -> bool:
    """Return whether `text` has at least `count` words; reads only as much as necessary."""
    return sum(1 for _ in islice(WORD.finditer(text), count)) == count


MINIMUM_WORDS = 5
"""Minimum words of an idea; fewer are only a topic."""
