"""What a look-up gave, and what did not work out, kept beside what did. "Nothing found" and "could
not look" are different values.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import Field

from schemas.base import Noun, Writable
from schemas.literature.paper import Paper
from schemas.outcome import Unscored
from schemas.reasons import About, Passes, Reason
from schemas.text.patterns import bounded

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
        """Return whether every look-up was answered."""
        return not self.failures


LEFT_OUT = "left_out"
"""Stage of papers that were found and counted for nothing: nothing failed there."""


class Failure(Noun):
    """A failed look-up, judgement, document or idea."""

    stage: str = Field(
        description="read_ideas, soundness, contribution, literature, documents, resources,"
        " evaluate; left_out: papers that were found and counted for nothing.",
    )
    subject: Writable = Field(
        description="What failed: a method, paper, query or idea, by identifier.",
    )
    reason: Reason = Field(description="Why, a word of the closed list.")
    detail: Writable = Field(
        description="One line: what happened and, where it can be mended, how.",
    )

    @property
    def is_left_out(self) -> bool:
        """Return whether it names papers that counted for nothing: nothing failed."""
        return self.stage == LEFT_OUT

    @property
    def is_of_a_document(self) -> bool:
        """Return whether a full text could not be had: work is complete without it.

        A host that is down, or a document too large, would otherwise have all of it done again on
        every rerun.
        """
        return self.reason.about is About.DOCUMENT or (
            self.stage == "documents" and self.reason.about is not About.SCORE
        )

    @property
    def retryable(self) -> bool:
        """Return whether running again, with nothing changed, may help."""
        return self.reason.passes is Passes.BY_ITSELF


def look_up_failures(
    failures: Iterable[SourceFailure], stage: str, subject: str
) -> tuple[Failure, ...]:
    """One failure per look-up that was not answered."""
    return tuple(
        Failure(
            stage=stage,
            subject=subject,
            reason=failure.reason,
            detail=f"{failure.source} {failure.endpoint}: {failure.detail}",
        )
        for failure in failures
    )


def call_failures(unscored: Iterable[Unscored], stage: str, subject: str) -> tuple[Failure, ...]:
    """Calls without a usable answer; those of one kind as one failure that counts them."""
    counted = Counter((call.reason, call.detail) for call in unscored)
    return tuple(
        Failure(
            stage=stage,
            subject=subject,
            reason=reason,
            detail=detail if count == 1 else f"{count} calls: {detail}",
        )
        for (reason, detail), count in counted.items()
    )


CAUSE_CHARACTERS = 200
_COUNTED = bounded(r"(\d{1,9}) calls: ")


def commonest_cause(details: Iterable[str]) -> str:
    """Return what most failed calls were told, in the provider's own words; empty: nothing."""
    counted: Counter[str] = Counter()
    for detail in details:
        match = _COUNTED.match(detail)
        cause = detail[match.end() :] if match else detail
        counted[cause.strip(" .")] += int(match[1]) if match else 1
    del counted[""]
    ((cause, _),) = counted.most_common(1) or [("", 0)]
    return cause if len(cause) <= CAUSE_CHARACTERS else f"{cause[:CAUSE_CHARACTERS]}…"


def own_work(papers: Iterable[Paper], stage: str) -> list[Failure]:
    """That papers are possibly the idea's own publication: they are set apart, and say nothing
    about it.
    """
    return [
        Failure(
            stage=stage,
            subject=paper.paper_id,
            reason=Reason.THE_IDEA_ITSELF,
            detail=(
                "possibly this work: by its title, its abstract or its authors with a title or"
                " abstract near the idea's, it is the idea's own publication"
            ),
        )
        for paper in papers
    ]
