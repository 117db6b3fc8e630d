"""What counts as a word, for limits and for comparison."""

import re
from itertools import islice

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""A run of letters and digits; in scripts written without spaces every character."""


def has_words(text: str, count: int) -> bool:
    """Whether `text` holds at least `count` words; reads no further than it needs to."""
    return sum(1 for _ in islice(WORD.finditer(text), count)) == count
