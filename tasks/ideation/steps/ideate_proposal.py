"""`ideate_proposal`: a research proposal from concepts and how papers relate them, or a revision
of one that answers findings about it.

Baseline: none. The extractive engine gives leads, and writes no idea.
"""

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Key, Prose, Text
from tasks.judging.step import Step, no_baseline


class ShownFinding(Noun):
    """What an evaluation found wanting in the version before."""

    key: str
    kind: str
    text: str


class ShownVersion(Noun):
    """An earlier version on the stack."""

    title: str
    keywords: tuple[str, ...]
    score: str


class ProposalInput(Noun):
    """Input of `ideate_proposal`."""

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
    title: Text
    background: Text = Field(description="What is known and what is missing.")
    problem: Text = Field(description="The question, so that it can be answered.")
    method: Text = Field(description="What is done, step by step.")
    experiment: Text = Field(description="Data, baselines, measures, comparisons.")
    falsifier: Text = Field(description="Which result would show the idea to be wrong.")
    answers: list[ToldAnswer] = Field(default=[], description="Empty for a first version.")


IDEATE_PROPOSAL = Step(
    name="ideate_proposal",
    version=1,
    package="tasks.ideation",
    input_model=ProposalInput,
    output_model=ProposalReply,
    baseline=no_baseline("ideas are written with --engine litellm:MODEL; these are leads"),
    kind=StepKind.JUDGEMENT,
)
