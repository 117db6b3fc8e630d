"""Baseline of `compare_paper`: each dimension's statements against a paper's abstract."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tasks.contribution.answers import ComparisonAnswer, ComparisonEntry, DimensionComparison
from tasks.contribution.baselines.cues import OWN_WORK, meaningful_words, mentions, specific_phrases, specific_stems
from tasks.contribution.baselines.wording import Contrast, listed, quotable, worded
from tasks.contribution.questions import ComparisonQuestion, ShownDimension, ShownPaper
from tasks.contribution.similarity import paper_text
from tasks.judging.step import BaselineTools
from tasks.judging.text import rank_sentences, sentences

PHRASES_PER_STATEMENT = 4
COVERED_FROM = 0.40
"""Closeness from which the abstract counts as presenting the statement (-1)."""
ADDRESSED_FROM = 0.28
"""Closeness from which the abstract says enough about the statement to call it even (0)."""
SAME_SUBJECT_FROM = 0.14
"""Closeness from which the paper works on the same subject, so that what it lacks is the idea's own (+1); below, the dimension is not addressed (0)."""
OWN_WORK_BONUS = 0.15


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
    words: tuple[str, ...]
    vectors: NDArray[np.float32]


async def baseline_comparison(question: ComparisonQuestion, tools: BaselineTools) -> ComparisonAnswer:
    """Closeness of the best-matching statement decides the score; the abstract's nearest sentence and the phrases it has and lacks say why.

    Closeness = mean of the embedding cosine (statement, title and abstract) and the share of the statement's specific words the abstract
    has. A statement the abstract covers is -1, one it addresses 0, one it leaves open while on the same subject +1, else 0.
    """
    statements = [statement for dimension in question.dimensions for statement in dimension.statements]
    texts = [paper_text(paper.title, paper.abstract) for paper in question.papers]
    vectors = await tools.embedder.embed([*statements, *texts])
    dimensions: list[_DimensionRead] = []
    start = 0
    for dimension in question.dimensions:
        dimensions.append(_read_dimension(dimension, vectors[start : start + len(dimension.statements)]))
        start += len(dimension.statements)
    papers = [_read_paper(paper, vector) for paper, vector in zip(question.papers, vectors[len(statements) :], strict=True)]
    return ComparisonAnswer(papers=[_entry(paper, dimensions) for paper in papers])


def _read_dimension(dimension: ShownDimension, vectors: NDArray[np.float32]) -> _DimensionRead:
    phrases = [phrase for statement in dimension.statements for phrase in specific_phrases(statement, PHRASES_PER_STATEMENT)]
    stems = tuple(specific_stems(statement) for statement in dimension.statements)
    single_words = meaningful_words(" ".join(dimension.statements))
    return _DimensionRead(dimension, stems, tuple(dict.fromkeys(phrases)), tuple(dict.fromkeys(single_words)), vectors)


def _read_paper(paper: ShownPaper, vector: NDArray[np.float32]) -> _PaperRead:
    text = paper_text(paper.title, paper.abstract)
    return _PaperRead(paper.key, paper.title, specific_stems(text), tuple(sentences(paper.abstract)) or (paper.title,), vector)


def _entry(paper: _PaperRead, dimensions: list[_DimensionRead]) -> ComparisonEntry:
    compared = [_compared(paper, dimension) for dimension in dimensions]
    return ComparisonEntry(key=paper.key, overall_comparison=_overall(paper, compared, dimensions), dimensions=compared)


def _compared(paper: _PaperRead, dimension: _DimensionRead) -> DimensionComparison:
    closeness = max(_closeness(paper, stems, vector) for stems, vector in zip(dimension.stems, dimension.vectors, strict=True))
    shared = [phrase for phrase in dimension.phrases if mentions(paper.stems, phrase)]
    missing = [phrase for phrase in dimension.phrases if phrase not in shared]
    score = _score(closeness, bool(missing))
    shared = shared or [word for word in dimension.words if specific_stems(word) <= paper.stems]
    contrast = Contrast(quotable(_nearest_sentence(paper, dimension)), tuple(shared[:3]), tuple(missing[:3]))
    return DimensionComparison(dimension=dimension.shown.dimension_id, comparison=worded(contrast, score), score=score)


def _nearest_sentence(paper: _PaperRead, dimension: _DimensionRead) -> str:
    """The sentence nearest to the statements; one that says what the paper itself does is preferred to background."""
    ranked = rank_sentences(" ".join(dimension.shown.statements), paper.sentences, len(paper.sentences))
    return max(ranked, key=lambda pair: pair[0] + OWN_WORK_BONUS * bool(OWN_WORK.search(pair[1])))[1]


def _closeness(paper: _PaperRead, stems: frozenset[str], vector: NDArray[np.float32]) -> float:
    covered = len(stems & paper.stems) / (len(stems) or 1)
    return round(0.5 * max(float(vector @ paper.vector), 0.0) + 0.5 * covered, 4)


def _score(closeness: float, something_missing: bool) -> int:
    if closeness >= COVERED_FROM:
        return -1
    if closeness >= ADDRESSED_FROM or closeness < SAME_SUBJECT_FROM:
        return 0
    return 1 if something_missing else 0


def _overall(paper: _PaperRead, compared: list[DimensionComparison], dimensions: list[_DimensionRead]) -> str:
    def names(score: int) -> list[str]:
        return [dimension.shown.name.lower() for dimension, one in zip(dimensions, compared, strict=True) if one.score == score]

    ahead, behind = names(1), names(-1)
    parts = [f"Against “{quotable(paper.title)}”"]
    parts.append(f"the idea adds something in {listed(ahead)}" if ahead else "the idea adds nothing that the abstract leaves open")
    parts.append(f"and repeats much in {listed(behind)}." if behind else "and repeats little of it.")
    return " ".join(parts)
