"""Step `prompted_novelty`: novelty of an idea by RINoBench's zero-shot question (Figure 6).

Baseline: that of `judge_novelty`.
"""

from typing import Annotated

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from tasks.judging.reply_fields import Text
from tasks.judging.step import BaselineTools, NoAnswer, Step
from tasks.novelty.steps.judge_novelty import NoveltyInput, WorkShown, baseline_judgement


class PromptedNoveltyInput(Noun):
    """Input of `prompted_novelty`: an idea and its related works."""

    idea: str = Field(min_length=1)
    works: tuple[WorkShown, ...] = Field(min_length=1)


class PromptedNoveltyReply(Reply):
    """One score, and the reasoning behind it."""

    justification: Text = Field(description="In two to four sentences.")
    score: Annotated[int, Field(ge=1, le=5)]


async def baseline_prompted_novelty(
    inputs: PromptedNoveltyInput, tools: BaselineTools
) -> PromptedNoveltyReply | NoAnswer:
    """Give the likeliest score of `judge_novelty` with its justification."""
    question = NoveltyInput(idea=inputs.idea, works=inputs.works, unanswered_searches=0)
    reply = await baseline_judgement(question, tools)
    if isinstance(reply, NoAnswer):
        return reply
    return PromptedNoveltyReply(justification=reply.justification, score=reply.score)


PROMPTED_NOVELTY = Step(
    name="prompted_novelty",
    version=1,
    package="tasks.benchmarks",
    input_model=PromptedNoveltyInput,
    output_model=PromptedNoveltyReply,
    baseline=baseline_prompted_novelty,
    kind=StepKind.JUDGEMENT,
)
