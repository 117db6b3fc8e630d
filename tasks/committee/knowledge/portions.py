"""Readings cut to what is kept and shown, with a mark where words are left out."""

from collections.abc import Sequence

from tasks.text.words import shorten_words


def within(parts: Sequence[tuple[str, str]], word_limit: int) -> str:
    """(heading, text) parts as one text of at most `word_limit` words and some marks: the longest parts give way first."""
    shares = _shares([len(text.split()) for _, text in parts], word_limit)
    return "\n\n".join(
        _portion(heading, text, share)
        for (heading, text), share in zip(parts, shares, strict=True)
        if share
    )


def _portion(heading: str, text: str, word_limit: int) -> str:
    kept, left_out = shorten_words(text.strip(), word_limit)
    mark = f"\n[… {left_out} words left out …]" if left_out else ""
    return f"{heading}:\n{kept}{mark}"


def _shares(lengths: Sequence[int], limit: int) -> list[int]:
    """What each part gets: all of it, or a level common to all that are cut."""
    level, rest, waiting = 0, limit, sorted(lengths)
    while waiting:
        level = rest // len(waiting)
        if waiting[0] > level:
            break
        rest -= waiting.pop(0)
    return [min(length, level) if waiting else length for length in lengths]
