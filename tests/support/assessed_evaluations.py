"""What the assessment finds about an idea: sound in every respect, tests break it from there."""

from schemas.base import replace
from schemas.judgement.assessment import Assessment, AssessmentCriterion, AssessmentEvaluation
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import Concern, ConcernKind, ConcernSeverity, ConfirmedSeverity
from schemas.literature.citation import Citation
from schemas.reasons import Reason
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.evaluations import make_provenance

PERCENTS = {
    AssessmentCriterion.WORTH_ASKING: (70, 75, 60),
    AssessmentCriterion.NEW: (55, 40, 62),
    AssessmentCriterion.DECISIVE_TEST: (20, 35, 30),
    AssessmentCriterion.FEASIBLE: (80, 82, 88),
    AssessmentCriterion.OVERALL: (38, 45, 41),
}


def make_assessment(
    criterion: AssessmentCriterion, percents: tuple[int, ...], reason: Reason | None = None
) -> Assessment:
    """By the repetitions' percents; unscored with a reason."""
    scored = {
        "probability_0_to_1": sorted(percents)[len(percents) // 2] / 100,
        "lowest_0_to_1": min(percents) / 100,
        "highest_0_to_1": max(percents) / 100,
        "repetition_count": len(percents),
        "by_repetition": {str(n): each / 100 for n, each in enumerate(percents, start=1)},
        "confidence_0_to_3": 2,
        "reasons": (f"The {criterion} rests on the control group.", "No baseline is named."),
        "venue": "A conference whose median plan varies one method.",
    }
    unscored = {
        "probability_0_to_1": None,
        "repetition_count": 0,
        "unscored_reason": reason,
        "unscored_detail": "no work was found that could be compared with the plan",
    }
    return Assessment(
        criterion=criterion,
        provenance=make_provenance("assess_plan"),
        **(scored if reason is None else unscored),
    )


def make_assessments(*, new: Reason | None = None) -> AssessmentEvaluation:
    """A row for each criterion; `new`: why that one is unscored."""
    return AssessmentEvaluation(
        assessments=tuple(
            make_assessment(
                criterion, percents, new if criterion is AssessmentCriterion.NEW else None
            )
            for criterion, percents in PERCENTS.items()
        ),
        failures=(),
    )


def weighed(concerns: tuple[Concern, ...]) -> tuple[Concern, ...]:
    """Of a fatal, a minor and a major concern two that decide, one of which says the third; the
    fatal one is refuted. A derivation concern is added.
    """
    minor, fatal, major, *others = concerns
    provenance = make_provenance("weigh_concerns")
    added = Concern(
        concern_id=f"c{len(concerns) + 1}",
        rank=len(concerns) + 1,
        kind=ConcernKind.DERIVATION,
        severity=ConcernSeverity.MAJOR,
        point="Anyone who read the predecessor would take this step.",
        omission="What does not follow from the predecessor.",
        why="The plan then adds little.",
        action="Name the step that does not follow.",
        decision_place=1,
        confirmed_severity=ConfirmedSeverity.MAJOR,
        defense="The predecessor left the step open.",
        provenance=provenance,
    )
    decisive = replace(
        fatal,
        decision_place=2,
        confirmed_severity=ConfirmedSeverity.REFUTED,
        defense="The plan names a control for it.",
        provenance=provenance,
    )
    folded = replace(minor, folded_into=fatal.concern_id)
    return (folded, decisive, major, *others, added)


def make_assessed_evaluation(
    number: int = 0, *, run_id: str = "run-a", new: Reason | None = None
) -> IdeaEvaluation:
    """One evaluation by all modules, the assessment among them, that passes every expectation."""
    base = make_full_evaluation(number, run_id=run_id)
    assert base.soundness is not None
    cited = Citation(
        paper_id=base.papers[0].paper_id,
        citation_key="P1",
        module="assessment",
        subject="overall",
        field="reasons",
        count=1,
    )
    return replace(
        base,
        soundness=replace(base.soundness, concerns=weighed(base.soundness.concerns)),
        assessment=make_assessments(new=new),
        citations=(*base.citations, cited),
    )
