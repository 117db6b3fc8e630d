"""What engines answer to the contribution steps.

A list of answers about several papers survives one broken entry: entries outside their bounds are left
out, and the caller leaves those papers unscored. A reply without a single sound entry is unparsable.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    BeforeValidator,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from schemas.base import Reply

EntryT = TypeVar("EntryT", bound="KeyedEntry")


def _bare_key(value: Any) -> Any:
    return value.strip().strip("[]()").strip() if isinstance(value, str) else value


def _sound_entries(values: Any, validate: ValidatorFunctionWrapHandler) -> Any:
    """Validate a list; where that fails, the entries that are sound on their own."""
    try:
        return validate(values)
    except ValidationError:
        sound = [value for value in values if _is_sound(value, validate)] if isinstance(values, list) else []
        if not sound:
            raise
        return validate(sound)


def _is_sound(value: Any, validate: ValidatorFunctionWrapHandler) -> bool:
    try:
        validate([value])
    except ValidationError:
        return False
    return True


SoundEntries = WrapValidator(_sound_entries)
Key = Annotated[str, BeforeValidator(_bare_key), Field(min_length=1)]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class KeyedEntry(Reply):
    """An entry of a reply about several things, told apart by key."""

    key: Key = Field(description="The key of the paper, exactly as shown.")


class DimensionAnswer(Reply):
    name: Text = Field(description="Two to five words.")
    statements: Annotated[list[Text], Field(min_length=1), SoundEntries] = Field(description="Self-contained contribution statements.")


class DimensionsAnswer(Reply):
    dimensions: Annotated[list[DimensionAnswer], SoundEntries] = Field(description="None where the idea claims to contribute nothing.")


class StatementQueries(Reply):
    statement: int = Field(ge=1, description="The number of the statement, as shown.")
    queries: Annotated[list[Text], Field(min_length=1)] = Field(description="Short search queries.")


class QueriesAnswer(Reply):
    statements: Annotated[list[StatementQueries], Field(min_length=1), SoundEntries]


class RelevanceEntry(KeyedEntry):
    rationale: str = Field(description="One or two sentences: what is shared and what differs.")
    score: int = Field(ge=0, le=5)


class RelevanceAnswer(Reply):
    papers: Annotated[list[RelevanceEntry], Field(min_length=1), SoundEntries]


class DimensionComparison(Reply):
    dimension: Key = Field(description="The identifier of the dimension, such as d1.")
    comparison: Text = Field(description="What the idea does that the paper does not, or the reverse.")
    score: int = Field(ge=-1, le=1, description="1 the idea is more novel, 0 neither or not addressed, -1 the paper.")


class ComparisonEntry(KeyedEntry):
    overall_comparison: Text = Field(description="Overlap and originality, in two or three sentences.")
    dimensions: Annotated[list[DimensionComparison], Field(min_length=1), SoundEntries]


class ComparisonAnswer(Reply):
    papers: Annotated[list[ComparisonEntry], Field(min_length=1), SoundEntries]


class ReviewAnswer(Reply):
    """Each text cites papers as [P3]; a section may be empty when the comparisons give nothing for it, not all of them."""

    strengths: str = Field(description="Where the idea is novel along this dimension, with keys.")
    weaknesses: str = Field(description="Where earlier work already covers it, with keys.")
    suggestions: str = Field(description="How to make the contribution more novel, with keys.")

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.strengths.strip() or self.weaknesses.strip() or self.suggestions.strip()):
            raise ValueError("all three sections are empty")
        return self


def by_key(entries: Sequence[EntryT], shown: Iterable[str]) -> dict[str, EntryT]:
    """The entries under the keys that were shown, whatever their case; a key answered twice with different content is left out."""
    canonical = {key.casefold(): key for key in shown}
    found: dict[str, EntryT] = {}
    contradicted: set[str] = set()
    for entry in entries:
        key = canonical.get(entry.key.casefold())
        if key is None:
            continue
        if key in found and found[key] != entry:
            contradicted.add(key)
        found.setdefault(key, entry)
    return {key: entry for key, entry in found.items() if key not in contradicted}
