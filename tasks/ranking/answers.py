"""What engines answer to the ranking step."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from schemas.base import Reply
from tasks.judging.reply_fields import Key, SoundEntries, Text

_SPELLINGS = {"a": "A", "b": "B", "tie": "tie", "first": "A", "second": "B", "draw": "tie", "equal": "tie", "both": "tie", "neither": "tie"}


def spelled(value: Any) -> Any:
    """`Idea B.`, `b`, `Tie` as models write them; anything else is left for the bounds to refuse."""
    if not isinstance(value, str):
        return value
    word = value.strip().strip(".*\"'[]()").casefold().removeprefix("idea").strip()
    return _SPELLINGS.get(word, value)


class DimensionVerdict(Reply):
    dimension: Key = Field(description="The name of the dimension, exactly as shown.")
    reason: Text = Field(description="What decides it, in one to three sentences, with keys such as [P3].")
    better: Annotated[Literal["A", "B", "tie"], BeforeValidator(spelled)] = Field(description="A, B or tie.")


class PairAnswer(Reply):
    """One verdict per dimension; a broken entry leaves its dimension unscored, not the others."""

    verdicts: Annotated[list[DimensionVerdict], Field(min_length=1), SoundEntries]


def verdict_along(answer: PairAnswer, dimension: str) -> DimensionVerdict | None:
    """The verdict along `dimension`; None when there is none, or two that contradict each other."""
    found = [verdict for verdict in answer.verdicts if verdict.dimension.casefold().replace(" ", "_") == dimension.casefold()]
    return found[0] if len({verdict.better for verdict in found}) == 1 else None
