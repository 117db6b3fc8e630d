"""Which sentences of ideas and papers read on their own, and how they are shown."""

from schemas.patterns import IGNORECASE, bounded

_MARKUP = bounded(r"\*\*|__|`+|(?<!\w)[*_](?=\w)|(?<=[\w.:;,!?)])[*_](?!\w)")
_LIST_NUMBER = bounded(r"^\s*+(?:\d{1,2}[.)]|[-*+•])\s+")
_ADDRESS = bounded(r"https?:|www\.|\bdoi\b|arxiv:", IGNORECASE)
_KEY_LIKE = bounded(r"(?<![\w-])[Pp]\s?\d{1,6}(?![\w%])")
_LEAD_IN = bounded(
    r"^(?:(?:first|second|third|fourth|fifth|next|then|lastly|however|moreover|furthermore|additionally|in"
    r" addition"
    r"|specifically|to this end|finally|in particular|also|thus|therefore|"
    r"hence|besides|meanwhile|notably|importantly|consequently|as a result|concretely|more"
    r" specifically|in contrast|but|and|yet)"
    r"(?:,\s++|\s++(?=(?:we|i)\b)))+",
    IGNORECASE,
)
CONTEXT_MARK = "Context: "
"""Opens the last sentence of an extracted method, which says what the whole idea is about."""
MINIMUM_WORDS = 6
MAXIMUM_WORDS = 60


def plain(text: str) -> str:
    """`text` without Markdown emphasis and list numbers, white space made single."""
    return " ".join(_MARKUP.sub("", _LIST_NUMBER.sub("", text)).split())


def quotable(sentence: str) -> bool:
    """Whether a sentence reads on its own: of bearable length, mostly words, with no address and
    nothing like a citation key.
    """
    length = len(sentence.split())
    letters = sum(character.isalpha() or character.isspace() for character in sentence)
    return (
        MINIMUM_WORDS <= length <= MAXIMUM_WORDS
        and letters >= 0.75 * len(sentence)
        and not _ADDRESS.search(sentence)
        and not _KEY_LIKE.search(sentence)
    )


def without_opening(text: str) -> str:
    """`text` without words that only tie it to what stood before (`Besides, it …`, not `Besides
    more samples, it …`).
    """
    rest = _LEAD_IN.sub("", text).strip()
    return f"{rest[:1].upper()}{rest[1:]}"


def own_part(method: str) -> str:
    """A method without the context that tells what the whole idea is about."""
    return method.partition(f" {CONTEXT_MARK}")[0]


def opening(text: str, words: int) -> str:
    """The first `words` words of `text`, with an ellipsis where it goes on."""
    parts = text.split()
    return (
        " ".join(parts).rstrip(".")
        if len(parts) <= words
        else " ".join(parts[:words]).rstrip(",;:.") + " …"
    )
