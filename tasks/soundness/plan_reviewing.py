"""The review of the plan itself: points with a quote that stands in it, and what the evidence says
of each.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.base import replace
from schemas.failure import Failure
from schemas.idea import Idea
from schemas.judgement.soundness import Concern, ConcernKind, ConcernSeverity, PlanReview
from schemas.outcome import Provenance, Unscored
from schemas.profile import SoundnessParameters
from schemas.reasons import Reason
from schemas.works.experimental_result import ExperimentalResult
from tasks.citations.keys import Shown
from tasks.citations.settle import Settled, settle
from tasks.judging.findings import (
    NO_PROMPT_PAPERS,
    CitedResult,
    keys_of,
    settle_texts,
    whole_citations,
)
from tasks.judging.step import Engine, with_shortening
from tasks.judging.suggestions import suggestion_about
from tasks.recommendation.extracting import Offered
from tasks.soundness.gathering import STAGE
from tasks.soundness.reviewing import MethodReviewResult
from tasks.soundness.steps.plan_review import (
    PLAN_REVIEW,
    PlanInput,
    ProposedPoint,
    ProposedQuestion,
)
from tasks.text.quotations import LEAST_CHARACTERS_OF_A_PLAN, stands_in

_SUBJECT = "plan"


@dataclass(frozen=True, slots=True)
class PlanReviewResult(CitedResult[PlanReview]):
    """Result of a review of a plan: the points it keeps, and what was wrong with the rest."""

    concerns: tuple[Concern, ...] = ()


@dataclass(frozen=True, slots=True)
class _SettledPoint:
    """A point without the references that it brought along;
    those of `action` to works shown stay.
    """

    proposed: ProposedPoint
    action: Settled
    removed_citation_count: int


@dataclass(frozen=True, slots=True)
class _Flaw:
    reason: Reason
    description: str


_MISQUOTED = _Flaw(Reason.PASSAGE_NOT_FOUND, "quote words that do not stand in the plan")
_UNFOUNDED = _Flaw(Reason.REPLY_UNPARSABLE, "neither quote the plan nor say what it lacks")
_UNGRADED = _Flaw(Reason.REPLY_UNPARSABLE, "have no kind or no severity of the list")
_UNREASONED = _Flaw(Reason.REPLY_UNPARSABLE, "give no reason")


async def review_plan(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    near_works: Callable[[], Awaitable[Offered]],
    results: Sequence[ExperimentalResult] = (),
) -> PlanReviewResult:
    """Ask for the points about the plan.

    Those that quote other words than the plan's are left out, on record.

    Args:
        near_works: what works near the idea used; waited for where the parameters want it shown.
        results: what came of trying the idea; shown apart from all that works say.
    """
    offered = await near_works() if parameters.resources_shown else Offered()
    question = PlanInput(
        idea=idea.text,
        maximum_points=parameters.maximum_points,
        maximum_questions=parameters.maximum_questions,
        words_per_point=parameters.words_per_concern,
        near_works="\n".join(offered.lines),
        measured="\n".join(result.in_words for result in results),
    )
    outcome = await engine.run(PLAN_REVIEW, question)
    if isinstance(outcome, Unscored):
        return _unreviewed(outcome.reason, outcome.detail, outcome.provenance)
    questions = map(_point_of, outcome.value.questions)
    points = [_settle_point(point, offered.shown) for point in (*outcome.value.points, *questions)]
    flaws = [_flaw(point.proposed, idea.text) for point in points]
    sound = [point for point, flaw in zip(points, flaws, strict=True) if flaw is None]
    kept_points = _select_points(sound, parameters)
    failures = tuple(_failures_of([flaw for flaw in flaws if flaw is not None], len(points)))
    dropped = len(points) - len(sound)
    if not kept_points:
        detail = f"none of the {len(points)} points in the reply can be used"
        unreviewed = _unreviewed(Reason.REPLY_UNPARSABLE, detail, outcome.provenance)
        return PlanReviewResult(
            replace(unreviewed.value, dropped_point_count=dropped),
            failures=(*failures, *unreviewed.failures),
        )
    beyond = len(sound) - len(kept_points)
    note = f"{beyond} points beyond the limit left out, {len(kept_points)} kept" if beyond else None
    provenance = with_shortening(outcome.provenance, note)
    concerns = tuple(
        _concern(rank, point.proposed, provenance)
        for rank, point in enumerate(kept_points, start=1)
    )
    acted_on = [pair for pair in zip(concerns, kept_points, strict=True) if pair[0].action]
    return PlanReviewResult(
        PlanReview(
            concern_count=len(kept_points),
            dropped_point_count=dropped,
            removed_citation_count=sum(point.removed_citation_count for point in kept_points),
            provenance=provenance,
        ),
        offered.shown,
        # Of all actions together, for they are one text of the review.
        whole_citations(
            [point.action.markdown for point in kept_points],
            offered.shown,
            module=STAGE,
            subject=_SUBJECT,
            field="suggestions",
        ),
        tuple(
            suggestion_about(concern, rank, keys_of(point.action, offered.shown), module=STAGE)
            for rank, (concern, point) in enumerate(acted_on, start=1)
        ),
        failures,
        concerns,
    )


def _select_points(
    sound: Sequence[_SettledPoint], parameters: SoundnessParameters
) -> list[_SettledPoint]:
    """As many as were asked for. Questions without a single point are no review: a plan nobody
    judged would look flawless.
    """
    objections = [point for point in sound if not _is_question(point.proposed)]
    questions = [point for point in sound if _is_question(point.proposed)]
    if not objections:
        return []
    return [*objections[: parameters.maximum_points], *questions[: parameters.maximum_questions]]


def with_evidence(
    concerns: Sequence[Concern], reviewed: Sequence[MethodReviewResult]
) -> tuple[Concern, ...]:
    """`concerns` with what the evidence of the methods, in their order, says for and against
    each.
    """
    return tuple(
        replace(
            concern,
            supported=_join_statements(concern, [each.supported for each in reviewed]),
            weakened=_join_statements(concern, [each.weakened for each in reviewed]),
        )
        for concern in concerns
    )


def _join_statements(concern: Concern, statements_by_method: Sequence[Mapping[str, str]]) -> str:
    return "\n\n".join(
        by_concern[concern.concern_id]
        for by_concern in statements_by_method
        if concern.concern_id in by_concern
    )


def _unreviewed(reason: Reason, detail: str, provenance: Provenance) -> PlanReviewResult:
    """Without a review. That the offline engine gives none is no failure."""
    review = PlanReview(unscored_reason=reason, unscored_detail=detail, provenance=provenance)
    failures = () if reason is Reason.OFFLINE_ENGINE else (_failure(reason, detail),)
    return PlanReviewResult(review, failures=failures)


def _point_of(question: ProposedQuestion) -> ProposedPoint:
    return ProposedPoint(
        kind=question.kind,
        severity=ConcernSeverity.QUESTION,
        point=question.question,
        quote=question.about,
        why="",
    )


def _is_question(point: ProposedPoint) -> bool:
    return point.severity is ConcernSeverity.QUESTION


def _settle_point(point: ProposedPoint, prompt_papers: Shown) -> _SettledPoint:
    """Settle the texts of a point; only its action may cite works, of those shown."""
    action = settle(point.action, prompt_papers)
    texts = settle_texts(point, ("point", "omission", "why", "would_change"), NO_PROMPT_PAPERS)
    changes = {name: text.markdown for name, text in texts.by_field.items()}
    settled = point.model_copy(
        update={**changes, "action": action.markdown, "quote": point.quote.strip()}
    )
    removed = texts.removed_citation_count + action.removed_citation_count
    return _SettledPoint(settled, action, removed)


def _flaw(point: ProposedPoint, plan: str) -> _Flaw | None:
    """Why a point cannot be kept; None: it can."""
    strength = point.kind is ConcernKind.STRENGTH
    if point.kind is None or not (strength or point.severity is not None):
        return _UNGRADED
    if strength and _is_question(point):
        return _UNGRADED
    if not (point.point and (point.why or _is_question(point))):
        return _UNREASONED
    if not point.quote:
        needs_quote = strength or _is_question(point) or not point.omission
        return _UNFOUNDED if needs_quote else None
    if not stands_in(point.quote, plan, least_characters=LEAST_CHARACTERS_OF_A_PLAN):
        return _MISQUOTED
    return None


def _failures_of(flaws: list[_Flaw], point_count: int) -> Iterator[Failure]:
    for flaw in dict.fromkeys(flaws):
        detail = (
            f"{flaws.count(flaw)} of {point_count} points were left out: they {flaw.description}"
        )
        yield _failure(flaw.reason, detail)


def _failure(reason: Reason, detail: str) -> Failure:
    return Failure(stage=STAGE, subject=_SUBJECT, reason=reason, detail=detail)


def _concern(rank: int, point: ProposedPoint, provenance: Provenance) -> Concern:
    assert point.kind is not None
    strength = point.kind is ConcernKind.STRENGTH
    return Concern(
        concern_id=f"c{rank}",
        rank=rank,
        kind=point.kind,
        severity=None if strength else point.severity,
        point=point.point,
        quote=point.quote,
        omission="" if point.quote else point.omission,
        why=point.why,
        would_change=point.would_change,
        action=point.action,
        effort=point.effort if point.action else None,
        provenance=provenance,
    )
