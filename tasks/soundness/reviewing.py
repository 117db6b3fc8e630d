"""Reviews of methods by their evidence, and a summary over all methods.

Source: ScholarEval §2.1, B.1.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from schemas.failure import Failure
from schemas.idea import Idea
from schemas.judgement.soundness import (
    Method,
    MethodEvidence,
    SoundnessReview,
    SoundnessSummary,
)
from schemas.literature.paper import Paper
from schemas.outcome import Provenance, Unscored, confidence_by_evidence
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.references import publication_label, rekeyed
from tasks.citations.settle import settle
from tasks.judging.findings import (
    NO_PROMPT_PAPERS,
    CitedResult,
    SettledTexts,
    all_cited_papers,
    omission_failures,
    settle_texts,
    whole_citations,
)
from tasks.judging.step import Engine, unasked_provenance, with_shortening
from tasks.judging.suggestions import settle_suggestions
from tasks.soundness.gathering import STAGE
from tasks.soundness.reading import ReadingResult
from tasks.soundness.steps.soundness_review import (
    SOUNDNESS_REVIEW,
    EvidenceShown,
    ReviewInput,
    ReviewReply,
)
from tasks.soundness.steps.soundness_summary import (
    SOUNDNESS_SUMMARY,
    ReviewShown,
    SummaryInput,
    SummaryReply,
)
from tasks.text.words import Excerpt

_RELATED, _CLOSE = 2, 3


@dataclass(frozen=True, slots=True)
class MethodReviewResult(CitedResult[SoundnessReview]):
    """A review of a method."""


async def review_method(
    plan: Excerpt,
    method: Method,
    papers: Sequence[Paper],
    reading: ReadingResult,
    parameters: SoundnessParameters,
    engine: Engine,
) -> MethodReviewResult:
    """Ask for the review of `method` by its relevant evidence, of which there must be some.

    Args:
        plan: excerpt of the idea, equal in all reviews.
    """
    by_id = {paper.paper_id: paper for paper in papers}
    # The sort is stable: papers of one date stay in order of passage score.
    evidence = sorted(
        (row for row in reading.evidence if row.relevant),
        key=lambda row: by_id[row.paper_id].latest_publication_date or date.min,
        reverse=True,
    )
    prompt_papers = show([by_id[row.paper_id] for row in evidence])
    items = tuple(
        EvidenceShown(
            key=prompt_papers.key_of(row.paper_id),
            title=by_id[row.paper_id].title,
            published=publication_label(by_id[row.paper_id]),
            relevance=row.relevance_0_to_3,
            read_from="full text" if row.paper_id in reading.full_text else "abstract",
            citation_count=by_id[row.paper_id].citation_count,
            method=row.method,
            results=row.results,
            context=row.context,
        )
        for row in evidence
    )
    question = ReviewInput(
        idea=plan.text,
        idea_words_left_out=plan.words_left_out,
        method=method.text,
        evidence=items,
        words_per_text=parameters.words_per_review_text,
    )
    outcome = await engine.run(SOUNDNESS_REVIEW, question)
    if isinstance(outcome, Unscored):
        return unscored_review(method, outcome, prompt_papers)
    reply = outcome.value
    if not (reply.support.strip() or reply.contradictions.strip()):
        detail = "the reply gives a score without saying what speaks for or against the method"
        return unscored_review(
            method, Unscored(Reason.REPLY_EMPTY, detail, outcome.provenance), prompt_papers
        )
    return _settle_review(method, reply, prompt_papers, question, outcome.provenance)


def reaches(row: MethodEvidence, minimum_relevance: int) -> bool:
    """Return whether a paper is relevant enough; without a grade it counts as related."""
    return bool(row.relevant) and (row.relevance_0_to_3 or _RELATED) >= minimum_relevance


def unreviewed(
    method: Method, reading: ReadingResult, source_failed: bool, engine: Engine
) -> MethodReviewResult:
    """Return the unscored review of a method without sufficiently relevant evidence.

    The reason is `no_evidence` only if every source answered and every paper was judged, else that
    of the failed judgement or look-up.
    """
    reason, detail = _why_unreviewed(reading, source_failed or reading.source_failed)
    return unscored_review(
        method, Unscored(reason, detail, unasked_provenance(SOUNDNESS_REVIEW, engine))
    )


def _why_unreviewed(reading: ReadingResult, source_failed: bool) -> tuple[Reason, str]:
    reasons = [row.unscored_reason for row in reading.evidence if row.unscored_reason is not None]
    failure_reasons = [
        reason
        for reason in reasons
        if reason is not Reason.SOURCE_UNAVAILABLE and reason is not Reason.NO_EVIDENCE
    ]
    if failure_reasons:
        return (
            failure_reasons[0],
            (
                f"{len(failure_reasons)} of {len(reading.evidence)} papers could not be judged, and no"
                " other is relevant enough"
            ),
        )
    if source_failed:
        detail = (
            "no paper was found that is relevant enough, but a look-up failed (see failures); run again to try"
            " once more"
        )
        return Reason.SOURCE_UNAVAILABLE, detail
    distant = sum(bool(row.relevant) for row in reading.evidence)
    if distant:
        detail = (
            f"{len(reading.evidence)} papers were found, {distant} of them distant and none closer to"
            " the method: nothing is scored against them"
        )
        return Reason.NO_EVIDENCE, detail
    if reading.evidence:
        return (
            Reason.NO_EVIDENCE,
            f"{len(reading.evidence)} papers were found, none relevant to the method",
        )
    return Reason.NO_EVIDENCE, "the search found no admissible paper"


def unscored_review(
    method: Method, why: Unscored, prompt_papers: Shown = NO_PROMPT_PAPERS
) -> MethodReviewResult:
    return MethodReviewResult(
        SoundnessReview(
            method_id=method.method_id,
            unscored_reason=why.reason,
            unscored_detail=why.detail,
            evidence_count=len(prompt_papers),
            provenance=why.provenance,
        ),
        prompt_papers,
    )


def _settle_review(
    method: Method,
    reply: ReviewReply,
    prompt_papers: Shown,
    question: ReviewInput,
    provenance: Provenance,
) -> MethodReviewResult:
    suggestions = settle_suggestions(
        reply.suggestions,
        prompt_papers,
        module=STAGE,
        subject=method.method_id,
        provenance=provenance,
    )
    reasoning = settle(reply.open_questions, prompt_papers)
    prose = settle_texts(reply, ("support", "contradictions"), prompt_papers)
    texts = SettledTexts({**prose.by_field, "suggestions": suggestions.text}, prompt_papers)
    review = SoundnessReview(
        method_id=method.method_id,
        support=texts["support"],
        contradictions=texts["contradictions"],
        suggestions=texts["suggestions"],
        open_questions=reasoning.markdown,
        score_0_to_10=float(reply.score),
        confidence_0_to_3=_confidence(question.evidence),
        evidence_count=len(prompt_papers),
        removed_citation_count=reasoning.removed_citation_count + texts.removed_citation_count,
        uncited_sentence_count=texts.uncited_sentence_count,
        provenance=provenance,
    )
    return MethodReviewResult(
        review,
        prompt_papers,
        texts.citations(module=STAGE, subject=method.method_id),
        suggestions.rows,
        suggestions.failures,
    )


def _confidence(evidence: Sequence[EvidenceShown]) -> int:
    """Return the confidence by relevance grades; an ungraded relevant paper counts as related."""
    grades = [_RELATED if item.relevance is None else item.relevance for item in evidence]
    return confidence_by_evidence(strong=grades.count(_CLOSE), fair=grades.count(_RELATED))


_MOST = 3


async def summarise(
    idea: Idea, reviews: Sequence[tuple[Method, MethodReviewResult]], engine: Engine
) -> CitedResult[SoundnessSummary]:
    """Summarize the scored reviews, in the methods' order; without any, it is unscored."""
    scored_reviews = [
        (method, each) for method, each in reviews if each.value.score_0_to_10 is not None
    ]
    if not scored_reviews:
        reasons = {each.value.unscored_reason for _, each in reviews}
        reason = reasons.pop() if len(reasons) == 1 else Reason.NO_EVIDENCE
        provenance = unasked_provenance(SOUNDNESS_SUMMARY, engine)
        return CitedResult(SoundnessSummary(unscored_reason=reason, provenance=provenance))
    prompt_papers = all_cited_papers(each for _, each in scored_reviews)
    question = SummaryInput(
        idea=idea.text,
        reviews=tuple(
            _review_shown(method, each.value, each.prompt_papers, prompt_papers)
            for method, each in scored_reviews
        ),
        unreviewed=tuple(
            method.text for method, each in reviews if each.value.score_0_to_10 is None
        ),
    )
    outcome = await engine.run(SOUNDNESS_SUMMARY, question)
    if isinstance(outcome, Unscored):
        failure = Failure(
            stage=STAGE, subject="summary", reason=outcome.reason, detail=outcome.detail
        )
        return CitedResult(
            SoundnessSummary(unscored_reason=outcome.reason, provenance=outcome.provenance),
            failures=(failure,),
        )
    return _settle_summary(outcome.value, prompt_papers, outcome.provenance)


def _settle_summary(
    reply: SummaryReply, prompt_papers: Shown, provenance: Provenance
) -> CitedResult[SoundnessSummary]:
    """Settle the first three items of each list."""
    lists = {
        "strengths": reply.strengths,
        "weaknesses": reply.weaknesses,
        "suggestions": reply.suggestions,
    }
    settled_items = {
        field: [settle(item, prompt_papers) for item in items[:_MOST] if item.strip()]
        for field, items in lists.items()
    }
    texts = {
        field: tuple(text.markdown for text in items_settled)
        for field, items_settled in settled_items.items()
    }
    beyond = [
        f"{len(items) - _MOST} {field}" for field, items in lists.items() if len(items) > _MOST
    ]
    removed_count = sum(
        text.removed_citation_count
        for items_settled in settled_items.values()
        for text in items_settled
    )
    summary = SoundnessSummary(
        strengths=texts["strengths"],
        weaknesses=texts["weaknesses"],
        suggestions=texts["suggestions"],
        provenance=with_shortening(
            provenance, f"left out beyond three: {', '.join(beyond)}" if beyond else None
        ),
    )
    citations = tuple(
        row
        for field, items_settled in texts.items()
        for row in whole_citations(
            items_settled, prompt_papers, module=STAGE, subject="summary", field=field
        )
    )
    detail = (
        f"{removed_count} citations of papers that were not shown were taken out of the summary"
    )
    return CitedResult(
        summary,
        prompt_papers,
        citations,
        failures=omission_failures(STAGE, "summary", detail, removed_count),
    )


def _review_shown(
    method: Method, review: SoundnessReview, review_papers: Shown, prompt_papers: Shown
) -> ReviewShown:
    assert review.score_0_to_10 is not None
    return ReviewShown(
        rank=method.rank,
        method=method.text,
        score_0_to_10=review.score_0_to_10,
        evidence_count=review.evidence_count,
        support=rekeyed(review.support, review_papers, prompt_papers),
        contradictions=rekeyed(review.contradictions, review_papers, prompt_papers),
        suggestions=rekeyed(review.suggestions, review_papers, prompt_papers),
    )
