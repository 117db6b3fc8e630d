"""Step `judge_preference`: the better of two reviews of one idea, by criterion.

Baseline: counts of cited works, advice and specific statements.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from schemas.base import Noun, Reply
from schemas.judging import StepKind
from schemas.text.patterns import IGNORECASE, bounded, linear
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, Step
from tasks.text.words import content_words, has_numbers, sentences


class PreferenceInput(Noun):
    """Input of `judge_preference`: two reviews of one idea."""

    first: str = Field(min_length=1, description="Review A.")
    second: str = Field(min_length=1, description="Review B.")


_SPELLINGS = {
    "a": "A",
    "b": "B",
    "tie": "tie",
    "first": "A",
    "second": "B",
    "draw": "tie",
    "equal": "tie",
    "both": "tie",
    "neither": "tie",
}


def normalize_answer(value: Any) -> Any:
    """Normalize answers such as `Idea B.`, `b` and `Tie`.

    Other values fail validation.
    """
    if not isinstance(value, str):
        return value
    word = value.strip().strip(".*\"'[]()").casefold().removeprefix("idea").strip()
    return _SPELLINGS.get(word, value)


Better = Annotated[Literal["A", "B", "tie"], BeforeValidator(normalize_answer)]


class PreferenceReply(Reply):
    """A verdict for each criterion, each with its reason."""

    evidence_reason: Prose = ""
    evidence: Better = Field(description="A, B or tie.")
    actionability_reason: Prose = ""
    actionability: Better = Field(description="A, B or tie.")
    depth_reason: Prose = ""
    depth: Better = Field(description="A, B or tie.")


_LINK = linear(r"\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")
LEVEL_WITHIN = 0.1
"""Share of the larger count by which two counts may differ in a tie."""
_ADVICE = bounded(
    r"\b(?:consider|should|could|recommend\w*+|suggest\w*+|test|compare|report|add|include|use"
    r"|clarify|weigh|say|try)\b",
    IGNORECASE,
)


async def baseline_preference(inputs: PreferenceInput, tools: BaselineTools) -> PreferenceReply:
    """Prefer the larger count by each criterion.

    Counts within a tenth are a tie. The counts by criterion are:
    evidence: distinct addresses cited.
    actionability: sentences with advice.
    depth: citing sentences with a number or at least a dozen content words.
    """
    del tools
    evidence = _compare_counts(
        inputs, lambda review: len(set(cited_links(review))), "different works cited"
    )
    advice = _compare_counts(inputs, _advice_count, "sentences that advise something")
    depth = _compare_counts(
        inputs, _specific_count, "sentences that tell specifics of a cited work"
    )
    return PreferenceReply(
        evidence=evidence[0],
        evidence_reason=evidence[1],
        actionability=advice[0],
        actionability_reason=advice[1],
        depth=depth[0],
        depth_reason=depth[1],
    )


def cited_links(review: str) -> list[str]:
    """Return the targets of all Markdown links, in order and with repetitions."""
    return _LINK.findall(review)


def _compare_counts(
    inputs: PreferenceInput, count: Callable[[str], int], what: str
) -> tuple[Literal["A", "B", "tie"], str]:
    first, second = count(inputs.first), count(inputs.second)
    reason = f"Counted {what}: {first} in A, {second} in B."
    if abs(first - second) <= LEVEL_WITHIN * max(first, second):
        return "tie", reason
    return ("A" if first > second else "B"), reason


def _advice_count(review: str) -> int:
    return sum(1 for sentence in sentences(review) if _ADVICE.search(sentence))


def _specific_count(review: str) -> int:
    linked_sentences = [sentence for sentence in sentences(review) if cited_links(sentence)]
    return sum(
        1
        for sentence in linked_sentences
        if has_numbers(sentence) or len(content_words(sentence)) >= 12
    )


JUDGE_PREFERENCE = Step(
    name="judge_preference",
    version=2,
    package="tasks.benchmarks",
    input_model=PreferenceInput,
    output_model=PreferenceReply,
    baseline=baseline_preference,
    kind=StepKind.JUDGEMENT,
)
