"""Baseline of `judge_alignment`: the expert's arguments found in the other text, and whether both lean the same way."""

from tasks.benchmarks.novelty_grading.answers import AlignmentAnswer, AspectsAnswer
from tasks.benchmarks.novelty_grading.baselines.aspects import baseline_aspects
from tasks.benchmarks.novelty_grading.questions import AlignmentQuestion, AspectsQuestion
from tasks.judging.step import BaselineTools
from tasks.novelty.closeness import measure
from tasks.text.words import overlap_0_to_1

CLOSENESS_WEIGHT = 0.5
OVERLAP_WEIGHT = 0.2
LEANING_WEIGHT = 0.3
"""The three weights were set by hand, held against no judge's scores."""


async def baseline_alignment(question: AlignmentQuestion, tools: BaselineTools) -> AlignmentAnswer:
    """0.5 × closeness of the expert's sentences to the other text + 0.2 × shared words + 0.3 × agreement of leaning, times ten.

    Leaning: the share of novel among all arguments of a text; agreement is 1 less the difference of the two.
    """
    closeness = await measure(question.expected, [("", question.actual)], tools.embedder)
    shared = overlap_0_to_1(question.expected, question.actual)
    near = closeness.mean if closeness is not None else shared
    theirs, ours = [
        _leaning(await baseline_aspects(AspectsQuestion(justification=text), tools)) for text in (question.expected, question.actual)
    ]
    agreement = 1 - abs(theirs - ours)
    value = CLOSENESS_WEIGHT * near + OVERLAP_WEIGHT * shared + LEANING_WEIGHT * agreement
    reason = f"closeness {near:.2f}, shared words {shared:.2f}, novel share of the arguments {theirs:.2f} and {ours:.2f}"
    return AlignmentAnswer(reason=reason, score=round(10 * min(value, 1.0)))


def _leaning(aspects: AspectsAnswer) -> float:
    total = len(aspects.known) + len(aspects.novel)
    return len(aspects.novel) / total if total else 0.5
