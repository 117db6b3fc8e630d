"""Baseline of `judge_preference`: what can be counted of both reviews."""

from collections.abc import Callable
from typing import Literal

from schemas.patterns import IGNORECASE, bounded
from tasks.benchmarks.answers import PreferenceReply
from tasks.benchmarks.links import cited_links
from tasks.benchmarks.questions import PreferenceQuestion
from tasks.judging.step import BaselineTools
from tasks.text.words import content_words, has_numbers, sentences

LEVEL_WITHIN = 0.1
"""Share of the larger count by which two counts may differ and still be level."""
_ADVICE = bounded(
    r"\b(?:consider|should|could|recommend\w*+|suggest\w*+|test|compare|report|add|include|use|clarify|weigh|say|try)\b", IGNORECASE
)


async def baseline_preference(question: PreferenceQuestion, tools: BaselineTools) -> PreferenceReply:
    """The larger count wins, unless both are within a tenth of each other.

    evidence: different addresses cited. actionability: sentences that advise. depth: sentences that cite and tell a figure or at
    least a dozen content words.
    """
    del tools
    evidence = _held(question, lambda review: len(set(cited_links(review))), "different works cited")
    advice = _held(question, _advising, "sentences that advise something")
    depth = _held(question, _specific, "sentences that tell specifics of a cited work")
    return PreferenceReply(
        evidence=evidence[0],
        evidence_reason=evidence[1],
        actionability=advice[0],
        actionability_reason=advice[1],
        depth=depth[0],
        depth_reason=depth[1],
    )


def _held(question: PreferenceQuestion, count: Callable[[str], int], what: str) -> tuple[Literal["A", "B", "tie"], str]:
    first, second = count(question.first), count(question.second)
    reason = f"Counted {what}: {first} in A, {second} in B."
    if abs(first - second) <= LEVEL_WITHIN * max(first, second):
        return "tie", reason
    return ("A" if first > second else "B"), reason


def _advising(review: str) -> int:
    return sum(1 for sentence in sentences(review) if _ADVICE.search(sentence))


def _specific(review: str) -> int:
    cited = [sentence for sentence in sentences(review) if cited_links(sentence)]
    return sum(1 for sentence in cited if has_numbers(sentence) or len(content_words(sentence)) >= 12)
