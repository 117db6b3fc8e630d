"""A query as the Semantic Scholar search takes it: plain words."""

import re
from datetime import date

from schemas.errors import RequestRejectedError

LONGEST_QUERY = 2_000
_OPERATORS = re.compile(r"[-–—:^\"+|*~()\[\]{}<>\\/=&!?;,`_#@%$]+")
_INVISIBLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\ufeff\ud800-\udfff]+")


def plain_query(text: str) -> str:
    """Words without the characters the search reads as syntax; hyphenated terms match nothing there (API: GET /paper/search).

    Raises:
        RequestRejectedError: no word is left, or more than `LONGEST_QUERY` characters; nothing is cut in silence.
    """
    words = " ".join(_INVISIBLE.sub(" ", _OPERATORS.sub(" ", text)).split())
    if not any(letter.isalnum() for letter in words):
        raise RequestRejectedError("the query holds no words")
    if len(words) > LONGEST_QUERY:
        raise RequestRejectedError(f"the query has {len(words)} characters, the search takes {LONGEST_QUERY}")
    return words


def until(cutoff: date | None) -> dict[str, str]:
    """The date filter for papers published up to and on the cutoff.

    Snippet searches take the same filter. Their `insertedBefore` speaks of the day a paper entered the index, and would
    hide papers that were published in time and indexed later.
    """
    return {"publicationDateOrYear": f":{cutoff.isoformat()}"} if cutoff is not None else {}
