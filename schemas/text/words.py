"""Words of texts in any script, for limits and for comparison."""

from itertools import islice

from schemas.text.patterns import bounded

WORD = bounded(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)
"""A run of letters and digits; in scripts written without spaces every character."""


def has_words(text: str, count: int) -> bool:
    """Return whether `text` holds at least `count` words; reads no further than it needs to."""
    return sum(1 for _ in islice(WORD.finditer(text), count)) == count


MINIMUM_WORDS = 5
"""Fewer words name a topic, not an idea."""
