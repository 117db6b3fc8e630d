"""DOIs as people write them, made into what APIs take."""

import re

_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_DOI = re.compile(r"10\.\d{4,9}/[^\s,|]{1,200}")
"""A comma or bar would end the DOI inside a filter of many; no such DOI can travel in a batch."""


def clean_doi(text: str) -> str | None:
    """The bare DOI in lower case (DOIs are case-insensitive); None for what is none or cannot travel in a batch."""
    bare = _PREFIX.sub("", text.strip()).lower()
    return bare if _DOI.fullmatch(bare) else None
