"""What became of the questions of a review."""

from collections.abc import Iterable, Iterator
from typing import Any

from schemas.failure import Failure
from schemas.outcome import Outcome, Provenance, Unscored
from tasks.judging.step import Step
from tasks.manuscripts.read import Manuscript


def unanswered(
    step: Step[Any, Any],
    manuscript: Manuscript,
    asked: Iterable[tuple[str, Outcome[Any] | None]],
) -> Iterator[Failure]:
    """A failure for each place about which no answer could be had: running again asks anew."""
    for place, outcome in asked:
        if isinstance(outcome, Unscored):
            yield Failure(
                stage=step.name,
                subject=f"{manuscript.manuscript_id} {place}",
                reason=outcome.reason,
                detail=outcome.detail,
            )


def joined(
    first: Provenance,
    outcomes: Iterable[Outcome[Any]],
    left_out: str | None,
) -> Provenance:
    """One provenance of all the answers, and of what was left out."""
    calls = tuple(call for outcome in outcomes for call in outcome.provenance.call_ids)
    shortening = "; ".join(told for told in (first.shortening, left_out) if told) or None
    return first.model_copy(update={"call_ids": calls, "shortening": shortening})
