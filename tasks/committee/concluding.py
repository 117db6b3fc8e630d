"""The meta-review of all reviews, and suggestions from later knowledge.

Source: InnoEval, "Report Generation".
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from schemas.base import replace
from schemas.failure import call_failures
from schemas.judgement.committee import KnowledgePhase, MetaReview, PersonaReview, ReviewDimension
from schemas.outcome import Provenance, Unscored, confidence_of_all
from schemas.reasons import Reason
from tasks.citations.keys import Shown
from tasks.citations.references import rekeyed
from tasks.committee.evidence_display import (
    citations_of,
    display_evidence,
    relevant_evidence,
    without_references,
)
from tasks.committee.knowledge.context import STAGE
from tasks.committee.reviewing import Case, PersonaReviewResult
from tasks.committee.steps.reviews import (
    LATER_SUGGESTIONS,
    META_REVIEW,
    DimensionFigures,
    LaterInput,
    MetaInput,
    MetaReply,
    ReviewShown,
)
from tasks.judging.findings import CitedResult, all_cited_papers, settle_texts
from tasks.judging.step import Engine, unasked_provenance
from tasks.judging.suggestions import settle_suggestions
from tasks.metrics.agreement import krippendorff_alpha

SUBJECT = "meta_review"
_NO_INTERVAL_RESAMPLES = 2


@dataclass(frozen=True, slots=True)
class Figures:
    """Statistics of the scored reviews.

    Attributes:
        total_0_to_10: mean over personas and dimensions; None without a scored review.
        means, spreads: by dimension; a spread is the standard deviation over at least two personas.
        alpha: Krippendorff's, interval scale; units are dimensions, raters are personas. None if
            undefined or fewer than two dimensions have two scores: for a single unit it is always 0.
        confidence: 0 to 3, over all reviews; None without a scored one.
    """

    total_0_to_10: float | None
    means: dict[str, float]
    spreads: dict[str, float]
    alpha: float | None
    confidence: int | None
    scored_count: int
    unscored_count: int


def figures_of(reviews: Sequence[PersonaReview], dimensions: Sequence[ReviewDimension]) -> Figures:
    by_dimension = {
        each.name: [review for review in reviews if review.dimension == each.name]
        for each in dimensions
    }
    scores_by_dimension = {
        name: [
            review.score_0_to_10 for review in dimension_reviews if review.score_0_to_10 is not None
        ]
        for name, dimension_reviews in by_dimension.items()
    }
    all_scores = [score for scores in scores_by_dimension.values() for score in scores]
    alpha = krippendorff_alpha(
        [
            [review.score_0_to_10 for review in dimension_reviews]
            for dimension_reviews in by_dimension.values()
        ],
        "interval",
        resamples=_NO_INTERVAL_RESAMPLES,
    )
    return Figures(
        total_0_to_10=fmean(all_scores) if all_scores else None,
        means={name: fmean(scores) for name, scores in scores_by_dimension.items() if scores},
        spreads={
            name: stdev(scores) for name, scores in scores_by_dimension.items() if len(scores) > 1
        },
        alpha=alpha.value if alpha.defined and alpha.count > 1 else None,
        confidence=confidence_of_all(each.confidence_0_to_3 for each in reviews)
        if all_scores
        else None,
        scored_count=len(all_scores),
        unscored_count=len(reviews) - len(all_scores),
    )


async def conclude(
    case: Case,
    reviews: Sequence[PersonaReviewResult],
    dimensions: Sequence[ReviewDimension],
    engine: Engine,
) -> CitedResult[MetaReview]:
    """Ask for the meta-review, by earlier knowledge, and for suggestions from later knowledge."""
    figures = figures_of([each.value for each in reviews], dimensions)
    if figures.total_0_to_10 is None:
        return CitedResult(
            _unscored(figures, *_why_unscored(reviews), unasked_provenance(META_REVIEW, engine))
        )
    prompt_papers = all_cited_papers(reviews)
    outcome = await engine.run(META_REVIEW, _question(case, reviews, figures, prompt_papers))
    if isinstance(outcome, Unscored):
        result = CitedResult(_unscored(figures, outcome.reason, outcome.detail, outcome.provenance))
    elif not outcome.value.summary.strip():
        detail = "the reply decides without saying why"
        result = CitedResult(_unscored(figures, Reason.REPLY_EMPTY, detail, outcome.provenance))
    else:
        result = _settle_reply(case, outcome.value, prompt_papers, figures, outcome.provenance)
    return await _with_suggestions(
        case, result, without_references(result.value.weaknesses, prompt_papers), engine
    )


def no_committee(reason: Reason, detail: str, provenance: Provenance) -> MetaReview:
    return _unscored(Figures(None, {}, {}, None, None, 0, 0), reason, detail, provenance)


def _why_unscored(reviews: Sequence[PersonaReviewResult]) -> tuple[Reason, str]:
    reasons = [
        each.value.unscored_reason for each in reviews if each.value.unscored_reason is not None
    ]
    most = max(dict.fromkeys(reasons), key=reasons.count) if reasons else Reason.NOTHING_TO_JUDGE
    return (
        most,
        f"none of {len(reviews)} reviews has a score; {reasons.count(most)} for this reason",
    )


def _question(
    case: Case, reviews: Sequence[PersonaReviewResult], figures: Figures, prompt_papers: Shown
) -> MetaInput:
    assert figures.total_0_to_10 is not None
    return MetaInput(
        idea=case.idea.text,
        total_score_0_to_10=figures.total_0_to_10,
        figures=tuple(
            DimensionFigures(
                name=name,
                mean=mean,
                spread=figures.spreads.get(name),
                scored_count=sum(
                    each.value.dimension == name and each.value.score_0_to_10 is not None
                    for each in reviews
                ),
            )
            for name, mean in figures.means.items()
        ),
        unscored_count=figures.unscored_count,
        reviews=tuple(
            ReviewShown(
                reviewer=each.reviewer,
                dimension=each.value.dimension,
                score_0_to_10=each.value.score_0_to_10,
                confidence_0_to_3=each.value.confidence_0_to_3,
                review=rekeyed(each.value.review, each.prompt_papers, prompt_papers),
            )
            for each in reviews
            if each.value.score_0_to_10 is not None
        ),
    )


def _settle_reply(
    case: Case, reply: MetaReply, prompt_papers: Shown, figures: Figures, provenance: Provenance
) -> CitedResult[MetaReview]:
    texts = settle_texts(reply, ("summary", "strengths", "weaknesses"), prompt_papers)
    meta_review = MetaReview(
        total_score_0_to_10=figures.total_0_to_10,
        decision=reply.decision,
        **_columns(figures),
        **texts.columns,
        provenance=provenance,
    )
    citations = (
        row
        for field, text in texts.by_field.items()
        for row in citations_of(text, prompt_papers, case.library, subject=SUBJECT, field=field)
    )
    return CitedResult(meta_review, prompt_papers, tuple(citations))


def _unscored(figures: Figures, reason: Reason, detail: str, provenance: Provenance) -> MetaReview:
    """Return a meta-review without a decision; the total is computed from the scores if any."""
    return MetaReview(
        total_score_0_to_10=figures.total_0_to_10,
        decision=None,
        **_columns(figures),
        unscored_reason=reason,
        unscored_detail=detail,
        provenance=provenance,
    )


def _columns(figures: Figures) -> dict[str, Any]:
    return {
        "dimension_means": figures.means,
        "dimension_spreads": figures.spreads,
        "krippendorff_alpha": figures.alpha,
        "confidence_0_to_3": figures.confidence,
        "scored_review_count": figures.scored_count,
        "unscored_review_count": figures.unscored_count,
    }


async def _with_suggestions(
    case: Case, result: CitedResult[MetaReview], weaknesses: str, engine: Engine
) -> CitedResult[MetaReview]:
    """Add suggestions from later knowledge, if there is any."""
    evidence = display_evidence(
        relevant_evidence(case.knowledge.evidence, KnowledgePhase.AFTER), case.library
    )
    if not evidence.items:
        return result
    outcome = await engine.run(
        LATER_SUGGESTIONS,
        LaterInput(idea=case.idea.text, weaknesses=weaknesses, knowledge=evidence.items),
    )
    if isinstance(outcome, Unscored):
        if outcome.reason is Reason.OFFLINE_ENGINE:
            return result
        failures = call_failures([outcome], STAGE, LATER_SUGGESTIONS.name)
        return dataclasses.replace(result, failures=failures)
    suggestions = settle_suggestions(
        outcome.value.suggestions,
        evidence.prompt_papers,
        module=STAGE,
        subject=SUBJECT,
        provenance=outcome.provenance,
    )
    text, meta_review = suggestions.text, result.value
    citations = citations_of(
        text, evidence.prompt_papers, case.library, subject=SUBJECT, field="suggestions"
    )
    return dataclasses.replace(
        result,
        value=replace(
            meta_review,
            suggestions=text.markdown,
            removed_citation_count=meta_review.removed_citation_count + text.removed_citation_count,
            uncited_sentence_count=meta_review.uncited_sentence_count + text.uncited_sentence_count,
        ),
        citations=(*result.citations, *citations),
        suggestions=suggestions.rows,
        failures=suggestions.failures,
    )
