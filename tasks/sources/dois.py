"""DOIs as people write them, made into what APIs take."""

from collections.abc import Sequence
from urllib.parse import quote

from schemas.patterns import IGNORECASE, bounded
from tasks.web.addresses import ascii_lower, stays_in_place

_PREFIX = bounded(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", IGNORECASE)
_DOI = bounded(r"10\.\d{4,9}/[^\s,|]{1,200}")
"""A comma or bar would end the DOI inside a filter of many; no such DOI can travel in a batch."""
_LONGEST_FILTER = 2500
"""Characters of one filter in an address; OpenAlex takes about 4 KB in all."""


def clean_doi(text: str) -> str | None:
    """The bare DOI in lower case; None for what is none, or can travel neither in a batch nor in a path.

    DOIs are case-insensitive in ASCII only (DOI handbook, 3.4): other letters stay as they are.
    """
    bare = ascii_lower(_PREFIX.sub("", text.strip()))
    return bare if _DOI.fullmatch(bare) and stays_in_place(bare) else None


def batches(dois: Sequence[str], largest: int) -> list[list[str]]:
    """`dois` in order, at most `largest` together and no more than an address takes."""
    packed: list[list[str]] = []
    length = 0
    for doi in dois:
        own_length = len(quote(f"|doi:{doi}", safe=""))
        if not packed or len(packed[-1]) >= largest or length + own_length > _LONGEST_FILTER:
            packed.append([])
            length = 0
        packed[-1].append(doi)
        length += own_length
    return packed
