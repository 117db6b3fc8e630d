"""Reviews of the contribution along each dimension (ScholarEval §2.2).

There is one call per dimension: calls share a cacheable prefix, replies stay short enough not to be
cut off, and a failed call affects one dimension only.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from schemas.base import replace
from schemas.failure import call_failures
from schemas.identifiers import PaperId
from schemas.judgement.contribution import (
    CLOSEST_SHOWN,
    Comparison,
    ContributionReview,
    Dimension,
    closest_first,
    confidence_of,
    novelty_interval,
    novelty_of,
)
from schemas.literature.paper import Paper
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.contribution.context import STAGE, Context
from tasks.contribution.discovery import Discovery, shown_dimension
from tasks.contribution.steps.contribution_review import (
    CONTRIBUTION_REVIEW,
    ReviewInput,
    ReviewReply,
    ShownComparison,
)
from tasks.judging.findings import CitedResult, SettledTexts, merge_results, settle_texts
from tasks.judging.packing import side_by_side
from tasks.judging.relevance import Judgement
from tasks.judging.step import unasked_provenance
from tasks.judging.suggestions import settle_suggestions
from tasks.judging.verifying import verifies, verify_reviews

PAPERS_SAMPLED = 25
"""Papers in a prompt without comparisons, most relevant first."""
_PROSE = ("strengths", "weaknesses")


async def review(
    context: Context,
    papers: Shown,
    dimensions: Sequence[Dimension],
    comparisons: Sequence[Comparison],
) -> CitedResult[tuple[ContributionReview, ...]]:
    """Review every dimension by its scored comparisons.

    Papers have one key in all of them.
    """
    reviews = await side_by_side(
        _review_dimension(
            context,
            papers,
            dimension,
            [each for each in comparisons if each.dimension_id == dimension.dimension_id],
        )
        for dimension in dimensions
    )
    if not (context.parameters.verify_citations and verifies(context.engine)):
        return merge_results(reviews)
    verified_reviews, failures = await verify_reviews(
        reviews,
        _PROSE,
        {paper.paper_id: paper.abstract or "" for paper in papers.papers},
        context.engine,
        stage=STAGE,
        subject_of=lambda row: row.dimension_id,
        published=context.parameters.verify_citations == "published",
    )
    result = merge_results(verified_reviews, failures)
    # Verified fields come first: the bibliography keeps the order of the citations.
    citations = sorted(result.citations, key=lambda row: row.field not in _PROSE)
    return dataclasses.replace(result, citations=tuple(citations))


async def review_uncompared(
    context: Context, papers: Sequence[Paper], dimensions: Sequence[Dimension]
) -> CitedResult[tuple[ContributionReview, ...]]:
    """Review every dimension by abstracts of `papers`, without scores (ScholarEval F.3, -PC)."""
    prompt_papers = show(papers[:PAPERS_SAMPLED])
    abstracts = tuple(
        ShownComparison(
            key=key,
            title=paper.title,
            year=paper.year,
            score=None,
            comparison=paper.abstract or paper.title,
        )
        for key, paper in prompt_papers
    )

    async def review_one(dimension: Dimension) -> CitedResult[ContributionReview]:
        outcome = await _ask(context, dimension, abstracts)
        return _settle_reply(_blank(dimension), outcome, prompt_papers)

    return merge_results(await side_by_side(map(review_one, dimensions)))


async def _ask(
    context: Context, dimension: Dimension, comparisons: tuple[ShownComparison, ...]
) -> Outcome[ReviewReply]:
    question = ReviewInput(
        idea=context.plan.text,
        idea_words_left_out=context.plan.words_left_out,
        dimension=shown_dimension(dimension),
        comparisons=comparisons,
        words_per_text=context.parameters.words_per_review_text,
    )
    return await context.engine.run(CONTRIBUTION_REVIEW, question)


def _blank(dimension: Dimension, **fields: Any) -> ContributionReview:
    """Return a review without texts; its provenance is added with the outcome."""
    counts = {"scored_comparison_count": 0, "unscored_comparison_count": 0}
    identity = {"dimension_id": dimension.dimension_id, "dimension": dimension.name}
    return ContributionReview(**(identity | counts | {"provenance": dimension.provenance} | fields))


async def _review_dimension(
    context: Context, papers: Shown, dimension: Dimension, comparisons: list[Comparison]
) -> CitedResult[ContributionReview]:
    scores = [comparison.score for comparison in comparisons if comparison.score is not None]
    if not scores:
        reasons = [each.unscored_reason for each in comparisons if each.unscored_reason]
        detail = f"none of {len(comparisons)} comparisons along this dimension could be scored"
        unscored = Unscored(
            _commonest(reasons), detail, unasked_provenance(CONTRIBUTION_REVIEW, context.engine)
        )
        count = len(comparisons)
        return CitedResult(_blank(dimension, unscored_comparison_count=count, **unscored.columns))
    outcome = await _ask(context, dimension, _shown_comparisons(papers, comparisons))
    lower, upper = novelty_interval(comparisons) or (None, None)
    blank = _blank(
        dimension,
        mean_comparison_score=sum(scores) / len(scores),
        novelty_0_to_10=novelty_of(comparisons),
        novelty_lower_0_to_10=lower,
        novelty_upper_0_to_10=upper,
        confidence_0_to_3=confidence_of(comparisons),
        scored_comparison_count=len(scores),
        unscored_comparison_count=len(comparisons) - len(scores),
    )
    return _settle_reply(blank, outcome, papers)


def _commonest(reasons: Sequence[Reason]) -> Reason:
    return min(reasons, key=lambda one: (-reasons.count(one), one))


def _shown_comparisons(
    papers: Shown, comparisons: Sequence[Comparison]
) -> tuple[ShownComparison, ...]:
    """Return the scored comparisons for a prompt, closest works first.

    The closest works have their abstract.
    """
    scored_comparisons = [each for each in comparisons if each.score is not None]
    with_text = [each for each in scored_comparisons if each.comparison] or scored_comparisons
    closest = closest_first(with_text)
    near_ids = {each.paper_id for each in closest[:CLOSEST_SHOWN]}
    papers_by_id = {paper.paper_id: paper for paper in papers.papers}
    cells = [
        (cell, papers_by_id[cell.paper_id], cell.paper_id in near_ids)
        for cell in (*closest, *(each for each in with_text if each not in closest))
    ]
    return tuple(
        ShownComparison(
            key=papers.key_of(cell.paper_id),
            title=paper.title,
            year=paper.year,
            score=cell.score,
            comparison=cell.comparison,
            overlap=cell.overlap,
            remains=cell.remains if is_near else "",
            overall=cell.overall_comparison if is_near else "",
            abstract=(paper.abstract or "") if is_near else "",
        )
        for cell, paper, is_near in cells
    )


def _settle_reply(
    blank: ContributionReview, outcome: Outcome[ReviewReply], papers: Shown
) -> CitedResult[ContributionReview]:
    """Settle the citations of a review; unknown keys are removed and counted."""
    subject, provenance = blank.dimension_id, outcome.provenance
    if isinstance(outcome, Unscored):
        row = replace(blank, **outcome.columns)
        return CitedResult(row, papers, failures=call_failures([outcome], STAGE, subject))
    suggestions = settle_suggestions(
        outcome.value.suggestions, papers, module=STAGE, subject=subject, provenance=provenance
    )
    prose = settle_texts(outcome.value, _PROSE, papers)
    texts = SettledTexts({**prose.by_field, "suggestions": suggestions.text}, papers)
    return CitedResult(
        replace(blank, **texts.columns, provenance=provenance),
        papers,
        texts.citations(module=STAGE, subject=subject),
        suggestions.rows,
        suggestions.failures,
    )


def unscored_reviews(
    context: Context, discovery: Discovery, judgements: Mapping[PaperId, Judgement]
) -> tuple[ContributionReview, ...]:
    """Return an unscored review for each dimension without comparisons.

    The reason is a failed call, judgement or search, or that nothing relevant was found. None of
    them is evidence of novelty.
    """
    reasons: list[Reason] = [
        one.unscored_reason
        for one in judgements.values()
        if one.unscored_reason not in (None, Reason.NO_EVIDENCE)
    ]
    judged_count = sum(one.score is not None for one in judgements.values())
    reason = Reason.NO_EVIDENCE
    if discovery.failed_calls and not discovery.queries:
        reason = discovery.failed_calls[0].reason
        detail = f"no search queries could be had: {discovery.failed_calls[0].detail}"
    elif reasons and not judged_count:
        reason = _commonest(reasons)
        detail = (
            f"{len(judgements)} papers were found and none of them could be judged for relevance"
        )
    elif discovery.failed_look_up_count:
        reason = Reason.SOURCE_UNAVAILABLE
        detail = (
            f"{discovery.failed_look_up_count} of {len(discovery.queries)} searches were not"
            " answered and the rest brought nothing relevant; run again"
        )
    elif not discovery.hits:
        detail = (
            "the searches were answered and found no paper; an empty field is not proof of novelty"
        )
    else:
        unjudged_note = f", {len(reasons)} could not be judged" if reasons else ""
        detail = (
            f"of {judged_count} papers judged none reached a relevance of"
            f" {context.parameters.minimum_relevance}{unjudged_note}; an empty field is not proof"
            " of novelty"
        )
    unscored = Unscored(reason, detail, unasked_provenance(CONTRIBUTION_REVIEW, context.engine))
    return tuple(_blank(dimension, **unscored.columns) for dimension in discovery.dimensions)
