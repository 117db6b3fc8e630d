"""A query as the Semantic Scholar search takes it: plain words."""

from collections.abc import Iterable, Sequence
from datetime import date

from schemas.errors import RequestRejectedError
from schemas.patterns import bounded

LONGEST_QUERY = 2_000
_OPERATORS = bounded(r"[-–—:^\"+|*~()\[\]{}<>\\/=&!?;,`_#@%$]+")
_INVISIBLE = bounded(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff\ud800-\udfff]+")


def plain_query(text: str) -> str:
    """Words without the characters the search reads as syntax; hyphenated terms match nothing there
    (API: GET /paper/search).

    Raises:
        RequestRejectedError: no word is left, or more than `LONGEST_QUERY` characters; nothing is
            cut in silence.
    """
    words = " ".join(_INVISIBLE.sub(" ", _OPERATORS.sub(" ", text)).split())
    if not any(letter.isalnum() for letter in words):
        raise RequestRejectedError("the query holds no words")
    if len(words) > LONGEST_QUERY:
        raise RequestRejectedError(
            f"the query has {len(words)} characters, the search takes {LONGEST_QUERY}"
        )
    return words


def until(cutoff: date | None) -> dict[str, str]:
    """The date filter for papers published up to and on the cutoff.

    Snippet searches take the same filter. Their `insertedBefore` speaks of the day a paper entered
    the index, and would hide papers that were published in time and indexed later.
    """
    return {"publicationDateOrYear": f":{cutoff.isoformat()}"} if cutoff is not None else {}


LONGEST_BULK_QUERY = 3_000
"""Characters; percent-encoded it doubles, and the API's front door refuses addresses beyond about
8,000.
"""

_EMPTY_WORDS = frozenset(
    [
        "a",
        "about",
        "across",
        "among",
        "an",
        "and",
        "are",
        "as",
        "at",
        "based",
        "be",
        "between",
        "by",
        "can",
        "for",
        "from",
        "has",
        "have",
        "how",
        "in",
        "into",
        "is",
        "it",
        "its",
        "not",
        "of",
        "on",
        "or",
        "our",
        "over",
        "per",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "these",
        "they",
        "this",
        "those",
        "through",
        "to",
        "toward",
        "towards",
        "under",
        "upon",
        "use",
        "used",
        "using",
        "via",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "within",
    ]
)


def telling_words(query: str) -> list[str]:
    """The words of a query that say something, in lower case, in order, each once; all of them
    where none does.
    """
    words = list(dict.fromkeys(plain_query(query).lower().split()))
    return [word for word in words if word not in _EMPTY_WORDS and len(word) > 1] or words


def packed_queries(queries: Iterable[str], missing: int) -> list[str]:
    """Boolean queries for bulk search (API: GET /paper/search/bulk): papers with all but `missing`
    words of one of `queries`.

    Two words at least must occur. Each is at most `LONGEST_BULK_QUERY` characters; queries without
    words are left out.
    """
    packed: list[str] = []
    for query in dict.fromkeys(queries):
        try:
            words = telling_words(query)
        except RequestRejectedError:
            continue
        group = _at_least(max(len(words) - missing, min(2, len(words))), words)
        if packed and len(packed[-1]) + len(group) + 3 <= LONGEST_BULK_QUERY:
            packed[-1] = f"{packed[-1]} | {group}"
        else:
            packed.append(group)
    return packed


def _at_least(count: int, words: Sequence[str]) -> str:
    """Papers with `count` of the words: with the first and one less of the others, or without it."""
    if count >= len(words):
        return f"({' + '.join(words)})"
    if count == 1:
        return f"({' | '.join(words)})"
    return f"({words[0]} + {_at_least(count - 1, words[1:])} | {_at_least(count, words[1:])})"
