"""`contribution_review`: review of the contribution along one dimension by its comparisons.

Baseline: the overlapping statements with their papers, and the number of papers without any.
"""

from typing import Self

from pydantic import Field, model_validator

from schemas.base import Noun, Reply
from schemas.judgement.contribution import Overlap
from schemas.judging import StepKind
from schemas.reasons import Reason
from tasks.contribution.steps.extract_dimensions import ShownDimension
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.judging.suggestions import ProposedSuggestions
from tasks.text.quotations import cited, passages
from tasks.text.words import rank_sentences, sentences


class ShownComparison(Noun):
    key: str
    title: str
    year: int | None
    score: int | None = Field(
        ge=-1,
        le=1,
        description="None: no comparison was made, and `comparison` is the paper's abstract.",
    )
    comparison: str
    overlap: Overlap | None = None
    remains: str = Field(default="", description="What remains new if the paper is granted.")
    overall: str = Field(default="", description="Of the closest works: the comparison as a whole.")
    abstract: str = Field(default="", description="Of the closest works.")


class ReviewInput(Noun):
    idea: str = Field(min_length=1)
    idea_words_left_out: int = Field(
        default=0, ge=0, description="The sentences nearest to the dimensions are shown."
    )
    dimension: ShownDimension
    comparisons: tuple[ShownComparison, ...] = Field(min_length=1)
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of each section; None: as many as it needs."
    )


class ReviewReply(Reply):
    """Each text cites papers as [P3]; a section may be empty when the comparisons give nothing for
    it, not all of them.
    """

    strengths: str = Field(description="Where the idea is novel along this dimension, with keys.")
    weaknesses: str = Field(description="Where earlier work already covers it, with keys.")
    suggestions: ProposedSuggestions = Field(
        default=(), description="Up to two changes that set it apart, the more useful first."
    )

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.strengths.strip() or self.weaknesses.strip() or self.suggestions):
            raise ValueError("all three sections are empty")
        return self


OVERLAPS_SHOWN = 5


async def baseline_review(inputs: ReviewInput, tools: BaselineTools) -> ReviewReply | NoAnswer:
    """List overlapping statements as weaknesses, and count works without any as a strength.

    Suggestions stay empty, as they cannot be derived from wording. NoAnswer(no_evidence) if
    uncompared abstracts share no word with the statements.
    """
    del tools
    if all(comparison.score is None for comparison in inputs.comparisons):
        return _review_abstracts(inputs)
    overlapping = [each for each in inputs.comparisons if _overlaps(each)]
    overlapping.sort(key=lambda each: each.score or 0)
    distinct_keys = [each.key for each in inputs.comparisons if not _overlaps(each)]
    return ReviewReply(
        strengths=(
            f"Works compared that have no overlapping statement: {len(distinct_keys)} of"
            f" {len(inputs.comparisons)} {cited(distinct_keys)}"
            if distinct_keys
            else ""
        ),
        weaknesses="\n\n".join(
            f"{each.comparison} [{each.key}]" for each in overlapping[:OVERLAPS_SHOWN]
        ),
    )


def _overlaps(comparison: ShownComparison) -> bool:
    return (comparison.score or 0) < 0 or comparison.overlap not in (None, Overlap.NONE)


def _review_abstracts(inputs: ReviewInput) -> ReviewReply | NoAnswer:
    """Review uncompared abstracts by their sentences nearest to the statements."""
    statements = " ".join(inputs.dimension.statements)
    nearest_sentences = [
        (*max(rank_sentences(statements, sentences(paper.comparison), 1), default=(0.0, "")), paper)
        for paper in inputs.comparisons
    ]
    ranked_overlaps = sorted(
        (each for each in nearest_sentences if each[0] > 0), key=lambda each: -each[0]
    )
    if not ranked_overlaps:
        return NoAnswer(Reason.NO_EVIDENCE, "no abstract shares a word with the statements")
    return ReviewReply(
        strengths="",
        weaknesses=passages(
            (sentence, paper.key) for _, sentence, paper in ranked_overlaps[:OVERLAPS_SHOWN]
        ),
    )


CONTRIBUTION_REVIEW = Step(
    name="contribution_review",
    version=9,
    package="tasks.contribution",
    input_model=ReviewInput,
    output_model=ReviewReply,
    baseline=baseline_review,
    kind=StepKind.JUDGEMENT,
)
