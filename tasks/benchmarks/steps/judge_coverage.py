"""Step `judge_coverage`: coverage of an expert's statement by a review.

Baseline: similarity of the statement to the review's most similar sentences.
"""

from functools import lru_cache

from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judging import LONG_ANSWER_TOKENS, StepKind, Wording
from tasks.judging.reply_fields import Prose
from tasks.judging.step import BaselineTools, Step
from tasks.text.words import content_words, outcome_cue, rank_sentences, sentences


class CoverageInput(Noun):
    """Input of `judge_coverage`: a review, and one statement of an expert."""

    review: str = Field(min_length=1)
    statement: str = Field(min_length=1, description="One statement of an expert's review.")
    wording: Wording = Wording.OWN


class CoverageReply(Reply):
    """How far the review expresses the statement."""

    reason: Prose = Field(
        description="Where the review says it, or what it misses, in one or two sentences."
    )
    score: int = Field(ge=1, le=5, description="1 not at all, 5 clearly and whole.")


SENTENCES_EMBEDDED = 3
"""Candidates by shared words; embedding a whole review would cost a hundred times as much."""
THRESHOLDS = ((0.70, 5), (0.58, 4), (0.46, 3), (0.32, 2))
"""Least nearness of each grade; lower values have grade 1.

Set by hand, not calibrated on a judge's grades: scores of the extractive engine compare systems
with each other, and do not predict a model's grades.
"""
_OPPOSITE_PENALTY = 0.10


async def baseline_coverage(inputs: CoverageInput, tools: BaselineTools) -> CoverageReply:
    """Grade the nearest sentence from 1 to 5.

    Nearness: 0.7 × embedding cosine + 0.3 × the share of the statement's content words in the
    candidate sentences, less a penalty if one praises and the other criticizes.
    """
    nearest_sentences = [
        sentence
        for _, sentence in rank_sentences(
            inputs.statement, _sentences(inputs.review), SENTENCES_EMBEDDED
        )
    ]
    if not nearest_sentences:
        return CoverageReply(reason="The review has no sentence.", score=1)
    vectors = await tools.embedder.embed([inputs.statement, *nearest_sentences])
    cosines = (vectors[1:] @ vectors[0]).tolist()
    statement_words = set(content_words(inputs.statement))
    shared_share = (
        len(
            statement_words
            & {word for sentence in nearest_sentences for word in content_words(sentence)}
        )
        / len(statement_words)
        if statement_words
        else 0.0
    )
    nearness = [
        0.7 * max(cosine, 0.0) + 0.3 * shared_share - _against(inputs.statement, sentence)
        for cosine, sentence in zip(cosines, nearest_sentences, strict=True)
    ]
    place = max(range(len(nearest_sentences)), key=lambda number: (nearness[number], -number))
    score = next((grade for threshold, grade in THRESHOLDS if nearness[place] >= threshold), 1)
    return CoverageReply(
        reason=f'The nearest sentence ({nearness[place]:.2f} of 1): "{nearest_sentences[place]}"',
        score=score,
    )


@lru_cache(maxsize=64)
def _sentences(review: str) -> tuple[str, ...]:
    """Split a review once for all statements about it."""
    return tuple(sentences(review))


def _against(statement: str, sentence: str) -> float:
    cues = {outcome_cue(statement), outcome_cue(sentence)}
    return _OPPOSITE_PENALTY if cues == {"positive", "negative"} else 0.0


JUDGE_COVERAGE = Step(
    name="judge_coverage",
    version=3,
    package="tasks.benchmarks",
    input_model=CoverageInput,
    output_model=CoverageReply,
    baseline=baseline_coverage,
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
