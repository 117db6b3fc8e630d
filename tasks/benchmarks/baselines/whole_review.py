"""Baselines of `prompt_only` and `prompt_with_search`: what the plan leaves out, and what found papers say near it."""

from collections.abc import Sequence

from tasks.benchmarks.answers import ReviewedDimension, ReviewedMethod, WholeReview
from tasks.benchmarks.questions import PromptOnlyQuestion, PromptWithSearchQuestion
from tasks.contribution.steps.extract_dimensions import DimensionsInput, baseline_dimensions
from tasks.contribution.steps.shown import ShownPaper
from tasks.judging.step import BaselineTools, NoAnswer
from tasks.soundness.steps.extract_methods import MethodsInput, baseline_methods
from tasks.text.practices import PRACTICES
from tasks.text.words import key_phrases, outcome_cue, rank_sentences, sentences

MAXIMUM_METHODS = 6
MAXIMUM_DIMENSIONS = 4
NEAREST_PAPERS = 2


async def baseline_prompt_only(question: PromptOnlyQuestion, tools: BaselineTools) -> WholeReview | NoAnswer:
    """Methods and dimensions as the modules' own baselines find them, with good practices the plan leaves out; nothing is cited."""
    return await _review(question.idea, (), tools)


async def baseline_prompt_with_search(question: PromptWithSearchQuestion, tools: BaselineTools) -> WholeReview | NoAnswer:
    """As `baseline_prompt_only`, with the sentences of the found papers that come nearest to each method and dimension."""
    return await _review(question.idea, question.papers, tools)


async def _review(idea: str, papers: Sequence[ShownPaper], tools: BaselineTools) -> WholeReview | NoAnswer:
    methods = await baseline_methods(MethodsInput(idea=idea, maximum_methods=MAXIMUM_METHODS), tools)
    dimensions = await baseline_dimensions(DimensionsInput(idea=idea, maximum_dimensions=MAXIMUM_DIMENSIONS), tools)
    if isinstance(methods, NoAnswer) and isinstance(dimensions, NoAnswer):
        return methods
    missing = [practice.name for practice in PRACTICES if not practice.pattern.search(idea)]
    named = [] if isinstance(methods, NoAnswer) else [method.text for method in methods.methods]
    facets = [] if isinstance(dimensions, NoAnswer) else dimensions.dimensions
    return WholeReview(
        methods=[_method(text, papers, missing[2 * place : 2 * place + 2]) for place, text in enumerate(named)],
        dimensions=[_dimension(facet.name, " ".join(facet.statements), papers) for facet in facets],
    )


def _method(text: str, papers: Sequence[ShownPaper], missing: Sequence[str]) -> ReviewedMethod:
    said = _said(text, papers)
    lacking = " and ".join(missing)
    return ReviewedMethod(
        method=text,
        support=" ".join(quoted for quoted, cue in said if cue != "negative"),
        contradictions=" ".join(
            [*(quoted for quoted, cue in said if cue == "negative"), *([f"The plan does not mention {lacking}."] if lacking else [])]
        ),
        suggestions=f"Consider {lacking}." if lacking else "",
    )


def _dimension(name: str, statements: str, papers: Sequence[ShownPaper]) -> ReviewedDimension:
    """The idea's own sentences are not repeated: a judge of coverage would take an echo for a review."""
    terms = " and ".join(key_phrases(statements, 2)) or name.lower()
    said = [quoted for quoted, _ in _said(statements, papers)]
    return ReviewedDimension(
        dimension=name,
        strengths=f"The idea sets its hope on {terms}.",
        weaknesses=f"Earlier work on the same subject: {' '.join(said)}" if said else "",
        suggestions=f"Say what sets {terms} apart from earlier work, and compare with it.",
    )


def _said(text: str, papers: Sequence[ShownPaper]) -> list[tuple[str, str]]:
    """The nearest sentence of each of the nearest papers, with its key, and whether it tells of success or failure."""
    nearest = sorted(
        ((max(rank_sentences(text, sentences(paper.abstract), 1), default=(0.0, "")), paper) for paper in papers),
        key=lambda pair: (-pair[0][0], pair[1].key),
    )
    return [(f"{sentence} [{paper.key}]", outcome_cue(sentence)) for (score, sentence), paper in nearest[:NEAREST_PAPERS] if score > 0]
