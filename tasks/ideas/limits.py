"""What is too little and what is too much for one idea."""

from schemas.idea import RejectedIdea
from schemas.identifiers import IdeaId

MINIMUM_WORDS = 5
"""Fewer words name a topic, not an idea."""

MAXIMUM_CHARACTERS = 200_000
"""Some 40,000 words: more is a manuscript or a file that slipped in."""

MAXIMUM_ID_CHARACTERS = 200


def too_long(idea_id: IdeaId | None, location: str, size: int) -> RejectedIdea:
    """The rejection of a text of `size` characters (or bytes, where it was not even decoded)."""
    return RejectedIdea(
        idea_id=idea_id,
        location=location,
        reason="too_long",
        detail=f"the text has {size:,} characters, the limit is {MAXIMUM_CHARACTERS:,}: shorten it to problem, method and experiment",
    )
