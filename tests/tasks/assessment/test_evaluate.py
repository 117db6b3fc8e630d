"""The assessment against fakes: what it merges, challenges and asks, and what it refuses to say."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from schemas.base import Reply, replace
from schemas.judgement.assessment import WEIGHTED_CRITERIA, AssessmentCriterion
from schemas.judgement.contribution import Overlap
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import (
    Concern,
    ConcernKind,
    ConcernSeverity,
    ConfirmedSeverity,
    PlanReview,
)
from schemas.literature.coverage import FieldCoverage
from schemas.profile import AssessmentParameters
from schemas.reasons import Reason
from tasks.assessment.evaluate import AssessmentFindings, evaluate_assessment
from tasks.assessment.steps import ASSESS_PLAN, AssessReply, ChallengeReply, WeighReply
from tests.support.evaluations import make_evaluation, make_provenance
from tests.support.soundness_fakes import FakeEngine

PLAN = (
    "We will train rats to count tones. Reward follows every fourth tone. Eight animals are"
    " compared with their own first week, and a rise of ten percent counts as learning."
)
THREE = AssessmentParameters(repetitions=3, maximum_concerns=4)


def concern(number: int, severity: ConcernSeverity | None, quote: str, point: str) -> Concern:
    return Concern(
        concern_id=f"c{number}",
        rank=number,
        kind=ConcernKind.STRENGTH if severity is None else ConcernKind.CONFOUND,
        severity=severity,
        point=point,
        quote=quote,
        why="The rise would come anyway.",
        action="" if severity in (None, ConcernSeverity.QUESTION) else "Add a control group.",
        provenance=make_provenance("plan_review"),
    )


CONCERNS = (
    concern(1, ConcernSeverity.MINOR, "Eight animals", "Eight animals are few."),
    concern(2, ConcernSeverity.FATAL, "their own first week", "Practice alone explains a rise."),
    concern(3, ConcernSeverity.MAJOR, "first week", "There is no untrained group."),
    concern(4, None, "Reward follows every fourth tone", "The reward is simple."),
    concern(5, ConcernSeverity.QUESTION, "count tones", "Do they count or time?"),
)


def the_evaluation(**changes: Any) -> IdeaEvaluation:
    """Five concerns, an own plan, and works compared; the suggestion answers the second concern."""
    base = make_evaluation()
    assert base.soundness is not None
    comparisons = tuple(
        replace(row, overlap=Overlap.PARTIAL, remains="The reward schedule.")
        for row in base.contribution.comparisons
    )
    return replace(
        base,
        idea=replace(base.idea, text=PLAN),
        soundness=replace(base.soundness, concerns=CONCERNS),
        contribution=replace(base.contribution, comparisons=comparisons),
        **changes,
    )


def weighed(_: Any) -> WeighReply:
    return WeighReply.model_validate(
        {
            "concerns": [
                {
                    "sources": ["C2", "c3", "c99", "c4"],
                    "kind": "confound",
                    "severity": "fatal",
                    "point": "Practice alone explains the rise, as one work shows [P1][P77].",
                    "why": "The claim could not be told from practice.",
                    "quote": "compared with their own first week",
                    "action": "Compare with an untrained group, as [P2] does.",
                    "would_change": "No rise in an untrained group.",
                },
                {
                    "kind": "derivation",
                    "severity": "minor",
                    "point": "Anyone would vary the fourth tone.",
                    "why": "The step follows from the predecessor.",
                    "omission": "What does not follow from counting pigeons.",
                },
                {
                    "kind": "worth",
                    "severity": "major",
                    "point": "It quotes what the plan does not say.",
                    "why": "It does not matter.",
                    "quote": "we will count to a hundred thousand",
                },
            ]
        }
    )


def challenged(inputs: Any) -> Reply:
    remains = {"C2": "minor", "C6": "refuted"}
    return ChallengeReply.model_validate(
        {
            "concerns": [
                {
                    "concern": each.key,
                    "defense": "The plan [P1] says so.",
                    "remains": remains[each.key],
                }
                for each in inputs.concerns
            ]
        }
    )


def assessed(score: int, **others: int | None) -> Reply:
    return AssessReply.model_validate(
        {
            "venue": "A journal whose median plan adds a control.",
            "criteria": [
                {
                    "criterion": each,
                    "reasons": [f"It rests on the first week [P1] at {score}."],
                    "score": others.get(each, score),
                }
                for each in AssessmentCriterion
            ],
        }
    )


@dataclass
class Asked:
    """What the engines of one assessment are asked, and what each repetition answers."""

    replies: tuple[Reply | Reason, ...] = (assessed(62), assessed(40), assessed(50))
    answers: dict[str, Callable[[Any], Reply | Reason]] = field(
        default_factory=lambda: {"weigh_concerns": weighed, "challenge_concerns": challenged}
    )
    engines: dict[int, FakeEngine] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.engine = FakeEngine(dict(self.answers))

    def engine_of(self, repetition: int) -> FakeEngine:
        reply = self.replies[repetition - 1]
        self.engines[repetition] = FakeEngine({"assess_plan": lambda _: reply})
        return self.engines[repetition]

    def shown(self, step: str) -> Any:
        ((_, inputs),) = [each for each in self.engine.asked if each[0] == step]
        return inputs

    async def evaluate(self, evaluation: IdeaEvaluation) -> AssessmentFindings:
        return await evaluate_assessment(evaluation, THREE, self.engine, self.engine_of)


def by_id(found: AssessmentFindings) -> dict[str, Concern]:
    return {each.concern_id: each for each in found.concerns}


async def test_points_that_say_the_same_become_one_concern_and_a_new_one_gets_the_next_number() -> (
    None
):
    found = await Asked().evaluate(the_evaluation())
    concerns = by_id(found)
    assert list(concerns) == ["c1", "c2", "c3", "c4", "c5", "c6"]
    merged, added = concerns["c2"], concerns["c6"]
    assert (merged.decision_place, added.decision_place) == (1, 2)
    assert concerns["c3"].folded_into == "c2"
    assert merged.point.startswith("Practice alone explains the rise, as one work shows [(")
    assert merged.quote == "compared with their own first week"
    assert (added.kind, added.quote) == (ConcernKind.DERIVATION, "")
    for untouched in ("c1", "c4", "c5"):
        assert concerns[untouched] == CONCERNS[int(untouched[1]) - 1]


async def test_a_reference_that_was_never_shown_is_taken_out_and_counted() -> None:
    merged = by_id(await Asked().evaluate(the_evaluation()))["c2"]
    assert "P77" not in merged.point
    assert merged.removed_citation_count == 1


async def test_a_concern_that_misquotes_the_plan_is_left_out_on_record() -> None:
    found = await Asked().evaluate(the_evaluation())
    (failure,) = found.evaluation.failures
    assert (failure.subject, failure.reason) == ("weigh_concerns", Reason.REPLY_UNPARSABLE)
    assert failure.detail.startswith("1 of 3 concerns were left out")


async def test_of_a_flood_of_concerns_the_first_are_read_and_the_others_are_on_record() -> None:
    def flooded(_: Any) -> WeighReply:
        (sound, *_) = weighed(None).concerns
        entries = [sound.model_copy(update={"sources": [], "point": f"P{n}."}) for n in range(2000)]
        unusable = sound.model_copy(update={"severity": None})
        return WeighReply(concerns=(unusable, *entries))

    asked = Asked(
        answers={"weigh_concerns": flooded, "challenge_concerns": lambda _: Reason.REFUSED}
    )
    found = await asked.evaluate(the_evaluation())
    kept = [each for each in found.concerns if each.decision_place is not None]
    assert [each.point for each in kept] == ["P0.", "P1.", "P2.", "P3."]
    assert kept[0].provenance.shortening == ("1996 concerns beyond the limit left out, 4 kept")
    detail = found.evaluation.failures[0].detail
    assert detail.startswith("1 of 16 concerns were left out")
    assert detail.endswith("1985 more were not read")


async def test_what_is_suggested_about_a_concern_is_its_reworded_action_with_its_citations() -> (
    None
):
    found = await Asked().evaluate(the_evaluation())
    (suggestion,) = found.suggestions
    assert suggestion.concern_id == "c2"
    assert suggestion.change == by_id(found)["c2"].action
    cited = {
        row.citation_key
        for row in found.citations
        if (row.module, row.subject, row.field) == ("assessment", "plan", "suggestions")
    }
    assert set(suggestion.citation_keys) == cited == {"P2"}


async def test_a_second_reading_that_sees_no_severity_lowers_one_concern_and_refutes_another() -> (
    None
):
    asked = Asked()
    concerns = by_id(await asked.evaluate(the_evaluation()))
    assert (concerns["c2"].severity, concerns["c2"].confirmed_severity) == (
        ConcernSeverity.FATAL,
        ConfirmedSeverity.MINOR,
    )
    assert concerns["c6"].confirmed_severity is ConfirmedSeverity.REFUTED
    assert concerns["c2"].defense.startswith("The plan [(")
    assert concerns["c1"].confirmed_severity is None
    prompt = asked.shown("challenge_concerns").model_dump_json()
    assert not [word for word in ("fatal", "major", "minor") if word in prompt]


async def test_a_concern_of_which_two_things_are_said_to_remain_is_not_challenged() -> None:
    def contradicting(_: Any) -> Reply:
        entries = [
            {"concern": key, "defense": "The plan says so.", "remains": remains}
            for key, remains in (("C2", "refuted"), ("C6", "minor"), ("c2", "fatal"))
        ]
        return ChallengeReply.model_validate({"concerns": entries})

    asked = Asked(answers={"weigh_concerns": weighed, "challenge_concerns": contradicting})
    found = await asked.evaluate(the_evaluation())
    concerns = by_id(found)
    assert (concerns["c2"].confirmed_severity, concerns["c2"].defense) == (None, "")
    assert concerns["c6"].confirmed_severity is ConfirmedSeverity.MINOR
    details = {each.subject: each.detail for each in found.evaluation.failures}
    assert details["challenge_concerns"].startswith("of 1 of 2 concerns")


async def test_an_overall_that_is_answered_in_two_ways_is_unscored() -> None:
    reply = assessed(50).model_dump(mode="json")
    reply["criteria"].append(reply["criteria"][-1] | {"score": 90})
    asked = Asked((AssessReply.model_validate(reply),) * 3)
    found = await asked.evaluate(the_evaluation())
    overall = found.evaluation.of(AssessmentCriterion.OVERALL)
    feasible = found.evaluation.of(AssessmentCriterion.FEASIBLE)
    assert overall is not None and feasible is not None
    assert (overall.probability_0_to_1, overall.unscored_reason) == (None, Reason.REPLY_UNPARSABLE)
    assert feasible.probability_0_to_1 == 0.5


async def test_new_without_a_readable_answer_is_not_called_unknown() -> None:
    reply = assessed(50).model_dump(mode="json")
    reply["criteria"] = [each for each in reply["criteria"] if each["criterion"] != "new"]
    asked = Asked((AssessReply.model_validate(reply),) * 3)
    new = (await asked.evaluate(the_evaluation())).evaluation.of(AssessmentCriterion.NEW)
    assert new.unscored_reason is Reason.REPLY_UNPARSABLE


async def test_refuted_concerns_are_not_shown_where_the_plan_is_assessed() -> None:
    asked = Asked()
    await asked.evaluate(the_evaluation())
    (inputs,) = asked.engines[1].inputs_of("assess_plan")
    assert [each.key for each in inputs.concerns] == ["C2"]
    assert inputs.concerns[0].defense == "The plan [P1] says so."


async def test_the_assessment_is_shown_what_is_strong_in_the_plan() -> None:
    asked = Asked()
    await asked.evaluate(the_evaluation())
    (inputs,) = asked.engines[1].inputs_of("assess_plan")
    assert inputs.strengths == ("The reward is simple.",)


async def test_a_fatal_concern_that_was_not_weighed_is_challenged_too() -> None:
    asked = Asked(
        answers={
            "weigh_concerns": lambda _: WeighReply(concerns=weighed(None).concerns[1:2]),
            "challenge_concerns": challenged,
        }
    )
    concerns = by_id(await asked.evaluate(the_evaluation()))
    assert concerns["c2"].confirmed_severity is ConfirmedSeverity.MINOR
    assert [each.key for each in asked.shown("challenge_concerns").concerns] == ["C6", "C2"]


UNANSWERED: dict[str, Callable[[Any], Reply | Reason]] = {
    "weigh_concerns": lambda _: Reason.REFUSED,
    "challenge_concerns": lambda _: Reason.REFUSED,
}


async def test_where_weighing_failed_the_gravest_concerns_are_shown_up_to_the_limit() -> None:
    asked = Asked(answers=UNANSWERED)
    majors = tuple(
        concern(number, ConcernSeverity.MAJOR, "first week", f"Major doubt {number}.")
        for number in range(6, 9)
    )
    evaluation = the_evaluation()
    assert evaluation.soundness is not None
    soundness = replace(evaluation.soundness, concerns=(*CONCERNS, *majors))
    await asked.evaluate(replace(evaluation, soundness=soundness))
    (inputs,) = asked.engines[1].inputs_of("assess_plan")
    assert [each.key for each in inputs.concerns] == ["C2", "C3", "C6", "C7"]
    assert not inputs.concerns_unknown


@pytest.mark.parametrize(
    ("failed", "weigh", "unknown"),
    [
        (Reason.REFUSED, lambda _: WeighReply(concerns=()), True),
        (Reason.REFUSED, weighed, False),
        (None, lambda _: WeighReply(concerns=()), False),
    ],
    ids=["review failed", "weighing raised some", "review found none"],
)
async def test_a_plan_whose_review_failed_is_not_shown_as_one_without_concerns(
    failed: Reason | None, weigh: Callable[[Any], Reply], unknown: bool
) -> None:
    asked = Asked(answers=UNANSWERED | {"weigh_concerns": weigh})
    evaluation = the_evaluation()
    assert evaluation.soundness is not None
    review = PlanReview(
        concern_count=None if failed else 1,
        unscored_reason=failed,
        provenance=make_provenance("plan_review"),
    )
    soundness = replace(
        evaluation.soundness, concerns=CONCERNS[3:4] if not failed else (), plan_review=review
    )
    await asked.evaluate(replace(evaluation, soundness=soundness))
    (inputs,) = asked.engines[1].inputs_of("assess_plan")
    assert inputs.concerns_unknown is unknown
    prompt = ASSESS_PLAN.messages(inputs)[1]["content"]
    assert ("Concerns about the plan are not known" in prompt) is unknown


async def test_a_defense_that_only_cites_what_was_not_shown_is_no_answer() -> None:
    def unfounded(inputs: Any) -> Reply:
        entries = [
            {"concern": each.key, "defense": "[P99]", "remains": "minor"}
            for each in inputs.concerns
        ]
        return ChallengeReply.model_validate({"concerns": entries})

    asked = Asked(answers={"weigh_concerns": weighed, "challenge_concerns": unfounded})
    evaluation = the_evaluation()
    found = await asked.evaluate(evaluation)
    assert {(each.confirmed_severity, each.defense) for each in found.concerns} == {(None, "")}
    details = [each.detail for each in found.evaluation.failures]
    assert any(each.startswith("of 2 of 2 concerns the reply does not say") for each in details)


def only_citing(reply: Reply) -> AssessReply:
    """The reply with reasons for `feasible` that are a key which was never shown."""
    assert isinstance(reply, AssessReply)
    changed = [
        each.model_copy(update={"reasons": ["[P99]"]}) if each.criterion == "feasible" else each
        for each in reply.criteria
    ]
    return reply.model_copy(update={"criteria": changed})


async def test_a_probability_whose_reasons_only_cite_what_was_not_shown_does_not_count() -> None:
    asked = Asked((only_citing(assessed(90)), assessed(40), assessed(50)))
    found = await asked.evaluate(the_evaluation())
    feasible = found.evaluation.of(AssessmentCriterion.FEASIBLE)
    overall = found.evaluation.of(AssessmentCriterion.OVERALL)
    assert feasible is not None and overall is not None
    assert feasible.by_repetition == {"2": 0.4, "3": 0.5}
    assert overall.repetition_count == 3


async def test_a_criterion_without_any_reason_is_unscored() -> None:
    asked = Asked((only_citing(assessed(90)),) * 3)
    found = await asked.evaluate(the_evaluation())
    feasible = found.evaluation.of(AssessmentCriterion.FEASIBLE)
    assert (feasible.probability_0_to_1, feasible.unscored_reason) == (
        None,
        Reason.REPLY_UNPARSABLE,
    )


async def test_every_repetition_is_asked_of_its_own_engine_and_the_median_counts() -> None:
    asked = Asked()
    found = await asked.evaluate(the_evaluation())
    assert [len(engine.asked) for engine in asked.engines.values()] == [1, 1, 1]
    overall = found.evaluation.of(AssessmentCriterion.OVERALL)
    assert (overall.lowest_0_to_1, overall.probability_0_to_1, overall.highest_0_to_1) == (
        0.4,
        0.5,
        0.62,
    )
    assert overall.by_repetition == {"1": 0.62, "2": 0.4, "3": 0.5}
    assert (overall.repetition_count, overall.confidence_0_to_3) == (3, 1)
    assert overall.reasons[0].startswith("It rests on the first week [(")
    assert overall.reasons[0].endswith("at 50.")


@pytest.mark.parametrize(
    ("scores", "confidence"),
    [((50, 60, 55), 3), ((50, 70, 55), 2), ((50, 85, 55), 1), ((50, 86, 55), 0)],
)
async def test_confidence_falls_with_the_spread_of_the_repetitions(
    scores: tuple[int, ...], confidence: int
) -> None:
    found = await Asked(tuple(assessed(each) for each in scores)).evaluate(the_evaluation())
    assert {each.confidence_0_to_3 for each in found.evaluation.assessments} == {confidence}


async def test_a_repetition_without_a_usable_reply_leaves_the_others_and_is_on_record() -> None:
    asked = Asked((assessed(30), Reason.REPLY_UNPARSABLE, assessed(40)))
    found = await asked.evaluate(the_evaluation())
    overall = found.evaluation.of(AssessmentCriterion.OVERALL)
    assert (overall.probability_0_to_1, overall.repetition_count) == (0.35, 2)
    assert "assess_plan" in {each.subject for each in found.evaluation.failures}


async def test_without_any_usable_reply_every_criterion_is_unscored_with_the_reason() -> None:
    asked = Asked((Reason.REFUSED,) * 3)
    found = await asked.evaluate(the_evaluation())
    assert {each.unscored_reason for each in found.evaluation.assessments} == {Reason.REFUSED}
    assert len(found.evaluation.assessments) == len(AssessmentCriterion)


async def test_replies_that_cannot_be_had_leave_the_concerns_as_they_were() -> None:
    asked = Asked(
        answers={
            "weigh_concerns": lambda _: Reason.REFUSED,
            "challenge_concerns": lambda _: Reason.REFUSED,
        }
    )
    found = await asked.evaluate(the_evaluation())
    assert found.concerns == CONCERNS
    assert found.suggestions == ()
    assert [each.subject for each in found.evaluation.failures] == [
        "weigh_concerns",
        "challenge_concerns",
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"contribution": None}, Reason.NO_EVIDENCE),
        (
            {
                "contribution": None,
                "coverage": FieldCoverage(
                    field_covered=False,
                    field_coverage_0_to_1=0.1,
                    field_coverage_detail="its works are about crops",
                ),
            },
            Reason.FIELD_NOT_COVERED,
        ),
    ],
)
async def test_where_nothing_was_compared_new_is_unscored_whatever_the_model_says(
    changes: dict[str, Any], reason: Reason
) -> None:
    asked = Asked()
    found = await asked.evaluate(replace(the_evaluation(), **changes))
    scored = {each.criterion: each.unscored_reason for each in found.evaluation.assessments}
    others = (*WEIGHTED_CRITERIA, AssessmentCriterion.OVERALL)
    assert scored == dict.fromkeys(others) | {AssessmentCriterion.NEW: reason}
    (inputs,) = asked.engines[1].inputs_of("assess_plan")
    assert inputs.works == ()
    assert inputs.unknown


async def test_a_model_may_say_that_it_cannot_tell_what_is_new() -> None:
    asked = Asked(tuple(assessed(each, new=None) for each in (50, 55, 60)))
    found = await asked.evaluate(the_evaluation())
    new = found.evaluation.of(AssessmentCriterion.NEW)
    assert (new.unscored_reason, new.probability_0_to_1) == (Reason.NO_EVIDENCE, None)


async def test_no_prompt_shows_a_score_of_another_judge() -> None:
    asked = Asked()
    evaluation = the_evaluation()
    await asked.evaluate(evaluation)
    assert evaluation.soundness is not None
    (inputs,) = asked.engines[1].inputs_of("assess_plan")
    shown = inputs.model_dump_json() + asked.shown("weigh_concerns").model_dump_json()
    for word in ("score", "fatal", "relevance", "confidence"):
        assert word not in shown


async def test_a_plan_without_a_review_gets_its_concerns_from_the_assessment() -> None:
    asked = Asked(
        answers={
            "weigh_concerns": lambda _: WeighReply(
                concerns=tuple(
                    each for each in weighed(None).concerns if each.kind is ConcernKind.DERIVATION
                )
            ),
            "challenge_concerns": lambda _: Reason.REFUSED,
        }
    )
    evaluation = replace(the_evaluation(), soundness=None, contribution=None, suggestions=())
    found = await asked.evaluate(evaluation)
    (concern,) = found.evaluation.concerns
    assert (concern.concern_id, concern.decision_place) == ("c1", 1)
    assert found.concerns == ()
