"""Step `prompted_contribution`: review of an idea's contribution by one prompt.

The counterpart of `prompted_soundness`. Baseline: sentences of papers near each dimension.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from schemas.base import Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.benchmarks.steps.prompted_soundness import PromptedSoundnessInput, nearest_sentences
from tasks.contribution.steps.extract_dimensions import DimensionsInput, baseline_dimensions
from tasks.judging.relevance import ShownPaper
from tasks.judging.reply_fields import Prose, SoundEntries
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.text.quotations import passages


class PromptedContributionInput(PromptedSoundnessInput):
    """Input of `prompted_contribution`."""


class ReviewedDimension(Reply):
    """One facet of the contribution."""

    dimension: Prose = Field(description="Its name.")
    strengths: Prose = ""
    weaknesses: Prose = ""
    suggestions: Prose = ""


class PromptedContributionReply(Reply):
    """Every dimension reviewed; a broken entry is left out, not the others."""

    dimensions: Annotated[list[ReviewedDimension], SoundEntries] = Field(min_length=1)


MAXIMUM_DIMENSIONS = 4


async def baseline_prompted_contribution(
    inputs: PromptedContributionInput, tools: BaselineTools
) -> PromptedContributionReply | NoAnswer:
    """Review the module's baseline dimensions by the nearest sentences of the papers."""
    extraction = await baseline_dimensions(
        DimensionsInput(idea=inputs.idea, maximum_dimensions=MAXIMUM_DIMENSIONS), tools
    )
    if isinstance(extraction, NoAnswer):
        return extraction
    return PromptedContributionReply(
        dimensions=[
            _dimension(facet.name, " ".join(facet.statements), inputs.papers)
            for facet in extraction.dimensions
        ]
    )


def _dimension(name: str, statements: str, papers: Sequence[ShownPaper]) -> ReviewedDimension:
    # The idea's own sentences are omitted: a judge of coverage would take them for a review.
    matches = nearest_sentences(statements, papers)
    return ReviewedDimension(
        dimension=name, weaknesses=passages((text, key) for text, key, _ in matches)
    )


PROMPTED_CONTRIBUTION = Step(
    name="prompted_contribution",
    version=2,
    package="tasks.benchmarks",
    input_model=PromptedContributionInput,
    output_model=PromptedContributionReply,
    baseline=baseline_prompted_contribution,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
