"""What every part of the module works with, and how what went wrong is written down."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from schemas.base import replace
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.judgement.contribution import ContributionReview, Dimension
from schemas.outcome import Provenance
from schemas.profile import ContributionParameters
from schemas.reasons import Reason
from tasks.contribution.before import Before
from tasks.embeddings.similarity import Nearness
from tasks.judging.step import Engine, Step
from tasks.literature.client import LiteratureClient
from tasks.text.words import Excerpt

STAGE = "contribution"


@dataclass(frozen=True, slots=True)
class Context:
    """One idea under evaluation, and the means.

    Attributes:
        plan: the idea as prompts about papers show it, all of them alike.
    """

    idea: Idea
    plan: Excerpt
    parameters: ContributionParameters
    engine: Engine
    literature: LiteratureClient
    nearness: Nearness
    before: Before


def omission(subject: str, detail: str) -> Failure:
    """A reply that left out part of what was asked."""
    return Failure(stage=STAGE, subject=subject, reason=Reason.REPLY_UNPARSABLE, detail=detail)


def not_asked(step: Step[Any, Any], like: Provenance) -> Provenance:
    """Provenance of something `step` was never asked: same engine as `like`, nothing answered, no
    calls.
    """
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


def unreviewed(
    dimension: Dimension, reason: Reason, detail: str, provenance: Provenance
) -> ContributionReview:
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
