"""Answers of a suite as rows of `benchmark_items`."""

from typing import Any, TypeVar

from schemas.judgement.benchmark import BenchmarkItem
from schemas.outcome import Scored, Unscored

ValueT = TypeVar("ValueT")


def unanswered(outcome: Unscored, **asked: Any) -> BenchmarkItem:
    """What was `asked`, with the reason why there is no answer."""
    return BenchmarkItem(
        answer=None,
        unscored_reason=outcome.reason,
        unscored_detail=outcome.detail,
        provenance=outcome.provenance,
        **asked,
    )


def answered(
    outcome: Scored[ValueT],
    answer: str,
    *,
    value: float | None = None,
    explanation: str = "",
    **asked: Any,
) -> BenchmarkItem:
    """What was `asked`, with what was said."""
    return BenchmarkItem(
        answer=answer,
        value=value,
        explanation=explanation,
        provenance=outcome.provenance,
        **asked,
    )
