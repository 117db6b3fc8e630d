"""Reviews of methods by their evidence (ScholarEval §2.1, B.1.1)."""

from datetime import date

from schemas.judgement.soundness import Method, MethodEvidence, SoundnessReview
from schemas.outcome import Unscored, confidence_by_evidence
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.references import publication_label
from tasks.citations.settle import settle
from tasks.judging.findings import NO_PROMPT_PAPERS, CitedResult, SettledTexts, settle_texts
from tasks.judging.step import Engine, unasked_provenance
from tasks.judging.suggestions import settle_suggestions
from tasks.soundness.gathering import STAGE, Context, MethodPapers
from tasks.soundness.reading import ReadingResult
from tasks.soundness.steps.soundness_review import SOUNDNESS_REVIEW, EvidenceShown, ReviewInput
from tasks.text.words import Excerpt

_RELATED, _CLOSE = 2, 3


async def review_method(
    context: Context,
    plan: Excerpt,
    method: Method,
    collection: MethodPapers,
    reading: ReadingResult,
) -> CitedResult[SoundnessReview]:
    """Ask for the review of `method` by its evidence, unless none is relevant enough.

    Args:
        plan: excerpt of the idea, equal in all reviews.
    """
    least = context.parameters.minimum_relevance
    if not any(row.relevant and _grade(row) >= least for row in reading.evidence):
        source_failed = collection.source_failed or reading.source_failed
        return unscored_review(method, _nothing_relevant(reading, source_failed, context.engine))
    by_id = {paper.paper_id: paper for paper in collection.papers}
    # The sort is stable: papers of one date stay in order of passage score.
    evidence = sorted(
        (row for row in reading.evidence if row.relevant),
        key=lambda row: by_id[row.paper_id].latest_publication_date or date.min,
        reverse=True,
    )
    prompt_papers = show([by_id[row.paper_id] for row in evidence])
    question = ReviewInput(
        idea=plan.text,
        idea_words_left_out=plan.words_left_out,
        method=method.text,
        evidence=tuple(
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
        ),
        words_per_text=context.parameters.words_per_review_text,
    )
    outcome = await context.engine.run(SOUNDNESS_REVIEW, question)
    if isinstance(outcome, Unscored):
        return unscored_review(method, outcome, prompt_papers)
    reply, provenance = outcome.value, outcome.provenance
    if not (reply.support.strip() or reply.contradictions.strip()):
        detail = "the reply gives a score without saying what speaks for or against the method"
        empty = Unscored(Reason.REPLY_EMPTY, detail, provenance)
        return unscored_review(method, empty, prompt_papers)
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
    removed_count = reasoning.removed_citation_count + texts.removed_citation_count
    grades = [_grade(row) for row in evidence]
    review = SoundnessReview(
        method_id=method.method_id,
        **(texts.columns | {"removed_citation_count": removed_count}),
        open_questions=reasoning.markdown,
        score_0_to_10=float(reply.score),
        confidence_0_to_3=confidence_by_evidence(
            strong=grades.count(_CLOSE), fair=grades.count(_RELATED)
        ),
        evidence_count=len(prompt_papers),
        provenance=provenance,
    )
    citations = texts.citations(module=STAGE, subject=method.method_id)
    return CitedResult(review, prompt_papers, citations, suggestions.rows, suggestions.failures)


def _grade(row: MethodEvidence) -> int:
    """Return the grade of a relevant paper.

    A paper without one counts as related.
    """
    return row.relevance_0_to_3 or _RELATED


def unscored_review(
    method: Method, why: Unscored, prompt_papers: Shown = NO_PROMPT_PAPERS
) -> CitedResult[SoundnessReview]:
    review = SoundnessReview(
        method_id=method.method_id, evidence_count=len(prompt_papers), **why.columns
    )
    return CitedResult(review, prompt_papers)


def _nothing_relevant(reading: ReadingResult, source_failed: bool, engine: Engine) -> Unscored:
    """Return why a method has no sufficiently relevant evidence.

    The reason is `no_evidence` only if every source answered and every paper was judged, else that
    of the failed judgement or look-up.
    """
    count = len(reading.evidence)
    distant = sum(bool(row.relevant) for row in reading.evidence)
    failure_reasons = [
        row.unscored_reason
        for row in reading.evidence
        if row.unscored_reason not in (None, Reason.SOURCE_UNAVAILABLE, Reason.NO_EVIDENCE)
    ]
    reason = Reason.NO_EVIDENCE
    if failure_reasons:
        reason = failure_reasons[0] or reason
        detail = (
            f"{len(failure_reasons)} of {count} papers could not be judged, and no other is"
            " relevant enough"
        )
    elif source_failed:
        reason = Reason.SOURCE_UNAVAILABLE
        detail = (
            "no paper was found that is relevant enough, but a look-up failed (see failures); run"
            " again to try once more"
        )
    elif distant:
        detail = (
            f"{count} papers were found, {distant} of them distant and none closer to the method:"
            " nothing is scored against them"
        )
    elif count:
        detail = f"{count} papers were found, none relevant to the method"
    else:
        detail = "the search found no admissible paper"
    return Unscored(reason, detail, unasked_provenance(SOUNDNESS_REVIEW, engine))
