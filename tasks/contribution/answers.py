"""What engines answer to the contribution steps."""

from typing import Annotated, Self

from pydantic import (
    Field,
    model_validator,
)

from schemas.base import Reply
from tasks.judging.reply_fields import Key, KeyedEntry, SoundEntries, Text


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
