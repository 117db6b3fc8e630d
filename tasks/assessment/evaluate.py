"""The assessment of one idea: weigh concerns, challenge them, assess the plan."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from schemas.base import replace
from schemas.failure import call_failures
from schemas.judgement.assessment import Assessment, AssessmentCriterion, AssessmentEvaluation
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Concern, ConcernSeverity, deciding
from schemas.outcome import Outcome, Scored, Unscored
from schemas.profile import AssessmentParameters
from schemas.reasons import Reason
from tasks.assessment.concerns import challenge_concerns, weigh_concerns
from tasks.assessment.material import METHODS_ASSESSED, STAGE, Material, material_of
from tasks.assessment.steps import ASSESS_PLAN, AssessInput, AssessReply, CriterionReply
from tasks.citations.keys import Shown
from tasks.citations.settle import Settled, settle
from tasks.judging.findings import CitedResult, Findings, whole_citations
from tasks.judging.packing import first_alone
from tasks.judging.step import Engine

SPREADS_PERCENT = ((10, 3), (20, 2), (35, 1))
"""(largest spread over repetitions, confidence); a larger spread has confidence 0."""

Replies = Sequence[Outcome[AssessReply]]


async def assess_plan(
    material: Material,
    concerns: Sequence[Concern],
    parameters: AssessmentParameters,
    engine_of: Callable[[int], Engine],
    *,
    unanswered: bool,
) -> CitedResult[tuple[Assessment, ...]]:
    """Ask for the probabilities, with a separate engine for each repetition.

    Args:
        unanswered: a step that looks for concerns failed or omitted points.
    """
    has_concerns = any(each.severity not in (None, ConcernSeverity.QUESTION) for each in concerns)
    question = AssessInput(
        idea=material.plan,
        concerns=tuple(
            material.concern_shown(each) for each in deciding(concerns, parameters.maximum_concerns)
        ),
        concerns_unknown=unanswered and not has_concerns,
        strengths=material.strengths,
        methods=material.methods[:METHODS_ASSESSED],
        unjudged_methods=material.unjudged_methods,
        works=material.works,
        unknown=material.unknown_in_words,
        measured=material.measured,
    )
    replies = await first_alone(
        [
            partial(engine_of(number).run, ASSESS_PLAN, question)
            for number in range(1, parameters.repetitions + 1)
        ]
    )
    rows = [_criterion(criterion, replies, material) for criterion in AssessmentCriterion]
    missing = [reply for reply in replies if isinstance(reply, Unscored)]
    return CitedResult(
        tuple(rows),
        citations=tuple(
            row
            for each in rows
            for row in whole_citations(
                each.reasons,
                material.prompt_papers,
                module=STAGE,
                subject=each.criterion,
                field="reasons",
            )
        ),
        failures=call_failures(missing, STAGE, ASSESS_PLAN.name),
    )


def _criterion(criterion: AssessmentCriterion, replies: Replies, material: Material) -> Assessment:
    """Return the median of the repetitions' probabilities, with the reasons of the nearest one."""
    if criterion is AssessmentCriterion.NEW and material.unknown is not None:
        # Finding nothing is no evidence of novelty, whatever the model guesses.
        return _unscored(criterion, replies, *material.unknown)
    percents = {
        number: entry.score
        for number, reply in enumerate(replies, start=1)
        if isinstance(reply, Scored)
        and (entry := reply.value.of(criterion)) is not None
        and entry.score is not None
        and _reasons(entry, material.prompt_papers)  # a probability needs a reason
    }
    if not percents:
        return _unscored(criterion, replies, *_why_unscored(criterion, replies))
    middle = median(percents.values())
    nearest_number = min(percents, key=lambda number: abs(percents[number] - middle))
    median_reply = replies[nearest_number - 1]
    assert isinstance(median_reply, Scored)
    entry = median_reply.value.of(criterion)
    assert entry is not None
    return Assessment(
        criterion=criterion,
        probability_0_to_1=_share(middle),
        lowest_0_to_1=_share(min(percents.values())),
        highest_0_to_1=_share(max(percents.values())),
        repetition_count=len(percents),
        by_repetition={str(number): _share(percent) for number, percent in percents.items()},
        confidence_0_to_3=_confidence(percents),
        provenance=replace(median_reply.provenance, call_ids=_call_ids(replies)),
        **_texts(entry, median_reply.value.venue, material.prompt_papers),
    )


def _texts(entry: CriterionReply, venue: str, prompt_papers: Shown) -> dict[str, Any]:
    reasons = _settle_reasons(entry, prompt_papers)
    place = settle(venue, prompt_papers)
    return {
        "reasons": _reasons(entry, prompt_papers),
        "venue": place.markdown,
        "removed_citation_count": place.removed_citation_count
        + sum(text.removed_citation_count for text in reasons),
    }


def _settle_reasons(entry: CriterionReply, prompt_papers: Shown) -> list[Settled]:
    return [settle(" ".join(reason.split()), prompt_papers) for reason in entry.reasons]


def _reasons(entry: CriterionReply, prompt_papers: Shown) -> tuple[str, ...]:
    """Return the reasons that are not empty after unknown keys are removed."""
    return tuple(text.markdown for text in _settle_reasons(entry, prompt_papers) if text.markdown)


def _share(percent: float) -> float:
    return round(percent / 100, 4)


def _confidence(percents: Mapping[int, float]) -> int:
    if len(percents) < 2:
        return 0
    spread = max(percents.values()) - min(percents.values())
    return next((sure for most, sure in SPREADS_PERCENT if spread <= most), 0)


def _why_unscored(criterion: AssessmentCriterion, replies: Replies) -> tuple[Reason, str]:
    scored_replies = [reply for reply in replies if isinstance(reply, Scored)]
    if not scored_replies:
        first_failure = replies[0]
        assert isinstance(first_failure, Unscored)
        return first_failure.reason, first_failure.detail
    entries = [
        entry for reply in scored_replies if (entry := reply.value.of(criterion)) is not None
    ]
    if criterion is AssessmentCriterion.NEW and any(entry.score is None for entry in entries):
        return Reason.NO_EVIDENCE, "by the works shown it cannot be told what is new"
    return (
        Reason.REPLY_UNPARSABLE,
        f"the replies give no probability with reasons, or contradicting ones, for {criterion}",
    )


def _unscored(
    criterion: AssessmentCriterion, replies: Replies, reason: Reason, detail: str
) -> Assessment:
    return Assessment(
        criterion=criterion,
        probability_0_to_1=None,
        repetition_count=0,
        unscored_reason=reason,
        unscored_detail=" ".join(detail.split()),
        provenance=replace(replies[0].provenance, call_ids=_call_ids(replies)),
    )


def _call_ids(replies: Replies) -> tuple[str, ...]:
    return tuple(call for reply in replies for call in reply.provenance.call_ids)


@dataclass(frozen=True, slots=True)
class AssessmentFindings(Findings[AssessmentEvaluation]):
    """Findings of the assessment.

    `concerns`: all of the idea, if soundness was evaluated.
    """

    concerns: tuple[Concern, ...] = ()


async def evaluate_assessment(
    evaluation: IdeaEvaluation,
    parameters: AssessmentParameters,
    engine: Engine,
    engine_of: Callable[[int], Engine],
) -> AssessmentFindings:
    """Assess the plan by the results of the other modules.

    Failures of the engine are part of the result.

    Args:
        engine_of: returns the engine of a repetition, counted from 1.
    """
    material = material_of(evaluation)
    weighing = await weigh_concerns(material, parameters, engine)
    limit = parameters.maximum_concerns
    challenge = await challenge_concerns(material, weighing.value, limit, engine)
    assessment = await assess_plan(
        material,
        challenge.value,
        parameters,
        engine_of,
        unanswered=material.is_plan_unreviewed or bool(weighing.failures),
    )
    of_soundness = evaluation.soundness is not None
    return AssessmentFindings(
        AssessmentEvaluation(
            assessments=assessment.value,
            concerns=() if of_soundness else challenge.value,
            failures=(*weighing.failures, *challenge.failures, *assessment.failures),
        ),
        citations=(*weighing.citations, *challenge.citations, *assessment.citations),
        suggestions=weighing.suggestions,
        concerns=challenge.value if of_soundness else (),
    )
