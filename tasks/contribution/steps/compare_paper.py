"""`compare_paper`: what is new in the idea, against each paper, along each dimension.

Baseline: each dimension's statements against a paper's abstract.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from schemas.base import Noun, Reply
from schemas.contribution import Overlap
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.contribution.steps.shown import ShownDimension, ShownPaper
from tasks.contribution.steps.wording import Contrast, worded
from tasks.embeddings.similarity import paper_text
from tasks.judging.reply_fields import Key, KeyedEntry, Prose, SoundEntries, Text, word_of
from tasks.judging.step import BaselineTools, Step
from tasks.text.cues import OWN_WORK
from tasks.text.phrases import (
    meaningful_words,
    mentions,
    salience,
    specific_phrases,
    specific_stems,
    stem_counts,
)
from tasks.text.wording import listed, quotable
from tasks.text.words import rank_sentences, sentences


class ComparisonInput(Noun):
    """What is new in the idea, against each paper, along each dimension?"""

    idea: str = Field(min_length=1)
    dimensions: tuple[ShownDimension, ...] = Field(min_length=1)
    papers: tuple[ShownPaper, ...] = Field(min_length=1)
    words_per_text: int | None = Field(
        default=None, ge=1, description="Asked of each comparison; None: as many as it needs."
    )


class DimensionComparison(Reply):
    dimension: Key = Field(description="The identifier of the dimension, such as d1.")
    overlap: Annotated[Overlap | None, word_of(Overlap)] = Field(
        default=None, description="How much of the idea along the dimension the paper has."
    )
    comparison: Prose = Field(
        description=(
            "What the idea does that the paper does not, or the reverse; empty when the "
            "abstract does not touch the dimension."
        )
    )
    score: int = Field(
        ge=-1,
        le=1,
        description="1 the idea is more novel, 0 level or not addressed, -1 the paper.",
    )


class ComparisonEntry(KeyedEntry):
    overall_comparison: Text = Field(
        description="Overlap and originality, in two or three sentences."
    )
    remains: Prose = Field(default="", description="What remains new if the paper is granted.")
    quote: Prose = Field(default="", description="The abstract's own words where it overlaps most.")
    dimensions: Annotated[list[DimensionComparison], Field(min_length=1), SoundEntries]


class ComparisonReply(Reply):
    papers: Annotated[list[ComparisonEntry], Field(min_length=1), SoundEntries]


PHRASES_PER_STATEMENT = 4
COVERED_FROM = 0.40
"""Closeness from which the abstract counts as presenting the statement (-1), if it also has
`MINIMUM_COVERED` of its specific words.
"""
MINIMUM_COVERED = 0.25
ADDRESSED_FROM = 0.28
"""Closeness from which the abstract says enough about the statement to call it even (0)."""
SAME_SUBJECT_FROM = 0.14
"""Closeness from which the paper is on the statement's subject: what it lacks is the idea's own
(+1).

Below, it says nothing of it (0).
"""
OWN_WORK_BONUS = 0.25
_OVERLAPS = {-1: Overlap.SUBSTANTIAL, 0: Overlap.PARTIAL, 1: Overlap.NONE}
"""That two works are the same cannot be told by their words."""


@dataclass(frozen=True, slots=True)
class _PaperRead:
    """A paper taken apart once for all dimensions."""

    key: str
    title: str
    stems: frozenset[str]
    sentences: tuple[str, ...]
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _DimensionRead:
    """A dimension taken apart once for all papers."""

    shown: ShownDimension
    stems: tuple[frozenset[str], ...]
    phrases: tuple[str, ...]
    words: tuple[str, ...]  # those the idea uses more than once, its commonest first
    vectors: NDArray[np.float32]


async def baseline_comparison(inputs: ComparisonInput, tools: BaselineTools) -> ComparisonReply:
    """Closeness to each statement decides the score; the abstract's nearest sentence and the
    phrases it has and lacks say why.

    Closeness = mean of the embedding cosine (statement, title and abstract) and the share of the
    statement's specific words the abstract has. One covered statement makes -1, one addressed 0; +1
    takes a paper on the subject that leaves all of them open.
    """
    statements = [
        statement for dimension in inputs.dimensions for statement in dimension.statements
    ]
    texts = [paper_text(paper.title, paper.abstract) for paper in inputs.papers]
    vectors = await tools.embedder.embed([*statements, *texts])
    frequency = stem_counts(inputs.idea)
    dimensions: list[_DimensionRead] = []
    start = 0
    for dimension in inputs.dimensions:
        dimensions.append(
            _read_dimension(
                dimension, vectors[start : start + len(dimension.statements)], frequency
            )
        )
        start += len(dimension.statements)
    papers = [
        _read_paper(paper, vector)
        for paper, vector in zip(inputs.papers, vectors[len(statements) :], strict=True)
    ]
    return ComparisonReply(papers=[_entry(paper, dimensions) for paper in papers])


def _read_dimension(
    dimension: ShownDimension, vectors: NDArray[np.float32], frequency: Counter[str]
) -> _DimensionRead:
    by_stems: dict[frozenset[str], str] = {}
    for statement in dimension.statements:
        for phrase in specific_phrases(statement, PHRASES_PER_STATEMENT):
            by_stems.setdefault(specific_stems(phrase), phrase)
    stems = tuple(specific_stems(statement) for statement in dimension.statements)
    said = {
        specific_stems(word): word
        for word in reversed(meaningful_words(" ".join(dimension.statements)))
    }
    single_words = sorted(
        (word for word in said.values() if salience(word, frequency) > 1),
        key=lambda word: (-salience(word, frequency), word),
    )
    return _DimensionRead(dimension, stems, tuple(by_stems.values()), tuple(single_words), vectors)


def _read_paper(paper: ShownPaper, vector: NDArray[np.float32]) -> _PaperRead:
    text = paper_text(paper.title, paper.abstract)
    return _PaperRead(
        paper.key,
        paper.title,
        specific_stems(text),
        tuple(sentences(paper.abstract)) or (paper.title,),
        vector,
    )


def _entry(paper: _PaperRead, dimensions: list[_DimensionRead]) -> ComparisonEntry:
    compared = [_compared(paper, dimension) for dimension in dimensions]
    overlapping = [
        dimension
        for dimension, one in zip(dimensions, compared, strict=True)
        if one.overlap not in (Overlap.NONE, Overlap.NOT_ADDRESSED)
    ]
    return ComparisonEntry(
        key=paper.key,
        overall_comparison=_overall(paper, compared, dimensions),
        quote=_nearest_sentence(paper, overlapping[0]) if overlapping else "",
        dimensions=compared,
    )


def _compared(paper: _PaperRead, dimension: _DimensionRead) -> DimensionComparison:
    shared = [phrase for phrase in dimension.phrases if mentions(paper.stems, phrase)]
    missing = [phrase for phrase in dimension.phrases if phrase not in shared]
    scores = [
        _score(paper, stems, vector)
        for stems, vector in zip(dimension.stems, dimension.vectors, strict=True)
    ]
    score = -1 if -1 in scores else 1 if 1 in scores and 0 not in scores and missing else 0
    shared = shared or [word for word in dimension.words if specific_stems(word) <= paper.stems]
    contrast = Contrast(
        quotable(_nearest_sentence(paper, dimension)), tuple(shared[:3]), tuple(missing[:3])
    )
    return DimensionComparison(
        dimension=dimension.shown.dimension_id,
        overlap=_OVERLAPS[score]
        if any(each is not None for each in scores)
        else Overlap.NOT_ADDRESSED,
        comparison=worded(contrast, score),
        score=score,
    )


def _nearest_sentence(paper: _PaperRead, dimension: _DimensionRead) -> str:
    """The sentence nearest to the statements; one that says what the paper itself does is preferred
    to background.
    """
    ranked = rank_sentences(
        " ".join(dimension.shown.statements), paper.sentences, len(paper.sentences)
    )
    return max(ranked, key=lambda pair: pair[0] + OWN_WORK_BONUS * bool(OWN_WORK.search(pair[1])))[
        1
    ]


def _score(paper: _PaperRead, stems: frozenset[str], vector: NDArray[np.float32]) -> int | None:
    """One statement against the paper; None when the paper says nothing of it."""
    covered = len(stems & paper.stems) / (len(stems) or 1)
    closeness = 0.5 * max(float(vector @ paper.vector), 0.0) + 0.5 * covered
    if closeness >= COVERED_FROM and covered >= MINIMUM_COVERED:
        return -1
    if closeness >= ADDRESSED_FROM:
        return 0
    return 1 if closeness >= SAME_SUBJECT_FROM else None


def _overall(
    paper: _PaperRead, compared: list[DimensionComparison], dimensions: list[_DimensionRead]
) -> str:
    def names(score: int) -> list[str]:
        return [
            dimension.shown.name.lower()
            for dimension, one in zip(dimensions, compared, strict=True)
            if one.score == score
        ]

    ahead, behind = names(1), names(-1)
    parts = [f"Against “{quotable(paper.title)}”"]
    parts.append(
        f"the idea adds something in {listed(ahead)}"
        if ahead
        else "the idea adds nothing that the abstract leaves open"
    )
    parts.append(
        f"and repeats much in {listed(behind)}." if behind else "and repeats little of it."
    )
    return " ".join(parts)


COMPARE_PAPER = Step(
    name="compare_paper",
    version=5,
    package="tasks.contribution",
    input_model=ComparisonInput,
    output_model=ComparisonReply,
    baseline=baseline_comparison,
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
