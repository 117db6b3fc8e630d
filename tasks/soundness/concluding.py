"""The soundness of a whole idea in up to three strengths, weaknesses and suggestions (ScholarEval
B.1.1).
"""

from collections.abc import Sequence

from schemas.failure import Failure
from schemas.idea import Idea
from schemas.judgement.soundness import Method, SoundnessReview, SoundnessSummary
from schemas.outcome import Provenance, Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown
from tasks.citations.references import rekeyed
from tasks.citations.settle import settle
from tasks.judging.findings import Cited, cited_anywhere, left_out, whole_citations
from tasks.judging.step import Engine, never_asked, shortened
from tasks.soundness.gathering import STAGE
from tasks.soundness.reviewing import Reviewed
from tasks.soundness.steps.soundness_summary import (
    SOUNDNESS_SUMMARY,
    ReviewShown,
    SummaryInput,
    SummaryReply,
)

_MOST = 3


async def summarise(
    idea: Idea, reviewed: Sequence[tuple[Method, Reviewed]], engine: Engine
) -> Cited[SoundnessSummary]:
    """Condense the scored reviews, in the methods' order.

    Without one there is nothing to condense, and the summary is unscored.
    """
    scored = [(method, each) for method, each in reviewed if each.value.score_0_to_10 is not None]
    if not scored:
        reasons = {each.value.unscored_reason for _, each in reviewed}
        reason = reasons.pop() if len(reasons) == 1 else Reason.NO_EVIDENCE
        provenance = never_asked(SOUNDNESS_SUMMARY, engine)
        return Cited(SoundnessSummary(unscored_reason=reason, provenance=provenance))
    shown = cited_anywhere(each for _, each in scored)
    question = SummaryInput(
        idea=idea.text,
        reviews=tuple(
            _review_shown(method, each.value, each.shown, shown) for method, each in scored
        ),
        unreviewed=tuple(
            method.text for method, each in reviewed if each.value.score_0_to_10 is None
        ),
    )
    outcome = await engine.run(SOUNDNESS_SUMMARY, question)
    if isinstance(outcome, Unscored):
        failure = Failure(
            stage=STAGE, subject="summary", reason=outcome.reason, detail=outcome.detail
        )
        return Cited(
            SoundnessSummary(unscored_reason=outcome.reason, provenance=outcome.provenance),
            failures=(failure,),
        )
    return _summarised(outcome.value, shown, outcome.provenance)


def _summarised(
    reply: SummaryReply, shown: Shown, provenance: Provenance
) -> Cited[SoundnessSummary]:
    """The first three of each list, with citations rendered."""
    lists = {
        "strengths": reply.strengths,
        "weaknesses": reply.weaknesses,
        "suggestions": reply.suggestions,
    }
    settled = {
        field: [settle(item, shown) for item in items[:_MOST] if item.strip()]
        for field, items in lists.items()
    }
    texts = {field: tuple(text.markdown for text in found) for field, found in settled.items()}
    beyond = [
        f"{len(items) - _MOST} {field}" for field, items in lists.items() if len(items) > _MOST
    ]
    removed = sum(text.removed_citation_count for found in settled.values() for text in found)
    summary = SoundnessSummary(
        strengths=texts["strengths"],
        weaknesses=texts["weaknesses"],
        suggestions=texts["suggestions"],
        provenance=shortened(
            provenance, f"left out beyond three: {', '.join(beyond)}" if beyond else None
        ),
    )
    citations = tuple(
        row
        for field, found in texts.items()
        for row in whole_citations(found, shown, module=STAGE, subject="summary", field=field)
    )
    detail = f"{removed} citations of papers that were not shown were taken out of the summary"
    return Cited(summary, shown, citations, failures=left_out(STAGE, "summary", detail, removed))


def _review_shown(method: Method, review: SoundnessReview, own: Shown, shown: Shown) -> ReviewShown:
    assert review.score_0_to_10 is not None
    return ReviewShown(
        rank=method.rank,
        method=method.text,
        score_0_to_10=review.score_0_to_10,
        evidence_count=review.evidence_count,
        support=rekeyed(review.support, own, shown),
        contradictions=rekeyed(review.contradictions, own, shown),
        suggestions=rekeyed(review.suggestions, own, shown),
    )
