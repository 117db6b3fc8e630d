"""What the idea adds along each dimension (ScholarEval §2.2, contribution review synthesis).

One call per dimension: each sees the idea (a prefix the provider can cache) and only its own
comparisons, answers stay short enough not to be cut off, and one that fails takes no other down.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure, call_failures
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
from schemas.judgement.suggestion import Suggestion
from schemas.literature.citation import Citation
from schemas.literature.paper import Paper
from schemas.outcome import Outcome, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.settle import citation_rows, settle
from tasks.contribution.context import STAGE, Context, not_asked, unreviewed
from tasks.contribution.discovery import Discovery, shown
from tasks.contribution.steps.contribution_review import (
    CONTRIBUTION_REVIEW,
    ReviewInput,
    ReviewReply,
    ShownComparison,
)
from tasks.judging.packing import side_by_side
from tasks.judging.relevance import Judgement
from tasks.judging.suggestions import settle_suggestions
from tasks.judging.verifying import sentence_counts, verifies, verify

PAPERS_SAMPLED = 25
"""Shown without a comparison, the most relevant first."""
_PROSE = ("strengths", "weaknesses")


@dataclass(frozen=True, slots=True)
class Reviewed:
    """One review per dimension, scored or not, what they cite, and what they suggest."""

    reviews: tuple[ContributionReview, ...]
    citations: tuple[Citation, ...]
    failures: tuple[Failure, ...]
    suggestions: tuple[Suggestion, ...] = ()


async def review(
    context: Context,
    papers: Shown,
    dimensions: Sequence[Dimension],
    comparisons: Sequence[Comparison],
) -> Reviewed:
    """Review every dimension from its scored comparisons; a paper has the same key in all of
    them.
    """
    joined = _joined(
        await side_by_side(
            _reviewed(context, papers, dimension, _of(dimension, comparisons))
            for dimension in dimensions
        )
    )
    if not (context.parameters.verify_citations and verifies(context.engine)):
        return joined
    return await _verified(context, papers, joined)


async def _verified(context: Context, papers: Shown, reviewed: Reviewed) -> Reviewed:
    """The reviews after their cited sentences were held against the abstracts."""
    written = [each for each in reviewed.reviews if each.unscored_reason is None]
    texts = [(getattr(each, name), papers) for each in written for name in _PROSE]
    stored = {paper.paper_id: paper.abstract or "" for paper in papers.papers}
    verified, failures = await verify(texts, stored, context.engine, stage=STAGE)
    pairs = zip(verified[::2], verified[1::2], strict=True)
    checked = {
        each.dimension_id: dict(zip(_PROSE, pair, strict=True))
        for each, pair in zip(written, pairs, strict=True)
    }
    reviews = tuple(
        replace(
            each,
            **{name: text.markdown for name, text in found.items()},
            **sentence_counts(found.values()),
        )
        if (found := checked.get(each.dimension_id)) is not None
        else each
        for each in reviewed.reviews
    )
    cited = [
        row
        for subject, found in checked.items()
        for field, text in found.items()
        for row in citation_rows(
            settle(text.markdown, papers), papers, module=STAGE, subject=subject, field=field
        )
    ]
    others = [row for row in reviewed.citations if row.field not in _PROSE]
    return Reviewed(
        reviews, (*cited, *others), (*reviewed.failures, *failures), reviewed.suggestions
    )


async def review_uncompared(
    context: Context, papers: Sequence[Paper], dimensions: Sequence[Dimension]
) -> Reviewed:
    """Every dimension from the abstracts of the most relevant `papers`; without comparisons there
    is no score (ScholarEval F.3, -PC).
    """
    shown_papers = show(papers[:PAPERS_SAMPLED])
    uncompared = tuple(
        ShownComparison(
            key=key,
            title=paper.title,
            year=paper.year,
            score=None,
            comparison=paper.abstract or paper.title,
        )
        for key, paper in shown_papers
    )

    async def one(dimension: Dimension) -> Reviewed:
        question = ReviewInput(
            idea=context.plan.text,
            idea_words_left_out=context.plan.words_left_out,
            dimension=shown(dimension),
            comparisons=uncompared,
            words_per_text=context.parameters.words_per_review_text,
        )
        outcome = await context.engine.run(CONTRIBUTION_REVIEW, question)
        blank = ContributionReview(
            dimension_id=dimension.dimension_id,
            dimension=dimension.name,
            scored_comparison_count=0,
            unscored_comparison_count=0,
            provenance=outcome.provenance,
        )
        return _settled(blank, outcome, shown_papers)

    return _joined(await side_by_side(one(dimension) for dimension in dimensions))


def _joined(parts: Sequence[Reviewed]) -> Reviewed:
    return Reviewed(
        reviews=tuple(one for part in parts for one in part.reviews),
        citations=tuple(one for part in parts for one in part.citations),
        failures=tuple(one for part in parts for one in part.failures),
        suggestions=tuple(one for part in parts for one in part.suggestions),
    )


def _of(dimension: Dimension, comparisons: Sequence[Comparison]) -> list[Comparison]:
    return [
        comparison
        for comparison in comparisons
        if comparison.dimension_id == dimension.dimension_id
    ]


async def _reviewed(
    context: Context, papers: Shown, dimension: Dimension, comparisons: list[Comparison]
) -> Reviewed:
    scores = [comparison.score for comparison in comparisons if comparison.score is not None]
    if not scores:
        return Reviewed((_nothing_scored(dimension, comparisons),), (), ())
    outcome = await context.engine.run(
        CONTRIBUTION_REVIEW, _question(context, papers, dimension, comparisons)
    )
    lower, upper = novelty_interval(comparisons) or (None, None)
    blank = ContributionReview(
        dimension_id=dimension.dimension_id,
        dimension=dimension.name,
        mean_comparison_score=sum(scores) / len(scores),
        novelty_0_to_10=novelty_of(comparisons),
        novelty_lower_0_to_10=lower,
        novelty_upper_0_to_10=upper,
        confidence_0_to_3=confidence_of(comparisons),
        scored_comparison_count=len(scores),
        unscored_comparison_count=len(comparisons) - len(scores),
        provenance=outcome.provenance,
    )
    return _settled(blank, outcome, papers)


def _question(
    context: Context, papers: Shown, dimension: Dimension, comparisons: Sequence[Comparison]
) -> ReviewInput:
    scored = [each for each in comparisons if each.score is not None]
    told = [each for each in scored if each.comparison] or scored
    closest = closest_first(told)
    nearest = {each.paper_id for each in closest[:CLOSEST_SHOWN]}
    ordered = [*closest, *(each for each in told if each not in closest)]
    known = {paper.paper_id: paper for paper in papers.papers}
    return ReviewInput(
        idea=context.plan.text,
        idea_words_left_out=context.plan.words_left_out,
        dimension=shown(dimension),
        comparisons=tuple(
            ShownComparison(
                key=papers.key_of(cell.paper_id),
                title=known[cell.paper_id].title,
                year=known[cell.paper_id].year,
                score=cell.score,
                comparison=cell.comparison,
                overlap=cell.overlap,
                remains=cell.remains if cell.paper_id in nearest else "",
                overall=cell.overall_comparison if cell.paper_id in nearest else "",
                abstract=(known[cell.paper_id].abstract or "") if cell.paper_id in nearest else "",
            )
            for cell in ordered
        ),
        words_per_text=context.parameters.words_per_review_text,
    )


def _settled(blank: ContributionReview, outcome: Outcome[ReviewReply], papers: Shown) -> Reviewed:
    """The review with its citations rendered; keys that were not shown are taken out and
    counted.
    """
    if isinstance(outcome, Unscored):
        unscored = replace(blank, unscored_reason=outcome.reason, unscored_detail=outcome.detail)
        return Reviewed((unscored,), (), tuple(call_failures([outcome], STAGE, blank.dimension_id)))
    texts = {field: settle(getattr(outcome.value, field), papers) for field in _PROSE}
    suggested = settle_suggestions(
        outcome.value.suggestions,
        papers,
        module=STAGE,
        subject=blank.dimension_id,
        provenance=outcome.provenance,
    )
    texts["suggestions"] = suggested.text
    complete = replace(
        blank,
        **{field: text.markdown for field, text in texts.items()},
        removed_citation_count=sum(text.removed_citation_count for text in texts.values()),
        uncited_sentence_count=sum(text.uncited_sentence_count for text in texts.values()),
    )
    citations = [
        row
        for field, text in texts.items()
        for row in citation_rows(
            text, papers, module=STAGE, subject=blank.dimension_id, field=field
        )
    ]
    return Reviewed((complete,), tuple(citations), suggested.failures, suggested.rows)


def _nothing_scored(dimension: Dimension, comparisons: Sequence[Comparison]) -> ContributionReview:
    reasons = Counter(
        comparison.unscored_reason for comparison in comparisons if comparison.unscored_reason
    )
    reason = min(reasons, key=lambda one: (-reasons[one], one))
    detail = f"none of {len(comparisons)} comparisons along this dimension could be scored"
    provenance = not_asked(CONTRIBUTION_REVIEW, dimension.provenance)
    return replace(
        unreviewed(dimension, reason, detail, provenance),
        unscored_comparison_count=len(comparisons),
    )


def nothing_to_compare(
    discovery: Discovery, judgements: Mapping[PaperId, Judgement], minimum: int
) -> tuple[Reason, str]:
    """The reason and its explanation: could not ask, could not judge, could not look, or looked and
    found nothing relevant.

    An empty field is never called novelty.
    """
    if discovery.unasked and not any(dimension.queries for dimension in discovery.dimensions):
        return (
            discovery.unasked[0].reason,
            f"no search queries could be had: {discovery.unasked[0].detail}",
        )
    unjudged = Counter(
        one.unscored_reason
        for one in judgements.values()
        if one.unscored_reason not in (None, Reason.NO_EVIDENCE)
    )
    judged_count = sum(one.score is not None for one in judgements.values())
    if unjudged and not judged_count:
        reason = min((one for one in unjudged if one), key=lambda one: (-unjudged[one], one))
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
    if not discovery.found:
        return (
            Reason.NO_EVIDENCE,
            "the searches were answered and found no paper; an empty field is not proof of novelty",
        )
    left = f", {unjudged.total()} could not be judged" if unjudged else ""
    detail = (
        f"of {judged_count} papers judged none reached a relevance of {minimum}{left}; an empty"
        " field is not proof of novelty"
    )
    return Reason.NO_EVIDENCE, detail


def unscored_reviews(
    discovery: Discovery, judgements: Mapping[PaperId, Judgement], minimum: int
) -> tuple[ContributionReview, ...]:
    """One unscored review per dimension, all for the same reason."""
    reason, detail = nothing_to_compare(discovery, judgements, minimum)
    return tuple(
        unreviewed(dimension, reason, detail, not_asked(CONTRIBUTION_REVIEW, dimension.provenance))
        for dimension in discovery.dimensions
    )
