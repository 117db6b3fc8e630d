"""The steps of ideation: which concept to go on with, and the proposal."""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Key, Prose, SoundEntries, Text
from tasks.judging.step import BaselineTools, NoAnswer, Step, no_baseline, steps_in


class ShownCandidate(Noun):
    key: str
    keyword: str
    neighbour: str
    shared_count: int
    bridges: tuple[str, ...]
    papers: tuple[str, ...]


class KeywordInput(Noun):
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
    """Choose the first candidate; relations are quoted, not summarized."""
    del tools
    first = inputs.candidates[0]
    return KeywordReply(
        relations=[
            ToldRelation(candidate=each.key, relation=each.papers[0] if each.papers else "unknown")
            for each in inputs.candidates
        ],
        chosen=first.key,
        replaced=inputs.keywords[-1] if inputs.replaced_count else "",
        reason=f"{first.neighbour} is the first of the concepts next to {first.keyword}",
    )


IDEATE_KEYWORD = Step(
    name="ideate_keyword",
    version=2,
    package="tasks.ideation",
    input_model=KeywordInput,
    output_model=KeywordReply,
    baseline=baseline_keyword,
)


class ShownFinding(Noun):
    key: str
    kind: str
    text: str


class ShownVersion(Noun):
    title: str
    keywords: tuple[str, ...]


class ProposalInput(Noun):
    seed: str = Field(min_length=1)
    keywords: tuple[str, ...] = Field(min_length=1)
    added: str = Field(description="The concept that is new in this version; empty: none is.")
    relations: tuple[str, ...]
    papers: tuple[str, ...]
    stack: tuple[ShownVersion, ...]
    revision: int = Field(ge=0, description="0: a first version; then how often it was revised.")
    parent: str
    findings: tuple[ShownFinding, ...]


class ToldAnswer(Reply):
    finding: Key = Field(description="Key of the finding.")
    quote: Prose = Field(description="The new words that answer it, copied from the text above.")


class ProposalReply(Reply):
    title: Text = Field(description="At most fifteen words.")
    background: Text = Field(description="At most 120 words.")
    problem: Text = Field(description="The question, so that it can be answered.")
    method: Text = Field(description="Step by step, in at most 250 words.")
    experiment: Text = Field(
        description="Data, baselines, measures, comparisons, in at most 200 words."
    )
    falsifier: Text = Field(description="Which result would show the idea to be wrong.")
    answers: list[ToldAnswer] = Field(default=[], description="Empty for a first version.")


IDEATE_PROPOSAL = Step(
    name="ideate_proposal",
    version=2,
    package="tasks.ideation",
    input_model=ProposalInput,
    output_model=ProposalReply,
    baseline=no_baseline("ideas are written with --engine litellm:MODEL; these are leads"),
    kind=StepKind.JUDGEMENT,
)


STEPS = steps_in(__name__)
