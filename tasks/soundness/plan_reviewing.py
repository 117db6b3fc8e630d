"""Review of the plan: points and questions with verified quotes."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

from schemas.failure import Failure, call_failures
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
from tasks.judging.findings_of_judges import first_of_each
from tasks.judging.step import Engine, with_shortening
from tasks.judging.suggestions import suggestion_about
from tasks.recommendation.extracting import ResourceLines
from tasks.soundness.gathering import STAGE
from tasks.soundness.steps.plan_review import (
    PLAN_QUESTIONS,
    PLAN_REVIEW,
    PlanInput,
    ProposedPoint,
    QuestionsInput,
)
from tasks.text.quotations import LEAST_CHARACTERS_OF_A_PLAN, stands_in

_SUBJECT = "plan"


@dataclass(frozen=True, slots=True)
class PlanReviewResult(CitedResult[PlanReview | None]):
    """Result of a plan's review: usable points, and failures for the others.

    `value` is None where the profile asks for none.
    """

    concerns: tuple[Concern, ...] = ()


@dataclass(frozen=True, slots=True)
class _SettledPoint:
    """A point without citations, except those of `action` to papers of the prompt.

    `flaw`: why it cannot be used.
    """

    proposed: ProposedPoint
    action: Settled
    removed_citation_count: int
    flaw: str | None

    @property
    def is_question(self) -> bool:
        return self.proposed.severity is ConcernSeverity.QUESTION

    @property
    def rank(self) -> int | None:
        return self.proposed.rank


_MISQUOTED_TEXT = "quote words that do not stand in the plan"
_UNFOUNDED_TEXT = "neither quote the plan nor say what it lacks"
_UNGRADED_TEXT = "have no kind or no severity of the list"
_UNREASONED_TEXT = "give no reason"


async def review_plan(
    idea: Idea,
    parameters: SoundnessParameters,
    engine: Engine,
    near_works: Awaitable[ResourceLines],
    results: Sequence[ExperimentalResult] = (),
) -> PlanReviewResult:
    """Ask for points about the plan and, separately, for questions about details.

    Points that misquote the plan are omitted and counted.

    Args:
        near_works: resources used by works near the idea.
        results: experimental results of the idea, separate from the literature in the prompt.
    """
    if not parameters.maximum_points:
        return PlanReviewResult(None)
    question = QuestionsInput(idea=idea.text, maximum_questions=parameters.maximum_questions)
    async with asyncio.TaskGroup() as group:
        questions_task = group.create_task(engine.run(PLAN_QUESTIONS, question))
        resource_lines = await near_works
        plan = PlanInput(
            idea=idea.text,
            maximum_points=parameters.maximum_points,
            words_per_point=parameters.words_per_concern,
            near_works="\n".join(resource_lines.lines),
            measured="\n".join(result.in_words for result in results),
        )
        outcome = await engine.run(PLAN_REVIEW, plan)
    if isinstance(outcome, Unscored):
        return _without_review(outcome)
    questions_outcome = questions_task.result()
    proposals = list(outcome.value.points)
    question_failures: tuple[Failure, ...] = ()
    if isinstance(questions_outcome, Unscored):
        question_failures = call_failures([questions_outcome], STAGE, "plan questions")
    else:
        proposals += [
            ProposedPoint(
                kind=each.kind,
                severity=ConcernSeverity.QUESTION,
                point=each.question,
                quote=each.about,
                why="",
            ).raised_by(each.found_by, each.rank)
            for each in questions_outcome.value.questions
        ]
    points = [_settle_point(each, resource_lines.prompt_papers, idea.text) for each in proposals]
    sound = [each for each in points if each.flaw is None]
    flaws = Counter(each.flaw for each in points if each.flaw is not None)
    failures = (
        *(
            Failure(
                stage=STAGE,
                subject=_SUBJECT,
                reason=Reason.PASSAGE_NOT_FOUND
                if flaw == _MISQUOTED_TEXT
                else Reason.REPLY_UNPARSABLE,
                detail=f"{count} of {len(points)} points were left out: they {flaw}",
            )
            for flaw, count in flaws.items()
        ),
        *question_failures,
    )
    objections, questions = (
        first_of_each([each for each in sound if each.is_question is is_question], limit)
        for is_question, limit in (
            (False, parameters.maximum_points),
            (True, parameters.maximum_questions),
        )
    )
    if not objections:  # questions alone would make the plan look flawless
        detail = f"none of the {len(points)} points in the reply can be used"
        unscored = Unscored(Reason.REPLY_UNPARSABLE, detail, outcome.provenance)
        return _without_review(unscored, flaws.total(), failures)
    kept_points = [*objections, *questions]
    omitted_count = len(sound) - len(kept_points)
    note = (
        f"{omitted_count} points beyond the limit left out, {len(kept_points)} kept"
        if omitted_count
        else None
    )
    provenance = with_shortening(outcome.provenance, note)
    concerns = tuple(
        _concern(
            rank,
            each.proposed,
            questions_outcome.provenance if each.is_question else provenance,
        )
        for rank, each in enumerate(kept_points, start=1)
    )
    acted_on = [pair for pair in zip(concerns, kept_points, strict=True) if pair[0].action]
    return PlanReviewResult(
        PlanReview(
            concern_count=len(kept_points),
            dropped_point_count=flaws.total(),
            removed_citation_count=sum(each.removed_citation_count for each in kept_points),
            provenance=provenance,
        ),
        resource_lines.prompt_papers,
        # All actions form one text of the review.
        whole_citations(
            [each.action.markdown for each in kept_points],
            resource_lines.prompt_papers,
            module=STAGE,
            subject=_SUBJECT,
            field="suggestions",
        ),
        tuple(
            suggestion_about(
                concern, rank, keys_of(each.action, resource_lines.prompt_papers), module=STAGE
            )
            for rank, (concern, each) in enumerate(acted_on, start=1)
        ),
        failures,
        concerns,
    )


def _without_review(
    unscored: Unscored, dropped_count: int = 0, failures: tuple[Failure, ...] = ()
) -> PlanReviewResult:
    """Return an unscored review; for the offline engine this is no failure."""
    review = PlanReview(dropped_point_count=dropped_count, **unscored.columns)
    if unscored.reason is not Reason.OFFLINE_ENGINE:
        failures = (*failures, *call_failures([unscored], STAGE, _SUBJECT))
    return PlanReviewResult(review, failures=failures)


def _settle_point(point: ProposedPoint, prompt_papers: Shown, plan: str) -> _SettledPoint:
    """Settle the texts of a point.

    Only its action may cite papers of the prompt.
    """
    action = settle(point.action, prompt_papers)
    texts = settle_texts(point, ("point", "omission", "why", "would_change"), NO_PROMPT_PAPERS)
    changes = {name: text.markdown for name, text in texts.by_field.items()}
    settled_point = point.model_copy(
        update={**changes, "action": action.markdown, "quote": point.quote.strip()}
    )
    removed_count = texts.removed_citation_count + action.removed_citation_count
    return _SettledPoint(settled_point, action, removed_count, _flaw(settled_point, plan))


def _flaw(point: ProposedPoint, plan: str) -> str | None:
    """Return the flaw that makes a point unusable; None: it is usable."""
    strength = point.kind is ConcernKind.STRENGTH
    is_question = point.severity is ConcernSeverity.QUESTION
    is_graded = strength or point.severity is not None
    if point.kind is None or not is_graded or (strength and is_question):
        return _UNGRADED_TEXT
    if not (point.point and (point.why or is_question)):
        return _UNREASONED_TEXT
    if not point.quote:
        return _UNFOUNDED_TEXT if strength or is_question or not point.omission else None
    in_plan = stands_in(point.quote, plan, least_characters=LEAST_CHARACTERS_OF_A_PLAN)
    return None if in_plan else _MISQUOTED_TEXT


def _concern(rank: int, point: ProposedPoint, provenance: Provenance) -> Concern:
    assert point.kind is not None
    strength = point.kind is ConcernKind.STRENGTH
    return Concern(
        concern_id=f"c{rank}",
        rank=rank,
        kind=point.kind,
        severity=None if strength else point.severity,
        found_by=point.found_by,
        point=point.point,
        quote=point.quote,
        omission="" if point.quote else point.omission,
        why=point.why,
        would_change=point.would_change,
        action=point.action,
        effort=point.effort if point.action else None,
        provenance=provenance,
    )
