"""Free text made into a query a source takes: operators disarmed, over-long text cut at a word, the cut told."""

from dataclasses import dataclass

from schemas.patterns import bounded
from tasks.sources.fields import one_line

_SYNTAX = bounded(r"[^\w\s'.+#&/-]|_")
_LEADING, _TRAILING = "-+'./&#", "-'./&"
_OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "NEAR", "TO"})


@dataclass(frozen=True, slots=True)
class Wording:
    """The words to send. `shortening` says what was cut and by which limit; None: nothing."""

    text: str
    shortening: str | None = None


def shortened(text: str, maximum_characters: int, maximum_words: int | None = None) -> Wording:
    """`text` on one line within both limits, cut after a whole word (inside one only if it alone is too long)."""
    words = one_line(text).split(" ")
    whole = " ".join(words)
    kept = " ".join(words[:maximum_words] if maximum_words else words)
    if len(kept) > maximum_characters:
        head = kept[: maximum_characters + 1]
        kept = head.rpartition(" ")[0] or kept[:maximum_characters]
    if kept == whole:
        return Wording(whole)
    limits = f"{maximum_characters} characters" + (
        f" and {maximum_words} words" if maximum_words else ""
    )
    cut = f"query cut from {len(whole)} to {len(kept)} characters, from {len(words)} to {len(kept.split())} words"
    return Wording(kept, f"{cut}: the limit is {limits}")


def plain_words(text: str) -> str:
    """Words without query syntax: quotes, brackets, colons, wildcards and leading signs go; AND, OR, NOT become lower case."""
    words = (word.lstrip(_LEADING).rstrip(_TRAILING) for word in _SYNTAX.sub(" ", text).split())
    return " ".join(word.lower() if word in _OPERATORS else word for word in words if word)
