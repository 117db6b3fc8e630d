"""Baselines of `prompt_only` and `prompt_with_search`: what the idea itself says and leaves out, and what found papers say near it."""

from collections.abc import Sequence

from tasks.benchmarks.answers import ReviewedDimension, ReviewedMethod, WholeReview
from tasks.benchmarks.questions import PromptOnlyQuestion, PromptWithSearchQuestion
from tasks.contribution.baselines.dimensions import baseline_dimensions
from tasks.contribution.questions import DimensionsQuestion, ShownPaper
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.judging.text import outcome_cue, rank_sentences, sentences
from tasks.soundness.baselines.methods import extract_methods
from tasks.soundness.baselines.practices import PRACTICES
from tasks.soundness.questions import MethodsInput

MAXIMUM_METHODS = 6
MAXIMUM_DIMENSIONS = 4
NEAREST_PAPERS = 2


async def baseline_prompt_only(question: PromptOnlyQuestion, tools: BaselineTools) -> WholeReview | NoAnswer:
    """Methods and dimensions as the modules' own baselines find them, reviewed by the idea's own words; nothing is cited."""
    return await _review(question.idea, (), tools)


async def baseline_prompt_with_search(question: PromptWithSearchQuestion, tools: BaselineTools) -> WholeReview | NoAnswer:
    """As `baseline_prompt_only`, with the sentences of the found papers that come nearest to each method and dimension."""
    return await _review(question.idea, question.papers, tools)


async def _review(idea: str, papers: Sequence[ShownPaper], tools: BaselineTools) -> WholeReview | NoAnswer:
    methods = await extract_methods(MethodsInput(idea=idea, maximum_methods=MAXIMUM_METHODS), tools)
    dimensions = await baseline_dimensions(DimensionsQuestion(idea=idea, maximum_dimensions=MAXIMUM_DIMENSIONS), tools)
    if isinstance(methods, NoAnswer) and isinstance(dimensions, NoAnswer):
        return methods
    missing = [practice.name for practice in PRACTICES if not practice.pattern.search(idea)]
    reviewed = (
        []
        if isinstance(methods, NoAnswer)
        else [_method(method.text, idea, papers, missing[2 * place : 2 * place + 2]) for place, method in enumerate(methods.methods)]
    )
    facets = (
        []
        if isinstance(dimensions, NoAnswer)
        else [_dimension(dimension.name, " ".join(dimension.statements), papers) for dimension in dimensions.dimensions]
    )
    return WholeReview(methods=reviewed, dimensions=facets)


def _method(text: str, idea: str, papers: Sequence[ShownPaper], missing: Sequence[str]) -> ReviewedMethod:
    own = [sentence for _, sentence in rank_sentences(text, sentences(idea), 2)]
    said = _said(text, papers)
    against = [quoted for quoted, cue in said if cue == "negative"]
    named = " and ".join(missing)
    return ReviewedMethod(
        method=text,
        support=" ".join([*own, *(quoted for quoted, cue in said if cue != "negative")]),
        contradictions=" ".join([*against, *([f"The plan does not mention {named}."] if named else [])]),
        suggestions=f"Consider {named}." if named else "",
    )


def _dimension(name: str, statements: str, papers: Sequence[ShownPaper]) -> ReviewedDimension:
    said = [quoted for quoted, _ in _said(statements, papers)]
    return ReviewedDimension(
        dimension=name,
        strengths=f"The idea claims: {statements}",
        weaknesses=f"Earlier work on the same subject: {' '.join(said)}" if said else "",
        suggestions="Say what sets the idea apart from this work, and compare with it." if said else "",
    )


def _said(text: str, papers: Sequence[ShownPaper]) -> list[tuple[str, str]]:
    """The nearest sentence of each of the nearest papers, with its key, and whether it tells of success or failure."""
    nearest = sorted(
        ((max(rank_sentences(text, sentences(paper.abstract), 1), default=(0.0, "")), paper) for paper in papers),
        key=lambda pair: (-pair[0][0], pair[1].key),
    )
    return [(f"{sentence} [{paper.key}]", outcome_cue(sentence)) for (score, sentence), paper in nearest[:NEAREST_PAPERS] if score > 0]
