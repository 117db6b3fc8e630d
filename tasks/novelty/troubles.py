"""How what went wrong in the novelty module is written down."""

from collections.abc import Iterable

from schemas.failure import Failure
from schemas.outcome import Unscored
from schemas.retrieval import SourceFailure
from tasks.ranking.matching import ASK_AGAIN

STAGE = "novelty"
_RETRYABLE_SOURCE_REASONS = frozenset({"rate_limited", "server_error", "timeout", "unreachable", "circuit_open"})


def engine_failure(unscored: Unscored, subject: str) -> Failure:
    """A call that gave no answer."""
    return Failure(stage=STAGE, subject=subject, reason=unscored.reason, detail=unscored.detail, retryable=unscored.reason in ASK_AGAIN)


def search_failures(failures: Iterable[SourceFailure], query: str) -> list[Failure]:
    """One failure per search that was not answered."""
    return [
        Failure(
            stage=STAGE,
            subject=query,
            reason=failure.reason,
            detail=f"{failure.source} {failure.endpoint}: {failure.detail}",
            retryable=failure.reason in _RETRYABLE_SOURCE_REASONS,
        )
        for failure in failures
    ]
