"""Summary of the reviews of all methods, and their evidence on the plan."""

from collections.abc import Sequence
from typing import Any

from schemas.base import replace
from schemas.failure import call_failures
from schemas.idea import Idea
from schemas.judgement.soundness import (
    Concern,
    ConcernSeverity,
    Method,
    SoundnessReview,
    SoundnessSummary,
)
from schemas.outcome import Unscored
from schemas.reasons import Reason
from tasks.citations.keys import Shown
from tasks.citations.references import rekeyed
from tasks.citations.settle import Settled, settle
from tasks.judging.findings import CitedResult, all_cited_papers, omission_failures, whole_citations
from tasks.judging.step import Engine, unasked_provenance, with_shortening
from tasks.soundness.gathering import STAGE
from tasks.soundness.steps.plan_review import (
    CONCERN_EVIDENCE,
    Bearing,
    BearingsInput,
    ConcernShown,
    EvidenceOfMethod,
)
from tasks.soundness.steps.soundness_review import SOUNDNESS_SUMMARY, ReviewShown, SummaryInput

ReviewedMethod = tuple[Method, CitedResult[SoundnessReview]]

_MOST_ITEMS = 3
_LISTS = ("strengths", "weaknesses", "suggestions")


def _rekeyed(review: CitedResult[SoundnessReview], prompt_papers: Shown, *fields: str) -> list[str]:
    """Return texts of a review with the keys of `prompt_papers`."""
    texts = (getattr(review.value, field) for field in fields)
    return [rekeyed(text, review.prompt_papers, prompt_papers) for text in texts]


async def summarise(
    idea: Idea, reviews: Sequence[ReviewedMethod], engine: Engine
) -> CitedResult[SoundnessSummary]:
    """Summarize the scored reviews, in the methods' order.

    Without any, it is unscored.
    """
    prompt_papers = all_cited_papers(each for _, each in reviews)
    shown_reviews = []
    for method, review in reviews:
        if (score := review.value.score_0_to_10) is not None:
            support, contradictions, suggestions = _rekeyed(
                review, prompt_papers, "support", "contradictions", "suggestions"
            )
            shown_reviews.append(
                ReviewShown(
                    rank=method.rank,
                    method=method.text,
                    score_0_to_10=score,
                    evidence_count=review.value.evidence_count,
                    support=support,
                    contradictions=contradictions,
                    suggestions=suggestions,
                )
            )
    if not shown_reviews:
        reasons = {each.value.unscored_reason for _, each in reviews}
        return CitedResult(
            SoundnessSummary(
                unscored_reason=reasons.pop() if len(reasons) == 1 else Reason.NO_EVIDENCE,
                provenance=unasked_provenance(SOUNDNESS_SUMMARY, engine),
            )
        )
    unreviewed_methods = (
        method.text for method, each in reviews if each.value.score_0_to_10 is None
    )
    question = SummaryInput(
        idea=idea.text, reviews=tuple(shown_reviews), unreviewed=tuple(unreviewed_methods)
    )
    outcome = await engine.run(SOUNDNESS_SUMMARY, question)
    if isinstance(outcome, Unscored):
        return CitedResult(
            SoundnessSummary(unscored_reason=outcome.reason, provenance=outcome.provenance),
            failures=call_failures([outcome], STAGE, "summary"),
        )
    proposals = {field: getattr(outcome.value, field) for field in _LISTS}
    omitted_counts = [
        f"{len(items) - _MOST_ITEMS} {field}"
        for field, items in proposals.items()
        if len(items) > _MOST_ITEMS
    ]
    settled_items = {
        field: [settle(item, prompt_papers) for item in items[:_MOST_ITEMS] if item.strip()]
        for field, items in proposals.items()
    }
    texts: dict[str, Any] = {
        field: tuple(each.markdown for each in items) for field, items in settled_items.items()
    }
    removed_count = sum(
        each.removed_citation_count for items in settled_items.values() for each in items
    )
    note = f"left out beyond three: {', '.join(omitted_counts)}" if omitted_counts else None
    detail = (
        f"{removed_count} citations of papers that were not shown were taken out of the summary"
    )
    return CitedResult(
        SoundnessSummary(**texts, provenance=with_shortening(outcome.provenance, note)),
        prompt_papers,
        tuple(
            row
            for field, items in texts.items()
            for row in whole_citations(
                items, prompt_papers, module=STAGE, subject="summary", field=field
            )
        ),
        failures=omission_failures(STAGE, "summary", detail, removed_count),
    )


async def with_evidence(
    concerns: tuple[Concern, ...], reviews: Sequence[ReviewedMethod], engine: Engine
) -> CitedResult[tuple[Concern, ...]]:
    """Add findings of the methods' reviews that support or weaken the concerns.

    No call is made if no method has evidence, or if evidence cannot bear on any concern.
    """
    scored_reviews = [each for each in reviews if each[1].value.score_0_to_10 is not None]
    points = tuple(
        ConcernShown(key=concern.concern_id.upper(), point=concern.point)
        for concern in concerns
        if concern.severity not in (None, ConcernSeverity.QUESTION)
    )
    if not (scored_reviews and points):
        return CitedResult(concerns)
    prompt_papers = all_cited_papers(each for _, each in scored_reviews)
    shown_reviews = []
    for method, review in scored_reviews:
        support, contradictions = _rekeyed(review, prompt_papers, "support", "contradictions")
        shown_reviews.append(
            EvidenceOfMethod(method=method.text, support=support, contradictions=contradictions)
        )
    question = BearingsInput(concerns=points, reviews=tuple(shown_reviews))
    outcome = await engine.run(CONCERN_EVIDENCE, question)
    if isinstance(outcome, Unscored):
        return CitedResult(concerns, failures=call_failures([outcome], STAGE, "concerns"))
    keys = {point.key.casefold() for point in points}
    findings: dict[tuple[str, Bearing], Settled] = {}
    for entry in outcome.value.bearings:
        text, key = settle(entry.reason, prompt_papers), entry.concern.casefold()
        if entry.bearing is not None and key in keys and text.cited:
            findings.setdefault((key, entry.bearing), text)
    texts = {place: text.markdown for place, text in findings.items()}
    count = len(outcome.value.bearings)
    unusable = count - len(findings)
    detail = (
        f"{unusable} of {count} statements about concerns were left out: they name none that was"
        " shown, cite no paper that was shown, or repeat another"
    )
    return CitedResult(
        tuple(
            replace(
                concern,
                supported=texts.get((concern.concern_id, Bearing.SUPPORTS), ""),
                weakened=texts.get((concern.concern_id, Bearing.WEAKENS), ""),
            )
            for concern in concerns
        ),
        prompt_papers,
        whole_citations(
            texts.values(), prompt_papers, module=STAGE, subject="concerns", field="concerns"
        ),
        failures=omission_failures(STAGE, "concerns", detail, unusable),
    )
