"""Evidence for and against the points about a plan, once the methods are reviewed and scored."""

from collections.abc import Sequence

from schemas.base import replace
from schemas.failure import Failure
from schemas.judgement.soundness import Concern, ConcernSeverity, Method
from schemas.outcome import Unscored
from tasks.citations.keys import Shown
from tasks.citations.references import rekeyed
from tasks.citations.settle import Settled, settle
from tasks.judging.findings import CitedResult, all_cited_papers, omission_failures, whole_citations
from tasks.judging.step import Engine
from tasks.soundness.gathering import STAGE
from tasks.soundness.reviewing import MethodReviewResult
from tasks.soundness.steps.concern_evidence import (
    CONCERN_EVIDENCE,
    Bearing,
    BearingsInput,
    BearingsReply,
    ConcernShown,
    EvidenceOfMethod,
)

_SUBJECT = "concerns"


async def with_evidence(
    concerns: tuple[Concern, ...],
    reviewed: Sequence[tuple[Method, MethodReviewResult]],
    engine: Engine,
) -> CitedResult[tuple[Concern, ...]]:
    """Return `concerns` with the findings of the methods' reviews that support or weaken them.

    Nothing is asked where no method has evidence, or no concern is open to it.
    """
    scored_reviews = [
        (method, each) for method, each in reviewed if each.value.score_0_to_10 is not None
    ]
    points = tuple(
        ConcernShown(key=concern.concern_id.upper(), point=concern.point)
        for concern in concerns
        if concern.severity not in (None, ConcernSeverity.QUESTION)
    )
    if not (scored_reviews and points):
        return CitedResult(concerns)
    cited_papers = all_cited_papers(each for _, each in scored_reviews)
    question = BearingsInput(
        concerns=points,
        reviews=tuple(
            EvidenceOfMethod(
                method=method.text,
                support=rekeyed(each.value.support, each.prompt_papers, cited_papers),
                contradictions=rekeyed(each.value.contradictions, each.prompt_papers, cited_papers),
            )
            for method, each in scored_reviews
        ),
    )
    outcome = await engine.run(CONCERN_EVIDENCE, question)
    if isinstance(outcome, Unscored):
        failure = Failure(
            stage=STAGE, subject=_SUBJECT, reason=outcome.reason, detail=outcome.detail
        )
        return CitedResult(concerns, failures=(failure,))
    findings = _findings(outcome.value, points, cited_papers)
    bearing_count = len(outcome.value.bearings)
    unusable = bearing_count - len(findings)
    detail = (
        f"{unusable} of {bearing_count} statements about concerns were left out: they name none that was "
        "shown, cite no paper that was shown, or repeat another"
    )
    return CitedResult(
        tuple(_with_findings(concern, findings) for concern in concerns),
        cited_papers,
        whole_citations(
            [text.markdown for text in findings.values()],
            cited_papers,
            module=STAGE,
            subject=_SUBJECT,
            field="concerns",
        ),
        failures=omission_failures(STAGE, _SUBJECT, detail, unusable),
    )


def _findings(
    reply: BearingsReply, points: Sequence[ConcernShown], shown: Shown
) -> dict[tuple[str, Bearing], Settled]:
    """The findings by concern key and bearing: of concerns that were shown, with a paper that was."""
    keys = {point.key.casefold() for point in points}
    findings: dict[tuple[str, Bearing], Settled] = {}
    for entry in reply.bearings:
        text, key = settle(entry.reason, shown), entry.concern.casefold()
        if entry.bearing is not None and key in keys and text.cited:
            findings.setdefault((key, entry.bearing), text)
    return findings


def _with_findings(concern: Concern, findings: dict[tuple[str, Bearing], Settled]) -> Concern:
    support, weakening = (
        findings.get((concern.concern_id, bearing))
        for bearing in (Bearing.SUPPORTS, Bearing.WEAKENS)
    )
    return replace(
        concern,
        supported=support.markdown if support else "",
        weakened=weakening.markdown if weakening else "",
    )
