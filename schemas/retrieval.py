"""What a literature look-up gave. "Nothing found" and "could not look" are different values."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from schemas.base import Noun
from schemas.reasons import Reason

ItemT = TypeVar("ItemT")


class SourceFailure(Noun):
    """A look-up that was not answered."""

    source: str
    endpoint: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Answer(Generic[ItemT]):
    """Items found, the look-ups that failed, and how many items the cutoff date removed.

    `items == ()` with `failures == ()` means: looked, and there is nothing.
    """

    items: tuple[ItemT, ...]
    failures: tuple[SourceFailure, ...] = ()
    inadmissible_count: int = 0

    @property
    def complete(self) -> bool:
        """Whether every look-up was answered."""
        return not self.failures
