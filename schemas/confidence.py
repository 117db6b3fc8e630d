"""How sure a score is, apart from the score itself: 0 to 3."""

from collections.abc import Iterable
from statistics import median_low
from typing import Annotated

from pydantic import Field

CONFIDENCE_MEANING = (
    "0 none or too little evidence, 1 little, 2 fair, 3 several strong and independent pieces"
)
Confidence = Annotated[int, Field(ge=0, le=3)]


def confidence_by_evidence(*, strong: int, fair: int) -> int:
    """Confidence 0 to 3 in a score that rests on `strong` and `fair` pieces of evidence.

    With w = 2 · strong + fair: 0 where w < 2; 1 where w < 4; 3 where w ≥ 6 and two pieces are
    strong; else 2.
    """
    weight = 2 * strong + fair
    if weight < 2:
        return 0
    if weight < 4:
        return 1
    return 3 if weight >= 6 and strong >= 2 else 2


def confidence_of_all(confidences: Iterable[int | None]) -> int:
    """Of several judgements together: the median, the lower of two; None, an unscored one, counts
    as 0. 0 without any.
    """
    known = [confidence or 0 for confidence in confidences]
    return median_low(known) if known else 0
