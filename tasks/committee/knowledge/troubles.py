"""What did not work out while knowledge was searched for: alike troubles as one row that counts them."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from schemas.failure import Failure
from schemas.outcome import Unscored, UnscoredReason
from schemas.retrieval import SourceFailure

STAGE = "committee"
READING_STAGE = "documents"
"""Of pages, repositories and full texts: a dead host leaves an evaluation complete, since it would be as dead on every rerun."""
_MAY_PASS = frozenset({"rate_limited", "server_error", "timeout", "unreachable", "circuit_open", "malformed_answer"})
_ENGINE_MAY_PASS = frozenset({UnscoredReason.ENGINE_UNAVAILABLE, UnscoredReason.TIMED_OUT, UnscoredReason.SOURCE_UNAVAILABLE})


@dataclass(frozen=True, slots=True)
class _Kind:
    subject: str
    reason: str
    detail: str
    retryable: bool
    stage: str = STAGE


@dataclass(slots=True)
class Troubles:
    """Collects failures of one idea's search, in the order they came up.

    Attributes:
        unanswered_searches: questions to sources that got no answer, and sources that could not be asked at all.
    """

    unanswered_searches: int = 0
    _counted: dict[_Kind, int] = field(default_factory=dict)

    def add(self, subject: str, reason: str, detail: str, *, retryable: bool = False, stage: str = STAGE) -> None:
        kind = _Kind(subject, reason, detail, retryable, stage)
        self._counted[kind] = self._counted.get(kind, 0) + 1

    def look_ups(self, failures: Iterable[SourceFailure], subject: str, stage: str = STAGE) -> None:
        """Look-ups that were not answered: what lies behind them is unknown, not absent."""
        for failure in failures:
            self.add(
                subject,
                failure.reason,
                f"{failure.source} {failure.endpoint}: {failure.detail}",
                retryable=failure.reason in _MAY_PASS,
                stage=stage,
            )

    def readings(self, failures: Iterable[SourceFailure], subject: str) -> None:
        """Texts that could not be read; what the source says of them is known all the same."""
        self.look_ups(failures, subject, READING_STAGE)

    def searches(self, failures: Iterable[SourceFailure], source: str) -> None:
        """Failed look-ups of one search in `source`."""
        failures = tuple(failures)
        self.unanswered_searches += bool(failures)
        self.look_ups(failures, f"search in {source}")

    def not_searched(self, source: str, reason: str, detail: str) -> None:
        """A source that the profile names and that was never asked."""
        self.unanswered_searches += 1
        self.add(source, reason, f"{source} was not searched: {detail}")

    def unscored(self, outcome: Unscored, subject: str) -> None:
        """A call without a usable answer."""
        self.add(subject, outcome.reason.value, outcome.detail, retryable=outcome.reason in _ENGINE_MAY_PASS)

    def omission(self, subject: str, detail: str) -> None:
        """A reply that left out part of what was asked."""
        self.add(subject, UnscoredReason.REPLY_UNPARSABLE.value, detail)

    def rows(self) -> tuple[Failure, ...]:
        """One row per kind of failure; how often it came up stands in its detail."""
        return tuple(
            Failure(
                stage=kind.stage,
                subject=kind.subject,
                reason=kind.reason,
                detail=kind.detail if count == 1 else f"{count} times: {kind.detail}",
                retryable=kind.retryable,
            )
            for kind, count in self._counted.items()
        )
