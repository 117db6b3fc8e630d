"""Answers of look-ups, and failures as values.

An empty answer and a failed look-up are different values.
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
    """Failed look-up."""

    source: str
    endpoint: str
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Answer(Generic[ItemT]):
    """Items found, failed look-ups, and the number of items removed by the cutoff date.

    `items == ()` with `failures == ()` means that there are none.
    """

    items: tuple[ItemT, ...]
    failures: tuple[SourceFailure, ...] = ()
    inadmissible_count: int = 0

    @property
    def complete(self) -> bool:
        """Return whether every look-up succeeded."""
        return not self.failures


LEFT_OUT = "left_out"
"""Stage of papers that were found but excluded, which is no failure."""


class Failure(Noun):
    """A failed look-up, judgement, document or idea."""

    stage: str = Field(
        description="read_ideas, soundness, contribution, literature, documents, resources,"
        " evaluate; left_out: papers that were found but excluded.",
    )
    subject: Writable = Field(
        description="Identifier of the method, paper, query or idea that failed.",
    )
    reason: Reason = Field(description="Reason, from the closed list.")
    detail: Writable = Field(
        description="One line: what happened and, if possible, the remedy.",
    )

    @property
    def is_left_out(self) -> bool:
        """Return whether the row is about excluded papers."""
        return self.stage == LEFT_OUT

    @property
    def is_of_a_document(self) -> bool:
        """Return whether a full text is missing, which leaves the work complete."""
        # Otherwise a host that is down would cause a full re-evaluation on every rerun.
        return self.reason.about is About.DOCUMENT or (
            self.stage == "documents" and self.reason.about is not About.SCORE
        )

    @property
    def retryable(self) -> bool:
        """Return whether a rerun with the same settings may help."""
        return self.reason.passes is Passes.BY_ITSELF


def look_up_failures(
    failures: Iterable[SourceFailure], stage: str, subject: str
) -> tuple[Failure, ...]:
    """Return one failure per failed look-up."""
    return tuple(
        Failure(
            stage=stage,
            subject=subject,
            reason=failure.reason,
            detail=f"{failure.source} {failure.endpoint}: {failure.detail}",
        )
        for failure in failures
    )


def call_failures(
    unscored_calls: Iterable[Unscored], stage: str, subject: str
) -> tuple[Failure, ...]:
    """Return failures of calls, with equal ones merged and counted."""
    counts = Counter((call.reason, call.detail) for call in unscored_calls)
    return tuple(
        Failure(
            stage=stage,
            subject=subject,
            reason=reason,
            detail=detail if count == 1 else f"{count} calls: {detail}",
        )
        for (reason, detail), count in counts.items()
    )


CAUSE_CHARACTERS = 200
_CALL_COUNT = bounded(r"(\d{1,9}) calls: ")


def commonest_cause(details: Iterable[str]) -> str:
    """Return the most frequent error message of failed calls; empty if there is none."""
    counts: Counter[str] = Counter()
    for detail in details:
        match = _CALL_COUNT.match(detail)
        cause = detail[match.end() :] if match else detail
        counts[cause.strip(" .")] += int(match[1]) if match else 1
    del counts[""]
    ((cause, _),) = counts.most_common(1) or [("", 0)]
    return cause if len(cause) <= CAUSE_CHARACTERS else f"{cause[:CAUSE_CHARACTERS]}…"


def own_publication_failures(papers: Iterable[Paper], stage: str) -> list[Failure]:
    """Return failures for papers excluded as the idea's own publication."""
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
