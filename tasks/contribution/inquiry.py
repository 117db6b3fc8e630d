"""What every part of the module works with, and how what went wrong is written down."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from schemas.base import replace
from schemas.contribution import ContributionReview, Dimension
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.outcome import Provenance, Unscored, UnscoredReason
from schemas.profile import ContributionParameters
from schemas.retrieval import SourceFailure
from tasks.contribution.similarity import Nearness
from tasks.judging.step import Engine, Step
from tasks.literature.client import LiteratureClient

STAGE = "contribution"
_RETRYABLE_REASONS = frozenset({UnscoredReason.ENGINE_UNAVAILABLE, UnscoredReason.TIMED_OUT, UnscoredReason.SOURCE_UNAVAILABLE})
_RETRYABLE_SOURCE_REASONS = frozenset({"rate_limited", "server_error", "timeout", "unreachable", "circuit_open"})


@dataclass(frozen=True, slots=True)
class Inquiry:
    """One idea under evaluation, and the means."""

    idea: Idea
    parameters: ContributionParameters
    engine: Engine
    literature: LiteratureClient
    nearness: Nearness


def look_up_failures(failures: Iterable[SourceFailure], subject: str) -> list[Failure]:
    """One failure per look-up that was not answered."""
    return [
        Failure(
            stage=STAGE,
            subject=subject,
            reason=failure.reason,
            detail=f"{failure.source} {failure.endpoint}: {failure.detail}",
            retryable=failure.reason in _RETRYABLE_SOURCE_REASONS,
        )
        for failure in failures
    ]


def engine_failures(unscored: Iterable[Unscored], subject: str) -> list[Failure]:
    """Calls about `subject` without an answer; alike ones (a spent budget ends hundreds) as one failure that counts them."""
    counted = Counter((one.reason, one.detail) for one in unscored)
    return [
        Failure(
            stage=STAGE,
            subject=subject,
            reason=reason,
            detail=detail if count == 1 else f"{count} calls: {detail}",
            retryable=reason in _RETRYABLE_REASONS,
        )
        for (reason, detail), count in counted.items()
    ]


def omission(subject: str, detail: str) -> Failure:
    """A reply that left out part of what was asked."""
    return Failure(stage=STAGE, subject=subject, reason=UnscoredReason.REPLY_UNPARSABLE, detail=detail)


def not_asked(step: Step[Any, Any], like: Provenance) -> Provenance:
    """Provenance of something `step` was never asked: same engine as `like`, nothing answered, no calls."""
    return replace(
        like,
        step=step.name,
        step_version=step.version,
        prompt_sha256=step.prompt_sha256,
        model_answered=None,
        created_at=datetime.now(UTC),
        shortening=None,
        call_ids=(),
    )


def unreviewed(dimension: Dimension, reason: UnscoredReason, detail: str, provenance: Provenance) -> ContributionReview:
    """A review that could not be written because there was nothing to write it from."""
    return ContributionReview(
        dimension_id=dimension.dimension_id,
        dimension=dimension.name,
        scored_comparison_count=0,
        unscored_comparison_count=0,
        unscored_reason=reason,
        unscored_detail=detail,
        provenance=provenance,
    )
