"""`compare_paper`: novelty of the idea compared with each paper, along each dimension.

Baseline: the idea's statements with the nearest sentences of the abstract.
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from schemas.base import Noun, Reply
from schemas.judgement.contribution import Overlap
from schemas.judging import LONG_ANSWER_TOKENS, StepKind
from tasks.contribution.steps.extract_dimensions import ShownDimension
from tasks.embeddings.similarity import paper_text
from tasks.judging.relevance import ShownPaper
from tasks.judging.reply_fields import Key, KeyedEntry, Prose, SoundEntries, Text, word_of
from tasks.judging.step import BaselineTools, Step
from tasks.text.phrases import specific_stems
from tasks.text.quotations import quotable
from tasks.text.signs import OWN_WORK
from tasks.text.words import rank_sentences, sentences


class ComparisonInput(Noun):
    idea: str = Field(min_length=1)
    idea_words_left_out: int = Field(
        default=0, ge=0, description="The sentences nearest to the dimensions are shown."
    )
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
    overall_comparison: Text = Field(description="Overlap and originality.")
    remains: Prose = Field(default="", description="What remains new if the paper is granted.")
    quote: Prose = Field(
        default="", description="6 to 25 words of the abstract, where it overlaps most."
    )
    dimensions: Annotated[list[DimensionComparison], Field(min_length=1), SoundEntries]


class ComparisonReply(Reply):
    papers: Annotated[list[ComparisonEntry], Field(min_length=1), SoundEntries]


COVERED_FROM = 0.40
"""Closeness from which the abstract covers the statement (-1), if it also has `MINIMUM_COVERED` of
its specific words.
"""
MINIMUM_COVERED = 0.25
ADDRESSED_FROM = 0.28
"""Closeness from which the abstract addresses the statement (0)."""
SAME_SUBJECT_FROM = 0.14
"""Closeness from which the paper has the statement's subject without addressing it (+1)."""
OWN_WORK_BONUS = 0.25
_OVERLAPS = {-1: Overlap.SUBSTANTIAL, 0: Overlap.PARTIAL, 1: Overlap.NONE}
"""Wording cannot show that two works are identical, so `Overlap` has no such baseline value."""


@dataclass(frozen=True, slots=True)
class _Paper:
    key: str
    stems: frozenset[str]
    sentences: tuple[str, ...]
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Statement:
    dimension: str
    text: str
    stems: frozenset[str]
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class _Match:
    """Closeness of one statement to a paper; `score` is None without a common subject."""

    statement: _Statement
    closeness_0_to_1: float
    score: int | None


async def baseline_comparison(inputs: ComparisonInput, tools: BaselineTools) -> ComparisonReply:
    """Score each dimension by closeness, and quote the nearest sentence of the abstract.

    Closeness = mean of the embedding cosine (statement with title and abstract) and the share of
    the statement's specific words in the abstract. One covered statement gives -1, one addressed 0;
    +1 requires a paper on the subject that addresses none of them.
    """
    statement_texts = [
        (each.dimension_id, text) for each in inputs.dimensions for text in each.statements
    ]
    texts = [paper_text(paper.title, paper.abstract) for paper in inputs.papers]
    vectors = await tools.embedder.embed([*(text for _, text in statement_texts), *texts])
    statements = [
        _Statement(dimension, text, specific_stems(text), vector)
        for (dimension, text), vector in zip(statement_texts, vectors, strict=False)
    ]
    papers = [
        _Paper(
            paper.key,
            specific_stems(text),
            tuple(sentences(paper.abstract)) or (paper.title,),
            vector,
        )
        for paper, text, vector in zip(
            inputs.papers, texts, vectors[len(statement_texts) :], strict=True
        )
    ]
    dimensions = [each.dimension_id for each in inputs.dimensions]
    return ComparisonReply(papers=[_entry(paper, statements, dimensions) for paper in papers])


def _entry(paper: _Paper, statements: list[_Statement], dimensions: list[str]) -> ComparisonEntry:
    matches = [_match(paper, statement) for statement in statements]
    closest = max(matches, key=lambda each: each.closeness_0_to_1)
    overlapping = closest.score is not None and closest.score <= 0
    return ComparisonEntry(
        key=paper.key,
        overall_comparison=_side_by_side(paper, closest) or "No statement of the idea comes close.",
        quote=_nearest_sentence(paper, closest.statement) if overlapping else "",
        dimensions=[
            _compare(paper, [each for each in matches if each.statement.dimension == dimension])
            for dimension in dimensions
        ],
    )


def _compare(paper: _Paper, matches: list[_Match]) -> DimensionComparison:
    closest = max(matches, key=lambda each: each.closeness_0_to_1)
    scores = {each.score for each in matches}
    score = -1 if -1 in scores else 1 if 1 in scores and 0 not in scores else 0
    return DimensionComparison(
        dimension=closest.statement.dimension,
        overlap=_OVERLAPS[score] if scores != {None} else Overlap.NOT_ADDRESSED,
        comparison=_side_by_side(paper, closest),
        score=score,
    )


def _side_by_side(paper: _Paper, match: _Match) -> str:
    """Quote the abstract's nearest sentence with the statement.

    It is empty without a common subject.
    """
    if match.score is None:
        return ""
    sentence = quotable(_nearest_sentence(paper, match.statement))
    return f"“{sentence}” beside the idea's “{quotable(match.statement.text)}”"


def _nearest_sentence(paper: _Paper, statement: _Statement) -> str:
    """Return the sentence nearest to the statement, preferring the paper's own work."""
    ranked_sentences = rank_sentences(statement.text, paper.sentences, len(paper.sentences))
    return max(
        ranked_sentences, key=lambda pair: pair[0] + OWN_WORK_BONUS * bool(OWN_WORK.search(pair[1]))
    )[1]


def _match(paper: _Paper, statement: _Statement) -> _Match:
    covered_share = len(statement.stems & paper.stems) / (len(statement.stems) or 1)
    closeness = 0.5 * max(float(statement.vector @ paper.vector), 0.0) + 0.5 * covered_share
    if closeness >= COVERED_FROM and covered_share >= MINIMUM_COVERED:
        score: int | None = -1
    elif closeness >= ADDRESSED_FROM:
        score = 0
    else:
        score = 1 if closeness >= SAME_SUBJECT_FROM else None
    return _Match(statement, closeness, score)


COMPARE_PAPER = Step(
    name="compare_paper",
    version=8,
    package="tasks.contribution",
    input_model=ComparisonInput,
    output_model=ComparisonReply,
    baseline=baseline_comparison,
    shares_prefix=True,
    kind=StepKind.JUDGEMENT,
    answer_tokens=LONG_ANSWER_TOKENS,
)
