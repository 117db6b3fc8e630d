"""Turning sentences of ideas and papers into something a reader can be shown, with citations only
where they are meant.
"""

from schemas.patterns import IGNORECASE, bounded

_MARKUP = bounded(r"\*\*|__|`+|(?<!\w)[*_](?=\w)|(?<=[\w.:;,!?)])[*_](?!\w)")
_LIST_NUMBER = bounded(r"^\s*+(?:\d{1,2}[.)]|[-*+•])\s+")
_REFERENCE = bounded(r"\s?(?:\[[^\[\]]{0,80}\]|\([^()]{0,120}\b(?:19|20)\d\d[a-z]?[^()]{0,40}\))")
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
SILENT = "without an outcome that speaks for or against it."
"""Closes the sentence of a review that lists related papers which report no outcome."""
MINIMUM_WORDS = 6
_INNER_QUOTES = str.maketrans({"“": "‘", "”": "’", '"': "’"})
MAXIMUM_WORDS = 60
MAXIMUM_LABEL_WORDS = 12


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


def quote(sentence: str) -> str:
    """A sentence of a paper in quotation marks, without its own references, connective opening and
    closing full stop.
    """
    cleaned = without_opening(_REFERENCE.sub("", plain(sentence))).rstrip(".;: ")
    return f"“{cleaned.translate(_INNER_QUOTES)}”"


def without_opening(text: str) -> str:
    """`text` without words that only tie it to what stood before (`Besides, it …`, not `Besides
    more samples, it …`).
    """
    rest = _LEAD_IN.sub("", text).strip()
    return f"{rest[:1].upper()}{rest[1:]}"


def own_part(method: str) -> str:
    """A method without the context that tells what the whole idea is about."""
    return method.partition(f" {CONTEXT_MARK}")[0]


def none_of(paper_count: int, verb: str) -> str:
    """The beginning of a sentence that says what no paper says; `verb` as in `reports`."""
    plain_verb = verb.removesuffix("s")
    return (
        f"None of the {paper_count} related papers read {verb}"
        if paper_count > 1
        else f"The one related paper read does not {plain_verb}"
    )


def label_of(method: str) -> str:
    """What to call a method in passing: the label it opens with, else its first words."""
    own = own_part(method)
    label, colon, _ = own.partition(": ")
    return (
        label
        if colon and len(label.split()) <= MAXIMUM_LABEL_WORDS
        else opening(own, MAXIMUM_LABEL_WORDS)
    )


def opening(text: str, words: int) -> str:
    """The first `words` words of `text`, with an ellipsis where it goes on."""
    parts = text.split()
    return (
        " ".join(parts).rstrip(".")
        if len(parts) <= words
        else " ".join(parts[:words]).rstrip(",;:.") + " …"
    )
