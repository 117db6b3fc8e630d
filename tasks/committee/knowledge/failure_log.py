"""What did not work out while knowledge was searched for: alike failures as one row that counts
them.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from schemas.base import replace
from schemas.failure import Failure, look_up_failures
from schemas.outcome import Unscored
from schemas.reasons import Reason
from schemas.retrieval import SourceFailure

STAGE = "committee"
READING_STAGE = "documents"
"""Of pages, repositories and full texts: a dead host leaves an evaluation complete, since it would
be as dead on every rerun.
"""


@dataclass(slots=True)
class FailureLog:
    """Collects failures of one idea's search, in the order they came up.

    Attributes:
        unanswered_searches: questions to sources that got no answer, and sources that could not be
            asked at all.
    """

    unanswered_searches: int = 0
    _counted: Counter[Failure] = field(default_factory=Counter)

    def add(self, subject: str, reason: Reason, detail: str) -> None:
        self._counted[Failure(stage=STAGE, subject=subject, reason=reason, detail=detail)] += 1

    def look_ups(self, failures: Iterable[SourceFailure], subject: str, stage: str = STAGE) -> None:
        """Look-ups that were not answered: what lies behind them is unknown, not absent."""
        self._counted.update(look_up_failures(failures, stage, subject))

    def readings(self, failures: Iterable[SourceFailure], subject: str) -> None:
        """Texts that could not be read; what the source says of them is known all the same."""
        self.look_ups(failures, subject, READING_STAGE)

    def searches(self, failures: Iterable[SourceFailure], source: str) -> None:
        """Failed look-ups of one search in `source`."""
        failures = tuple(failures)
        self.unanswered_searches += bool(failures)
        self.look_ups(failures, f"search in {source}")

    def not_searched(self, source: str, reason: Reason, detail: str) -> None:
        """A source that the profile names and that was never asked."""
        self.unanswered_searches += 1
        self.add(source, reason, f"{source} was not searched: {detail}")

    def unscored(self, outcome: Unscored, subject: str) -> None:
        """A call without a usable answer."""
        self.add(subject, outcome.reason, outcome.detail)

    def omission(self, subject: str, detail: str) -> None:
        """A reply that left out part of what was asked."""
        self.add(subject, Reason.REPLY_UNPARSABLE, detail)

    def rows(self) -> tuple[Failure, ...]:
        """One row per kind of failure; how often it came up stands in its detail."""
        return tuple(
            failure if count == 1 else replace(failure, detail=f"{count} times: {failure.detail}")
            for failure, count in self._counted.items()
        )
