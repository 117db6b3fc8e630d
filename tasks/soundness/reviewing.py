"""One method's review: the evidence under keys goes in, a score and three cited texts come out
(ScholarEval §2.1).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from schemas.failure import Failure
from schemas.identifiers import PaperId
from schemas.judgement.soundness import (
    Concern,
    ConcernSeverity,
    Method,
    MethodEvidence,
    SoundnessReview,
)
from schemas.judgement.suggestion import Suggestion
from schemas.literature.citation import Citation
from schemas.literature.paper import Paper
from schemas.outcome import Provenance, Unscored, confidence_by_evidence
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from tasks.citations.keys import Shown, show
from tasks.citations.references import publication_label
from tasks.citations.settle import Settled, citation_rows, settle
from tasks.judging.step import Engine, never_asked
from tasks.judging.suggestions import settle_suggestions
from tasks.soundness.reading import Read
from tasks.soundness.steps.soundness_review import (
    SOUNDNESS_REVIEW,
    Bearing,
    ConcernShown,
    EvidenceShown,
    ReviewInput,
    ReviewReply,
)
from tasks.text.words import Excerpt

STAGE = "soundness"
_RELATED, _CLOSE = 2, 3


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A review with the papers it was shown and the citations it makes.

    `supported` and `weakened` hold what its evidence says of the plan's concerns, by `concern_id`.
    """

    review: SoundnessReview
    shown: Shown
    citations: tuple[Citation, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()
    supported: Mapping[str, str] = field(default_factory=dict)
    weakened: Mapping[str, str] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()


async def review_method(
    plan: Excerpt,
    method: Method,
    papers: Sequence[Paper],
    read: Read,
    concerns: Sequence[Concern],
    parameters: SoundnessParameters,
    engine: Engine,
) -> Reviewed:
    """Ask for the review of `method` over its relevant evidence. Call it only when there is some.

    Args:
        plan: the idea as every review of its methods shows it.
        concerns: of the whole plan, which the evidence may support or weaken.
    """
    by_id = {paper.paper_id: paper for paper in papers}
    evidence = _newest_first([row for row in read.evidence if row.relevant], by_id)
    shown = show([by_id[row.paper_id] for row in evidence])
    items = tuple(_item(row, by_id[row.paper_id], shown, read) for row in evidence)
    question = ReviewInput(
        idea=plan.text,
        idea_words_left_out=plan.words_left_out,
        method=method.text,
        concerns=tuple(
            ConcernShown(
                key=concern.concern_id.upper(), severity=concern.severity, point=concern.point
            )
            for concern in concerns
            if concern.severity not in (None, ConcernSeverity.QUESTION)
        ),
        evidence=items,
        words_per_text=parameters.words_per_review_text,
    )
    outcome = await engine.run(SOUNDNESS_REVIEW, question)
    if isinstance(outcome, Unscored):
        return Reviewed(
            unscored_review(method, outcome.reason, outcome.detail, outcome.provenance, len(items)),
            shown,
        )
    reply = outcome.value
    if not (reply.support.strip() or reply.contradictions.strip()):
        detail = "the reply gives a score without saying what speaks for or against the method"
        return Reviewed(
            unscored_review(method, Reason.REPLY_EMPTY, detail, outcome.provenance, len(items)),
            shown,
        )
    return _settled(method, reply, shown, question, outcome.provenance)


def reaches(row: MethodEvidence, minimum_relevance: int) -> bool:
    """Whether a paper is relevant enough; one that is relevant without a grade counts as related."""
    return bool(row.relevant) and (row.relevance_0_to_3 or _RELATED) >= minimum_relevance


def unreviewed(method: Method, read: Read, source_failed: bool, engine: Engine) -> Reviewed:
    """The review of a method without evidence that is relevant enough.

    "Nothing found" (no_evidence) is said only when every source answered and every paper found was
    judged; otherwise the reason is that of the judgement or the look-up that failed.
    """
    reason, detail = _why_unreviewed(read, source_failed or read.source_failed)
    return Reviewed(
        unscored_review(method, reason, detail, never_asked(SOUNDNESS_REVIEW, engine), 0), show(())
    )


def _why_unreviewed(read: Read, source_failed: bool) -> tuple[Reason, str]:
    unjudged = [row.unscored_reason for row in read.evidence if row.unscored_reason is not None]
    unanswered = [
        reason
        for reason in unjudged
        if reason is not Reason.SOURCE_UNAVAILABLE and reason is not Reason.NO_EVIDENCE
    ]
    if unanswered:
        return (
            unanswered[0],
            (
                f"{len(unanswered)} of {len(read.evidence)} papers could not be judged, and no"
                " other is relevant enough"
            ),
        )
    if source_failed:
        detail = (
            "no paper was found that is relevant enough, but a look-up failed (see failures); run again to try"
            " once more"
        )
        return Reason.SOURCE_UNAVAILABLE, detail
    distant = sum(bool(row.relevant) for row in read.evidence)
    if distant:
        detail = (
            f"{len(read.evidence)} papers were found, {distant} of them distant and none closer to"
            " the method: nothing is scored against them"
        )
        return Reason.NO_EVIDENCE, detail
    if read.evidence:
        return (
            Reason.NO_EVIDENCE,
            f"{len(read.evidence)} papers were found, none relevant to the method",
        )
    return Reason.NO_EVIDENCE, "the search found no admissible paper"


def unscored_review(
    method: Method, reason: Reason, detail: str, provenance: Provenance, evidence_count: int
) -> SoundnessReview:
    return SoundnessReview(
        method_id=method.method_id,
        unscored_reason=reason,
        unscored_detail=detail,
        evidence_count=evidence_count,
        provenance=provenance,
    )


def _newest_first(
    evidence: list[MethodEvidence], papers: dict[PaperId, Paper]
) -> list[MethodEvidence]:
    """By publication date; of the same date, and among the undated, in order of passage score."""
    return sorted(
        evidence,
        key=lambda row: papers[row.paper_id].latest_publication_date or date.min,
        reverse=True,
    )


def _item(row: MethodEvidence, paper: Paper, shown: Shown, read: Read) -> EvidenceShown:
    return EvidenceShown(
        key=shown.key_of(row.paper_id),
        title=paper.title,
        published=publication_label(paper),
        relevance=row.relevance_0_to_3,
        read_from="full text" if row.paper_id in read.full_text else "abstract",
        citation_count=paper.citation_count,
        method=row.method,
        results=row.results,
        context=row.context,
    )


def _settled(
    method: Method, reply: ReviewReply, shown: Shown, asked: ReviewInput, provenance: Provenance
) -> Reviewed:
    texts: dict[str, Settled] = {
        field: settle(text, shown)
        for field, text in (
            ("support", reply.support),
            ("contradictions", reply.contradictions),
        )
    }
    suggested = settle_suggestions(
        reply.suggestions,
        shown,
        module=STAGE,
        subject=method.method_id,
        provenance=provenance,
    )
    texts["suggestions"] = suggested.text
    reasoning = settle(reply.open_questions, shown)
    borne = _borne(reply, shown, asked)
    texts["concerns"] = settle("\n\n".join(each.markdown for each in borne.values()), shown)
    review = SoundnessReview(
        method_id=method.method_id,
        support=texts["support"].markdown,
        contradictions=texts["contradictions"].markdown,
        suggestions=texts["suggestions"].markdown,
        open_questions=reasoning.markdown,
        score_0_to_10=float(reply.score),
        confidence_0_to_3=_confidence(asked.evidence),
        evidence_count=len(shown),
        removed_citation_count=reasoning.removed_citation_count
        + sum(text.removed_citation_count for text in texts.values()),
        uncited_sentence_count=sum(text.uncited_sentence_count for text in texts.values()),
        provenance=provenance,
    )
    citations = tuple(
        row
        for field, text in texts.items()
        for row in citation_rows(text, shown, module=STAGE, subject=method.method_id, field=field)
    )
    told = {
        bearing: {
            concern: f"Method {method.rank}: {text.markdown}"
            for (concern, towards), text in borne.items()
            if towards is bearing
        }
        for bearing in Bearing
    }
    return Reviewed(
        review,
        shown,
        citations,
        suggested.rows,
        supported=told[Bearing.SUPPORTS],
        weakened=told[Bearing.WEAKENS],
        failures=(
            *suggested.failures,
            *_unusable(method, len(reply.concerns) - len(borne), len(reply.concerns)),
        ),
    )


def _confidence(evidence: Sequence[EvidenceShown]) -> int:
    """By the grades; a relevant paper without one counts as related."""
    grades = [_RELATED if item.relevance is None else item.relevance for item in evidence]
    return confidence_by_evidence(strong=grades.count(_CLOSE), fair=grades.count(_RELATED))


def _borne(
    reply: ReviewReply, shown: Shown, asked: ReviewInput
) -> dict[tuple[str, Bearing], Settled]:
    """What the evidence says by `concern_id`: of concerns that were shown, with a paper that
    was.
    """
    known = {concern.key.casefold() for concern in asked.concerns}
    found: dict[tuple[str, Bearing], Settled] = {}
    for entry in reply.concerns:
        text, concern = settle(entry.reason, shown), entry.concern.casefold()
        if entry.bearing is not None and concern in known and text.cited:
            found.setdefault((concern, entry.bearing), text)
    return found


def _unusable(method: Method, left_out: int, given: int) -> tuple[Failure, ...]:
    if not left_out:
        return ()
    detail = (
        f"{left_out} of {given} statements about concerns were left out: they name none that was "
        "shown, cite no paper that was shown, or repeat another"
    )
    return (
        Failure(
            stage=STAGE,
            subject=method.method_id,
            reason=Reason.REPLY_UNPARSABLE,
            detail=detail,
        ),
    )
