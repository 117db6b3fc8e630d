"""Evaluations with an assessment and weighed concerns: short ones, and one as long as they come."""

import random
from collections.abc import Sequence
from typing import Any

from schemas.base import replace
from schemas.judgement.assessment import Assessment, AssessmentCriterion, AssessmentEvaluation
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Concern, ConcernKind, ConcernSeverity, ConfirmedSeverity
from schemas.judgement.suggestion import ActionEffort
from schemas.reasons import Reason
from schemas.standing import IdeaState
from tests.support.evaluations import make_evaluation, make_provenance, make_run, prose
from warehouse.row_models import IdeaReview, IdeaScore

FATAL, MAJOR, MINOR, QUESTION = ConcernSeverity
OVERALL = AssessmentCriterion.OVERALL
REASONS = (
    "The claim rests on one cohort. Nothing in the plan would show that it holds elsewhere.",
    "The closest work reports the same effect with twice the sample.",
    "The test would decide the question if the control were added.",
)


def make_assessment(
    criterion: AssessmentCriterion,
    probability: float | None = 0.56,
    *,
    lowest: float | None = None,
    highest: float | None = None,
    repetitions: int = 3,
    reasons: Sequence[str] = REASONS,
    reason: Reason = Reason.NO_EVIDENCE,
) -> Assessment:
    """One row of `assessments`; without a probability it is unscored for `reason`."""
    scored = probability is not None
    return Assessment(
        criterion=criterion,
        probability_0_to_1=probability,
        lowest_0_to_1=(probability if lowest is None else lowest) if scored else None,
        highest_0_to_1=(probability if highest is None else highest) if scored else None,
        repetition_count=repetitions if scored else 0,
        confidence_0_to_3=2 if scored else None,
        reasons=tuple(reasons) if scored else (),
        unscored_reason=None if scored else reason,
        unscored_detail="" if scored else "nothing was compared",
        provenance=make_provenance("assess_plan"),
    )


def make_assessments(
    overall: float | None = 0.56, *, new: float | None = 0.4, **changes: Any
) -> AssessmentEvaluation:
    """A row for each criterion; `changes` are of `overall`, as `make_assessment` takes them."""
    others = {
        AssessmentCriterion.WORTH_ASKING: 0.7,
        AssessmentCriterion.NEW: new,
        AssessmentCriterion.DECISIVE_TEST: 0.35,
        AssessmentCriterion.FEASIBLE: 0.8,
    }
    rows = [make_assessment(criterion, value) for criterion, value in others.items()]
    return AssessmentEvaluation(
        assessments=(*rows, make_assessment(OVERALL, overall, **changes)), failures=()
    )


def make_concern(number: int, severity: ConcernSeverity | None = MAJOR, **changes: Any) -> Concern:
    """A concern whose every part names its number, so that a page can be searched for it."""
    told: dict[str, Any] = {
        "concern_id": f"c{number}",
        "rank": number,
        "kind": ConcernKind.STRENGTH if severity is None else ConcernKind.CONFOUND,
        "severity": severity,
        "point": f"Point{number} is in doubt.",
        "quote": f"quoted{number} words of the plan",
        "why": f"Why{number} matters.",
        "action": f"Do{number} first." if severity not in (None, QUESTION) else "",
        "effort": ActionEffort.WEEKS if severity not in (None, QUESTION) else None,
        "would_change": f"Settled{number} by a count.",
        "provenance": make_provenance("weigh_concerns"),
    }
    return Concern(**told | changes)


WEIGHED = (
    make_concern(1, MINOR, decision_place=4),
    make_concern(2, FATAL, decision_place=1, confirmed_severity=ConfirmedSeverity.FATAL),
    make_concern(
        3,
        FATAL,
        decision_place=2,
        confirmed_severity=ConfirmedSeverity.MINOR,
        defense="Defended3 by the appendix of the plan.",
    ),
    make_concern(4, MAJOR, decision_place=3, confirmed_severity=ConfirmedSeverity.REFUTED),
    make_concern(5, MAJOR, folded_into="c2"),
    make_concern(6, MAJOR, decision_place=5, kind=ConcernKind.DERIVATION),
    make_concern(7, MINOR, decision_place=6),
    make_concern(8, MINOR, decision_place=7),
    make_concern(9, MAJOR),
    make_concern(10, None),
    *(make_concern(number, QUESTION) for number in range(11, 18)),
)
"""Seven places, of which one is refuted; a folded concern, one that was not weighed, a strength
and seven questions.
"""


def make_assessed_evaluation(
    number: int = 0,
    *,
    concerns: Sequence[Concern] = WEIGHED,
    overall: float | None = 0.56,
    assessments: AssessmentEvaluation | None = None,
    **evaluation: Any,
) -> IdeaEvaluation:
    """`make_evaluation(number)` with an assessment and these concerns."""
    made = make_evaluation(number)
    assert made.soundness is not None
    plan = made.soundness.plan_review
    assert plan is not None
    review = replace(plan, concern_count=max(1, len(concerns)))
    soundness = replace(
        made.soundness, concerns=tuple(concerns), plan_review=review, elements=(), summary=None
    )
    return replace(
        made,
        soundness=soundness,
        suggestions=tuple(each for each in made.suggestions if each.concern_id is None),
        assessment=assessments or make_assessments(overall, lowest=0.48, highest=0.61),
        **evaluation,
    )


def without_soundness(evaluation: IdeaEvaluation) -> IdeaEvaluation:
    """The evaluation as it is where soundness was not asked for: the assessment has its concerns."""
    assert evaluation.assessment is not None
    assessment = replace(evaluation.assessment, concerns=evaluation.concerns)
    return replace(evaluation, soundness=None, assessment=assessment)


def sentences(generator: random.Random, count: int, words: int) -> str:
    """So many sentences, each of so many words."""
    return " ".join(prose(generator, words) for _ in range(count))


def make_long_evaluation(
    concern_count: int = 15, count: int = 2, words: int = 24, **changes: Any
) -> IdeaEvaluation:
    """One whose every text on the first page is as long as an engine may write it.

    Args:
        count: sentences of each text.
        words: of each sentence.
    """
    generator = random.Random(f"long {concern_count} {count} {words}")

    def text() -> str:
        return sentences(generator, count, words)

    concerns = [
        make_concern(
            number,
            FATAL if number % 2 else MAJOR,
            decision_place=number if number <= 7 else None,
            kind=ConcernKind.DERIVATION if number % 5 == 0 else ConcernKind.CONFOUND,
            confirmed_severity=ConfirmedSeverity.MINOR,
            point=text(),
            why=text(),
            action=text(),
            would_change=text(),
            defense=text(),
            supported=text(),
        )
        for number in range(1, concern_count + 1)
    ]
    overall = make_assessments(
        0.56, lowest=0.31, highest=0.72, reasons=[text() for _ in range(5)], new=None
    )
    made = make_assessed_evaluation(3, concerns=concerns, assessments=overall)
    assert made.contribution is not None
    compared = tuple(
        replace(each, remains=text(), dimension=text()) for each in made.contribution.comparisons
    )
    papers = tuple(replace(each, title=text()) for each in made.papers)
    idea = replace(made.idea, title=text() + text())
    contribution = replace(made.contribution, comparisons=compared)
    return replace(made, contribution=contribution, papers=papers, idea=idea, **changes)


def make_review(evaluation: IdeaEvaluation, **score: Any) -> IdeaReview:
    """What the lake answers of an evaluation; `score` are fields of `IdeaScore`."""
    told: dict[str, Any] = {
        "run_id": evaluation.run_id,
        "idea_id": evaluation.idea.idea_id,
        "group": evaluation.idea.group,
        "title": evaluation.idea.title,
        "score": 5.6,
        "soundness_0_to_10": 5.0,
        "contribution_0_to_10": 4.0,
        "mean_comparison_score": 0.2,
        "method_count": 3,
        "scored_method_count": 2,
        "unscored_method_count": 1,
        "dimension_count": 2,
        "unscored_dimension_count": 0,
        "scored_comparison_count": 10,
        "unscored_comparison_count": 0,
        "failure_count": 0,
        "soundness_requested": True,
        "contribution_requested": True,
        "committee_requested": False,
        "novelty_requested": False,
        "assessment_requested": False,
        "state": IdeaState.PARTLY_SCORED,
        "incomplete_reason": None,
        "duplicate_of": None,
    }
    return IdeaReview(
        warehouse="/data/reviews",
        run=make_run(),
        evaluation=evaluation,
        score=IdeaScore(**told | score),
        rank=2,
        group_size=5,
        bibliography=evaluation.papers[:2],
        cost_usd=0.1,
        unknown_price_calls=0,
    )
