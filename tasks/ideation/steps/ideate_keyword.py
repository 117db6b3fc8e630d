"""`ideate_keyword`: how concepts are related to those of an idea, and which to go on with.

Baseline: the first candidate; its relation is the sentence of the first paper that names both.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from tasks.judging.reply_fields import Key, Prose, SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step


class ShownCandidate(Noun):
    """A concept beside a keyword of the idea, with what papers say."""

    key: str
    keyword: str
    neighbour: str
    shared_count: int
    bridges: tuple[str, ...]
    papers: tuple[str, ...]


class KeywordInput(Noun):
    """Input of `ideate_keyword`."""

    seed: str = Field(min_length=1)
    keywords: tuple[str, ...] = Field(min_length=1)
    replaced_count: int = Field(ge=0, le=1, description="Keywords given up for the new one.")
    findings: tuple[str, ...]
    candidates: tuple[ShownCandidate, ...] = Field(min_length=1)


class ToldRelation(Reply):
    candidate: Key = Field(description="Key of the candidate.")
    relation: Text = Field(description="How papers relate it to the keyword, in a sentence or two.")


class KeywordReply(Reply):
    relations: Annotated[list[ToldRelation], SoundEntries] = Field(
        description="One for each candidate."
    )
    chosen: Prose = Field(
        default="", description="Key of the candidate to go on with; empty: none is worth it."
    )
    replaced: Prose = Field(
        default="", description="The keyword given up for it; empty where none is."
    )
    reason: Text = Field(description="Why this one, or why none, from the relations.")


async def baseline_keyword(inputs: KeywordInput, tools: BaselineTools) -> KeywordReply | NoAnswer:
    """The first candidate; relations are quoted, not summarised."""
    del tools
    first = inputs.candidates[0]
    return KeywordReply(
        relations=[
            ToldRelation(candidate=each.key, relation=each.papers[0] if each.papers else "unknown")
            for each in inputs.candidates
        ],
        chosen=first.key,
        replaced=inputs.keywords[-1] if inputs.replaced_count else "",
        reason=f"{first.neighbour} stands first among the concepts beside {first.keyword}",
    )


IDEATE_KEYWORD = Step(
    name="ideate_keyword",
    version=1,
    package="tasks.ideation",
    input_model=KeywordInput,
    output_model=KeywordReply,
    baseline=baseline_keyword,
)
