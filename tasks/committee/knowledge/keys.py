"""Items under short keys."""

from collections.abc import Sequence
from typing import TypeVar

from schemas.patterns import Match, bounded
from tasks.committee.knowledge.pool import Candidate

ItemT = TypeVar("ItemT")
_KEY = bounded(r"[\[(]?\bK(\d{1,3})\b[\])]?")


def keyed(batch: Sequence[ItemT]) -> dict[str, ItemT]:
    """K1, K2, … in order. Keys mean nothing outside one prompt."""
    return {f"K{number}": item for number, item in enumerate(batch, start=1)}


def without_keys(text: str, shown: dict[str, Candidate], own: str) -> str:
    """`text` with the prompt's keys spelled out, since it will be read apart from the prompt; words
    that merely look like one stay.
    """

    def spelled(match: Match[str]) -> str:
        key = f"K{match.group(1)}"
        if key == own:
            return "the source"
        return f"“{shown[key].item.title}”" if key in shown else match.group(0)

    return _KEY.sub(spelled, text)
