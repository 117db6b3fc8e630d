"""Baseline of `check_aspect`: an argument counts as borne out where a text comes close to it."""

from tasks.benchmarks.novelty_grading.answers import CheckAnswer, CheckedArgument
from tasks.benchmarks.novelty_grading.questions import CheckQuestion
from tasks.judging.step import BaselineTools
from tasks.novelty.closeness import closeness_of

SUPPORTED = 0.45
"""Closeness from which an argument counts as borne out: below that of a covered statement, for arguments name what texts spell out.

Set by hand, held against no judge's answers."""


async def baseline_check(question: CheckQuestion, tools: BaselineTools) -> CheckAnswer:
    """Closeness of each argument to its closest text (see `tasks.novelty.closeness`), cut at `SUPPORTED`."""
    texts = [("", source.text) for source in question.sources]
    closeness = await closeness_of(question.arguments, texts, tools.embedder)
    return CheckAnswer(
        arguments=[CheckedArgument(number=number, supported=value >= SUPPORTED) for number, value in enumerate(closeness.values, start=1)]
    )
