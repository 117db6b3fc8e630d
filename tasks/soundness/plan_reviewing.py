"""Review of the plan: points and questions with verified quotes."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
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
from tasks.recommendation.extracting import ResourceLines
from tasks.soundness.gathering import STAGE
from tasks.soundness.steps.plan_questions import (
    PLAN_QUESTIONS,
    ProposedQuestion,
    QuestionsInput,
)
from tasks.soundness.steps.plan_review import PLAN_REVIEW, PlanInput, ProposedPoint
from tasks.text.quotations import LEAST_CHARACTERS_OF_A_PLAN, stands_in

_SUBJECT = "plan"


@dataclass(frozen=True, slots=True)
class PlanReviewResult(CitedResult[PlanReview]):
    """Result of a plan's review: usable points, and failures for the others."""

    concerns: tuple[Concern, ...] = ()


@dataclass(frozen=True, slots=True)
class _SettledPoint:
    """A point without citations, except those of `action` to papers of the prompt."""

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
    near_works: Callable[[], Awaitable[ResourceLines]],
    results: Sequence[ExperimentalResult] = (),
) -> PlanReviewResult:
    """Ask for the points about the plan, and apart for questions about single things; those that
    misquote are omitted and counted.

    Args:
        near_works: resources used by works near the idea; awaited if the prompt shows them.
        results: experimental results of the idea, separate from the literature in the prompt.
    """
    async with asyncio.TaskGroup() as group:
        questions_task = group.create_task(
            engine.run(
                PLAN_QUESTIONS,
                QuestionsInput(idea=idea.text, maximum_questions=parameters.maximum_questions),
            )
        )
        near_works_lines = await near_works() if parameters.resources_shown else ResourceLines()
        question = PlanInput(
            idea=idea.text,
            maximum_points=parameters.maximum_points,
            words_per_point=parameters.words_per_concern,
            near_works="\n".join(near_works_lines.lines),
            measured="\n".join(result.in_words for result in results),
        )
        outcome = await engine.run(PLAN_REVIEW, question)
    if isinstance(outcome, Unscored):
        return _without_review(outcome.reason, outcome.detail, outcome.provenance)
    questions_outcome = questions_task.result()
    questions: list[ProposedPoint] = []
    question_failures: tuple[Failure, ...] = ()
    if isinstance(questions_outcome, Unscored):
        question_failures = (
            Failure(
                stage=STAGE,
                subject="plan questions",
                reason=questions_outcome.reason,
                detail=questions_outcome.detail,
            ),
        )
    else:
        questions = [_point_of(each) for each in questions_outcome.value.questions]
    points = [
        _settle_point(point, near_works_lines.prompt_papers)
        for point in (*outcome.value.points, *questions)
    ]
    flaws = [_flaw(point.proposed, idea.text) for point in points]
    sound = [point for point, flaw in zip(points, flaws, strict=True) if flaw is None]
    kept_points = _select_points(sound, parameters)
    failures = (
        *_failures_of([flaw for flaw in flaws if flaw is not None], len(points)),
        *question_failures,
    )
    dropped_count = len(points) - len(sound)
    if not kept_points:
        detail = f"none of the {len(points)} points in the reply can be used"
        no_review = _without_review(Reason.REPLY_UNPARSABLE, detail, outcome.provenance)
        return PlanReviewResult(
            replace(no_review.value, dropped_point_count=dropped_count),
            failures=(*failures, *no_review.failures),
        )
    beyond = len(sound) - len(kept_points)
    note = f"{beyond} points beyond the limit left out, {len(kept_points)} kept" if beyond else None
    provenance = with_shortening(outcome.provenance, note)
    concerns = tuple(
        _concern(
            rank,
            point.proposed,
            questions_outcome.provenance if _is_question(point.proposed) else provenance,
        )
        for rank, point in enumerate(kept_points, start=1)
    )
    acted_on = [pair for pair in zip(concerns, kept_points, strict=True) if pair[0].action]
    return PlanReviewResult(
        PlanReview(
            concern_count=len(kept_points),
            dropped_point_count=dropped_count,
            removed_citation_count=sum(point.removed_citation_count for point in kept_points),
            provenance=provenance,
        ),
        near_works_lines.prompt_papers,
        # All actions form one text of the review.
        whole_citations(
            [point.action.markdown for point in kept_points],
            near_works_lines.prompt_papers,
            module=STAGE,
            subject=_SUBJECT,
            field="suggestions",
        ),
        tuple(
            suggestion_about(
                concern, rank, keys_of(point.action, near_works_lines.prompt_papers), module=STAGE
            )
            for rank, (concern, point) in enumerate(acted_on, start=1)
        ),
        failures,
        concerns,
    )


def _select_points(
    sound: Sequence[_SettledPoint], parameters: SoundnessParameters
) -> list[_SettledPoint]:
    """Return as many points as requested; none if there are only questions.

    A review of questions alone would make the plan look flawless.
    """
    objections = [point for point in sound if not _is_question(point.proposed)]
    questions = [point for point in sound if _is_question(point.proposed)]
    if not objections:
        return []
    return [*objections[: parameters.maximum_points], *questions[: parameters.maximum_questions]]


def _without_review(reason: Reason, detail: str, provenance: Provenance) -> PlanReviewResult:
    """Return an unscored review; for the offline engine this is no failure."""
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
    """Settle the texts of a point; only its action may cite papers of the prompt."""
    action = settle(point.action, prompt_papers)
    texts = settle_texts(point, ("point", "omission", "why", "would_change"), NO_PROMPT_PAPERS)
    changes = {name: text.markdown for name, text in texts.by_field.items()}
    settled_point = point.model_copy(
        update={**changes, "action": action.markdown, "quote": point.quote.strip()}
    )
    removed_count = texts.removed_citation_count + action.removed_citation_count
    return _SettledPoint(settled_point, action, removed_count)


def _flaw(point: ProposedPoint, plan: str) -> _Flaw | None:
    """Return the flaw that makes a point unusable; None: it is usable."""
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
