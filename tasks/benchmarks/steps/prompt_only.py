"""`prompt_only`: a review of an idea from memory.

Baseline: what the plan leaves out.
"""

from pydantic import Field

from schemas.base import Noun
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.benchmarks.steps.whole_review import WholeReviewReply, extractive_review
from tasks.judging.step import BaselineTools, NoAnswer, Step


class PromptOnlyInput(Noun):
    """Review an idea from memory."""

    idea: str = Field(min_length=1)
    cutoff: str = Field(description="YYYY-MM-DD; empty: no bound.")


async def baseline_prompt_only(
    inputs: PromptOnlyInput, tools: BaselineTools
) -> WholeReviewReply | NoAnswer:
    """Methods and dimensions as the modules' own baselines find them, with good practices the plan
    leaves out; nothing is cited.
    """
    return await extractive_review(inputs.idea, (), tools)


PROMPT_ONLY = Step(
    name="prompt_only",
    version=2,
    package="tasks.benchmarks",
    input_model=PromptOnlyInput,
    output_model=WholeReviewReply,
    baseline=baseline_prompt_only,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
