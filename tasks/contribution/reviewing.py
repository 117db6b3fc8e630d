"""Reviews of the contribution along each dimension (ScholarEval §2.2).

There is one call per dimension: calls share a cacheable prefix, replies stay short enough not to be
cut off, and a failed call affects one dimension only.
"""

import dataclasses
from collections import Counter
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
from schemas.outcome import Outcome, Provenance, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.contribution.context import STAGE, Context, unasked_provenance_like
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
    """Review every dimension by its scored comparisons; papers have one key in all of them."""
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
    stored_texts = {paper.paper_id: paper.abstract or "" for paper in papers.papers}
    verified_reviews, failures = await verify_reviews(
        reviews,
        _PROSE,
        stored_texts,
        context.engine,
        stage=STAGE,
        subject_of=lambda row: row.dimension_id,
    )
    result = merge_results(verified_reviews, failures)
    # Verified fields come first: the bibliography keeps the order of the citations.
    citations = sorted(result.citations, key=lambda row: row.field not in _PROSE)
    return dataclasses.replace(result, citations=tuple(citations))


async def review_uncompared(
    context: Context, papers: Sequence[Paper], dimensions: Sequence[Dimension]
) -> CitedResult[tuple[ContributionReview, ...]]:
    """Review every dimension by abstracts of `papers`, without scores (ScholarEval F.3, -PC)."""
    shown_papers = show(papers[:PAPERS_SAMPLED])
    shown_comparisons = tuple(
        ShownComparison(
            key=key,
            title=paper.title,
            year=paper.year,
            score=None,
            comparison=paper.abstract or paper.title,
        )
        for key, paper in shown_papers
    )

    async def one(dimension: Dimension) -> CitedResult[ContributionReview]:
        question = ReviewInput(
            idea=context.plan.text,
            idea_words_left_out=context.plan.words_left_out,
            dimension=shown_dimension(dimension),
            comparisons=shown_comparisons,
            words_per_text=context.parameters.words_per_review_text,
        )
        outcome = await context.engine.run(CONTRIBUTION_REVIEW, question)
        return _settle_reply(_blank(dimension, outcome.provenance), outcome, shown_papers)

    return merge_results(await side_by_side(one(dimension) for dimension in dimensions))


def _blank(dimension: Dimension, provenance: Provenance, **fields: Any) -> ContributionReview:
    counts = {"scored_comparison_count": 0, "unscored_comparison_count": 0}
    return ContributionReview(
        dimension_id=dimension.dimension_id,
        dimension=dimension.name,
        provenance=provenance,
        **(counts | fields),
    )


async def _review_dimension(
    context: Context, papers: Shown, dimension: Dimension, comparisons: list[Comparison]
) -> CitedResult[ContributionReview]:
    scores = [comparison.score for comparison in comparisons if comparison.score is not None]
    if not scores:
        return CitedResult(_nothing_scored(dimension, comparisons))
    outcome = await context.engine.run(
        CONTRIBUTION_REVIEW, _question(context, papers, dimension, comparisons)
    )
    lower, upper = novelty_interval(comparisons) or (None, None)
    blank = _blank(
        dimension,
        outcome.provenance,
        mean_comparison_score=sum(scores) / len(scores),
        novelty_0_to_10=novelty_of(comparisons),
        novelty_lower_0_to_10=lower,
        novelty_upper_0_to_10=upper,
        confidence_0_to_3=confidence_of(comparisons),
        scored_comparison_count=len(scores),
        unscored_comparison_count=len(comparisons) - len(scores),
    )
    return _settle_reply(blank, outcome, papers)


def _question(
    context: Context, papers: Shown, dimension: Dimension, comparisons: Sequence[Comparison]
) -> ReviewInput:
    scored_comparisons = [each for each in comparisons if each.score is not None]
    comparisons_shown = [
        each for each in scored_comparisons if each.comparison
    ] or scored_comparisons
    closest = closest_first(comparisons_shown)
    nearest_ids = {each.paper_id for each in closest[:CLOSEST_SHOWN]}
    ordered_comparisons = [*closest, *(each for each in comparisons_shown if each not in closest)]
    papers_by_id = {paper.paper_id: paper for paper in papers.papers}
    return ReviewInput(
        idea=context.plan.text,
        idea_words_left_out=context.plan.words_left_out,
        dimension=shown_dimension(dimension),
        comparisons=tuple(
            ShownComparison(
                key=papers.key_of(cell.paper_id),
                title=papers_by_id[cell.paper_id].title,
                year=papers_by_id[cell.paper_id].year,
                score=cell.score,
                comparison=cell.comparison,
                overlap=cell.overlap,
                remains=cell.remains if cell.paper_id in nearest_ids else "",
                overall=cell.overall_comparison if cell.paper_id in nearest_ids else "",
                abstract=(papers_by_id[cell.paper_id].abstract or "")
                if cell.paper_id in nearest_ids
                else "",
            )
            for cell in ordered_comparisons
        ),
        words_per_text=context.parameters.words_per_review_text,
    )


def _settle_reply(
    blank: ContributionReview, outcome: Outcome[ReviewReply], papers: Shown
) -> CitedResult[ContributionReview]:
    """Settle the citations of a review; unknown keys are removed and counted."""
    subject = blank.dimension_id
    if isinstance(outcome, Unscored):
        row = replace(blank, unscored_reason=outcome.reason, unscored_detail=outcome.detail)
        return CitedResult(row, papers, failures=call_failures([outcome], STAGE, subject))
    suggestions = settle_suggestions(
        outcome.value.suggestions,
        papers,
        module=STAGE,
        subject=subject,
        provenance=outcome.provenance,
    )
    prose = settle_texts(outcome.value, _PROSE, papers)
    texts = SettledTexts({**prose.by_field, "suggestions": suggestions.text}, papers)
    return CitedResult(
        replace(blank, **texts.columns),
        papers,
        texts.citations(module=STAGE, subject=subject),
        suggestions.rows,
        suggestions.failures,
    )


def _nothing_scored(dimension: Dimension, comparisons: Sequence[Comparison]) -> ContributionReview:
    reasons = Counter(
        comparison.unscored_reason for comparison in comparisons if comparison.unscored_reason
    )
    reason = min(reasons, key=lambda one: (-reasons[one], one))
    detail = f"none of {len(comparisons)} comparisons along this dimension could be scored"
    return _blank(
        dimension,
        unasked_provenance_like(CONTRIBUTION_REVIEW, dimension.provenance),
        unscored_comparison_count=len(comparisons),
        unscored_reason=reason,
        unscored_detail=detail,
    )


def nothing_to_compare(
    discovery: Discovery, judgements: Mapping[PaperId, Judgement], minimum: int
) -> tuple[Reason, str]:
    """Return reason and detail: failed call, judgement or search, or nothing relevant found.

    None of them is evidence of novelty.
    """
    if discovery.failed_calls and not any(dimension.queries for dimension in discovery.dimensions):
        return (
            discovery.failed_calls[0].reason,
            f"no search queries could be had: {discovery.failed_calls[0].detail}",
        )
    reasons = Counter(
        one.unscored_reason
        for one in judgements.values()
        if one.unscored_reason not in (None, Reason.NO_EVIDENCE)
    )
    judged_count = sum(one.score is not None for one in judgements.values())
    if reasons and not judged_count:
        reason = min((one for one in reasons if one), key=lambda one: (-reasons[one], one))
        return (
            reason,
            f"{len(judgements)} papers were found and none of them could be judged for relevance",
        )
    if discovery.failed_look_up_count:
        total = len({query for dimension in discovery.dimensions for query in dimension.queries})
        detail = (
            f"{discovery.failed_look_up_count} of {total} searches were not answered and the rest"
            " brought nothing relevant; run again"
        )
        return Reason.SOURCE_UNAVAILABLE, detail
    if not discovery.hits:
        return (
            Reason.NO_EVIDENCE,
            "the searches were answered and found no paper; an empty field is not proof of novelty",
        )
    unjudged_note = f", {reasons.total()} could not be judged" if reasons else ""
    detail = (
        f"of {judged_count} papers judged none reached a relevance of {minimum}{unjudged_note}; an empty"
        " field is not proof of novelty"
    )
    return Reason.NO_EVIDENCE, detail


def unscored_reviews(
    discovery: Discovery, judgements: Mapping[PaperId, Judgement], minimum: int
) -> tuple[ContributionReview, ...]:
    reason, detail = nothing_to_compare(discovery, judgements, minimum)
    return tuple(
        _blank(
            dimension,
            unasked_provenance_like(CONTRIBUTION_REVIEW, dimension.provenance),
            unscored_reason=reason,
            unscored_detail=detail,
        )
        for dimension in discovery.dimensions
    )
