"""Answers of a suite as rows of `benchmark_items`."""

from typing import TypeVar

from schemas.base import replace
from schemas.benchmark import BenchmarkItem
from schemas.outcome import Scored, Unscored

ValueT = TypeVar("ValueT")


def unanswered(blank: BenchmarkItem, outcome: Unscored) -> BenchmarkItem:
    """`blank` with the reason why there is no answer."""
    return replace(blank, unscored_reason=outcome.reason, unscored_detail=outcome.detail, provenance=outcome.provenance)


def answered(
    blank: BenchmarkItem, answer: str, outcome: Scored[ValueT], *, value: float | None = None, explanation: str = ""
) -> BenchmarkItem:
    """`blank` with what was said."""
    return replace(
        blank,
        answer=answer,
        value=value,
        explanation=explanation,
        unscored_reason=None,
        unscored_detail="",
        provenance=outcome.provenance,
    )
