"""`prompt_with_search`: a review of an idea beside what one search found.

Baseline: what the plan leaves out, and what found papers say near it.
"""

from pydantic import Field

from schemas.base import Noun
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.benchmarks.steps.prompt_only import WholeReviewReply, extractive_review
from tasks.contribution.steps.shown import ShownPaper
from tasks.judging.step import BaselineTools, NoAnswer, Step


class PromptWithSearchInput(Noun):
    """Review an idea beside what one search found."""

    idea: str = Field(min_length=1)
    papers: tuple[ShownPaper, ...] = Field(min_length=1)


async def baseline_prompt_with_search(
    inputs: PromptWithSearchInput, tools: BaselineTools
) -> WholeReviewReply | NoAnswer:
    """As `baseline_prompt_only`, with the sentences of the found papers that come nearest to each
    method and dimension.
    """
    return await extractive_review(inputs.idea, inputs.papers, tools)


PROMPT_WITH_SEARCH = Step(
    name="prompt_with_search",
    version=2,
    package="tasks.benchmarks",
    input_model=PromptWithSearchInput,
    output_model=WholeReviewReply,
    baseline=baseline_prompt_with_search,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
