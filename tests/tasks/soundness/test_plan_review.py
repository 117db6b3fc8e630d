"""The plan itself is judged: points quote it or name what it lacks, and nothing is dropped in
silence.
"""

from typing import Any

import pytest

from schemas.base import replace
from schemas.idea import Idea
from schemas.identifiers import RunId
from schemas.judgement.soundness import ConcernKind, ConcernSeverity, SoundnessEvaluation
from schemas.reasons import Reason
from tasks.experiments.results import result_of
from tasks.judging.findings import Findings
from tasks.soundness.steps.extract_methods import MethodsReply, ProposedElement, ProposedMethod
from tasks.soundness.steps.plan_review import (
    PLAN_REVIEW,
    Bearing,
    BearingsReply,
    ConcernBearing,
    PlanReply,
    ProposedPoint,
    ProposedQuestion,
    QuestionsReply,
)
from tasks.soundness.steps.soundness_review import ReviewReply
from tests.support.experiment_lake import make_experiment
from tests.support.soundness_fakes import (
    PARAMETERS,
    BaselineEngine,
    FakeEngine,
    FakeLiterature,
    evaluate,
    paper,
    passage,
    plan_point,
    queries_for,
)

IDEA = Idea(
    idea_id="i1",
    title="An idea",
    text="We will do alpha on 12 mice.\nThen **beta**, and gamma, are compared by eye.",
)
PASSAGES = {
    f"query {name}": (passage(number, score=1.0),)
    for number, name in enumerate(("alpha", "beta", "gamma"), 1)
}
PAPERS = tuple(paper(number) for number in range(1, 4))
STRENGTH = {"kind": ConcernKind.STRENGTH, "severity": None, "omission": "", "action": ""}


async def found(
    *points: ProposedPoint, engine: Any = None, answers: dict[str, Any] | None = None
) -> Findings[SoundnessEvaluation]:
    given = {"plan_review": lambda _: PlanReply(points=points)} if points else {}
    source = FakeLiterature(passages=PASSAGES, fetched=PAPERS)
    return await evaluate(IDEA, source, {**given, **(answers or {})}, engine=engine)


def question(**changes: Any) -> ProposedQuestion:
    fields = {"about": "compared by eye", "question": "By whose?", "kind": ConcernKind.METRIC}
    return ProposedQuestion(**{**fields, **changes})


async def asked(*questions: ProposedQuestion, points: int = 1) -> SoundnessEvaluation:
    quote = "alpha on 12 mice" if points else "alpha on 40 mice"
    given = (plan_point(quote=quote),) * max(points, 1)
    answers = {"plan_questions": lambda _: QuestionsReply(questions=questions)}
    return await judged(*given, answers=answers)


async def judged(*points: ProposedPoint, **more: Any) -> SoundnessEvaluation:
    return (await found(*points, **more)).evaluation


@pytest.mark.parametrize("quote", ["alpha on 12 mice", "“then beta, and gamma, are compared”"])
async def test_a_point_keeps_the_words_of_the_plan_that_it_quotes(quote: str) -> None:
    evaluation = await judged(plan_point(quote=quote))
    (concern,) = evaluation.concerns
    assert (concern.concern_id, concern.rank, concern.quote) == ("c1", 1, quote)
    assert concern.omission == "", "a point either quotes or names an omission"
    assert (evaluation.plan_review.concern_count, evaluation.plan_review.dropped_point_count) == (
        1,
        0,
    )
    assert evaluation.failures == ()


async def test_a_point_whose_quote_is_not_in_the_plan_is_dropped_and_counted() -> None:
    evaluation = await judged(plan_point(quote="alpha on 40 mice"), plan_point())
    assert [concern.quote for concern in evaluation.concerns] == [""]
    assert evaluation.concerns[0].concern_id == "c1"
    assert evaluation.plan_review.dropped_point_count == 1
    (failure,) = evaluation.failures
    assert (failure.subject, failure.reason) == ("plan", Reason.PASSAGE_NOT_FOUND)
    assert failure.detail.startswith("1 of 2 points were left out")
    assert not failure.retryable


@pytest.mark.parametrize(
    "broken",
    [
        {"kind": None},
        {"severity": None},
        {"omission": ""},
        {"point": ""},
        {"why": ""},
        {**STRENGTH, "omission": "praise for nothing that is quoted"},
    ],
)
async def test_a_point_that_lacks_a_part_is_dropped_and_counted(broken: dict[str, Any]) -> None:
    evaluation = await judged(plan_point(**broken), plan_point())
    assert len(evaluation.concerns) == 1
    assert [failure.reason for failure in evaluation.failures] == [Reason.REPLY_UNPARSABLE]


async def test_a_reply_without_a_usable_point_is_unscored_not_a_plan_without_flaws() -> None:
    evaluation = await judged(plan_point(quote="alpha on 40 mice"))
    assert evaluation.concerns == ()
    assert evaluation.plan_review.unscored_reason is Reason.REPLY_UNPARSABLE
    assert evaluation.plan_review.dropped_point_count == 1


async def test_a_strength_has_a_quote_and_no_severity() -> None:
    fatal = {**STRENGTH, "severity": ConcernSeverity.FATAL}
    evaluation = await judged(plan_point(**fatal, quote="alpha on 12 mice"))
    assert [concern.severity for concern in evaluation.concerns] == [None]


async def test_points_and_questions_beyond_their_limits_are_left_out_on_record() -> None:
    points = await judged(*[plan_point()] * (PARAMETERS.maximum_points + 2))
    assert len(points.concerns) == PARAMETERS.maximum_points
    assert "2 points beyond the limit" in str(points.concerns[0].provenance.shortening)
    questions = await asked(*[question()] * (PARAMETERS.maximum_questions + 3))
    assert len(questions.concerns) == 1 + PARAMETERS.maximum_questions
    assert "3 points beyond the limit" in str(questions.concerns[0].provenance.shortening)


async def test_references_that_a_point_makes_up_are_taken_out_and_counted() -> None:
    evaluation = await judged(plan_point(why="It failed before (Smith et al., 2019) [P4]."))
    assert evaluation.concerns[0].why == "It failed before."
    assert evaluation.plan_review.removed_citation_count == 2


async def test_a_question_names_words_of_the_plan_and_comes_after_the_points() -> None:
    evaluation = await asked(question(), question(about="measured by ear"))
    point, doubt = evaluation.concerns
    assert (point.severity, doubt.severity) == (ConcernSeverity.MAJOR, ConcernSeverity.QUESTION)
    assert (doubt.rank, doubt.quote, doubt.point) == (2, "compared by eye", "By whose?")
    assert evaluation.plan_review.concern_count == 2
    assert evaluation.plan_review.dropped_point_count == 1


async def test_a_question_is_no_praise() -> None:
    evaluation = await asked(question(kind=ConcernKind.STRENGTH))
    assert len(evaluation.concerns) == 1


async def test_questions_without_a_usable_point_are_unscored_not_a_plan_without_flaws() -> None:
    evaluation = await asked(question(), points=0)
    assert evaluation.concerns == ()
    assert evaluation.plan_review.unscored_reason is Reason.REPLY_UNPARSABLE


async def test_questions_without_a_reply_are_a_failure_and_hold_no_point_back() -> None:
    evaluation = await judged(answers={"plan_questions": lambda _: Reason.TIMED_OUT})
    assert len(evaluation.concerns) == 1
    assert [(each.subject, each.reason) for each in evaluation.failures] == [
        ("plan questions", Reason.TIMED_OUT)
    ]


async def test_concerns_meet_the_evidence_without_severities_and_reviews_never_see_them() -> None:
    points = (plan_point(**STRENGTH, quote="alpha on 12 mice"), plan_point())
    engine = FakeEngine(
        {
            "plan_review": lambda _: PlanReply(points=points),
            "plan_questions": lambda _: QuestionsReply(questions=(question(),)),
        }
    )
    await judged(engine=engine)
    (inputs,) = engine.inputs_of("concern_evidence")
    assert [one.key for one in inputs.concerns] == ["C2"]
    assert "major" not in inputs.model_dump_json()
    assert len(inputs.reviews) == 3
    reviews = engine.inputs_of("soundness_review")
    assert len(reviews) == 3
    assert not any(plan_point().point in each.model_dump_json() for each in reviews)


async def test_a_word_outside_the_lists_costs_its_point_and_not_the_reply() -> None:
    point = plan_point().model_dump() | {"kind": "Missing Baseline", "severity": "MAJOR"}
    odd = point | {"kind": "typography"}
    reply = PlanReply.model_validate({"points": [point, odd]})
    evaluation = await judged(*reply.points)
    assert [concern.kind for concern in evaluation.concerns] == [ConcernKind.MISSING_BASELINE]


async def test_the_offline_engine_gives_no_concerns_and_that_is_no_failure() -> None:
    evaluation = await judged(engine=BaselineEngine())
    assert evaluation.concerns == ()
    assert evaluation.plan_review.unscored_reason is Reason.OFFLINE_ENGINE
    assert not [failure for failure in evaluation.failures if failure.subject == "plan"]


async def test_a_plan_review_that_could_not_be_had_is_a_failure_and_holds_nothing_back() -> None:
    evaluation = await judged(answers={"plan_review": lambda _: Reason.TIMED_OUT})
    assert [review.score_0_to_10 for review in evaluation.reviews] == [7, 7, 7]
    assert [(each.subject, each.reason) for each in evaluation.failures] == [
        ("plan", Reason.TIMED_OUT)
    ]


def bearings(*given: ConcernBearing) -> dict[str, Any]:
    return {"concern_evidence": lambda _: BearingsReply(bearings=given)}


async def test_the_evidence_of_the_methods_supports_and_weakens_concerns_with_citations() -> None:
    given = (
        ConcernBearing(concern="C1", bearing=Bearing.SUPPORTS, reason="It failed so [P1]."),
        ConcernBearing(concern="c1", bearing=Bearing.WEAKENS, reason="It held so [P2]."),
    )
    findings = await found(answers=bearings(*given))
    (concern,) = findings.evaluation.concerns
    assert concern.supported.startswith("It failed so [(Author1 et al., 2011-06)](")
    assert concern.weakened.startswith("It held so [(Author2 et al., 2012-06)](")
    cited = [row for row in findings.citations if row.field == "concerns"]
    assert [(row.subject, row.paper_id, row.count) for row in cited] == [
        ("concerns", "paper01", 1),
        ("concerns", "paper02", 1),
    ]
    assert findings.evaluation.failures == ()


@pytest.mark.parametrize(
    "unusable",
    [
        {"concern": "C9", "bearing": Bearing.SUPPORTS, "reason": "It failed so [P1]."},
        {"concern": "C1", "bearing": Bearing.SUPPORTS, "reason": "It failed so."},
        {"concern": "C1", "bearing": Bearing.SUPPORTS, "reason": "It failed so [P8]."},
        {"concern": "C1", "bearing": "touches", "reason": "It failed so [P1]."},
    ],
)
async def test_a_statement_on_a_concern_without_a_shown_paper_is_no_evidence(
    unusable: dict[str, Any],
) -> None:
    evaluation = await judged(answers=bearings(ConcernBearing.model_validate(unusable)))
    assert (evaluation.concerns[0].supported, evaluation.concerns[0].weakened) == ("", "")
    assert [failure.subject for failure in evaluation.failures] == ["concerns"]


async def test_concerns_are_held_against_nothing_where_no_method_has_evidence() -> None:
    engine = FakeEngine({"soundness_review": lambda _: Reason.TIMED_OUT})
    await judged(engine=engine)
    assert engine.inputs_of("concern_evidence") == []


async def test_open_questions_are_kept_apart_from_what_needs_citations() -> None:
    reply = ReviewReply(
        support="It worked [P1].",
        contradictions="",
        open_questions="Does it hold in rats?",
        score=7,
    )
    evaluation = await judged(answers={"soundness_review": lambda _: reply})
    review = evaluation.reviews[0]
    assert review.open_questions == "Does it hold in rats?"
    assert review.uncited_sentence_count == 0


async def test_what_the_plan_rests_on_is_kept_and_does_not_steer_its_reviewer() -> None:
    elements = [
        {"kind": "assumption", "standing": "unstated", "text": "Mice stand for people."},
        {"kind": "evaluation choice", "standing": "stated", "text": "By eye.", "quote": "by eye"},
        {"kind": "hypothesis", "standing": "stated", "text": "It works.", "quote": "it works"},
        {"kind": "colour", "standing": "stated", "text": "Blue."},
    ]
    reply = MethodsReply(
        methods=(ProposedMethod(text="Method alpha of the idea."),),
        elements=tuple(ProposedElement.model_validate(each) for each in elements),
    )
    engine = FakeEngine({"extract_methods": lambda _: reply})
    evaluation = await judged(engine=engine)
    assert [(each.element_id, each.kind, each.quote) for each in evaluation.elements] == [
        ("e1", "assumption", ""),
        ("e2", "evaluation_choice", "by eye"),
        ("e3", "hypothesis", ""),
    ]
    assert "1 of 4 elements left out" in str(evaluation.elements[0].provenance.shortening)
    (inputs,) = engine.inputs_of("plan_review")
    assert "Mice stand for people." not in inputs.model_dump_json()


NEAR_PASSAGES = {
    "query alpha": (
        replace(
            passage(1, score=1.0, cites=(4,)),
            text="We train on the Alpine Speech corpus and outperform the cascade.",
            section="Experiments",
        ),
    )
}
CASCADE = paper(4, title="A cascade of recognisers")
SPEECH = "A recogniser of alpine speech dialects is trained by contrastive translation of segments."
"""Of the plan, its method and the abstracts of near works."""


async def beside_near_works(
    action: str, shown: int = 6, text: str = "", abstract: str = SPEECH
) -> tuple[FakeEngine, FakeLiterature, Findings[SoundnessEvaluation]]:
    """The review of a plan whose near works used a corpus and compared with a cascade."""
    passages = {
        query: tuple(replace(each, text=text or each.text) for each in found)
        for query, found in NEAR_PASSAGES.items()
    }
    method = ProposedMethod(text=f"Method alpha: {SPEECH}")
    engine = FakeEngine(
        {
            "extract_methods": lambda _: MethodsReply(methods=(method,)),
            "plan_review": lambda _: PlanReply(points=(plan_point(action=action),)),
            "soundness_query": lambda inputs: queries_for(inputs, lambda _: "query alpha"),
        }
    )
    works = tuple(replace(each, abstract=abstract) for each in (*PAPERS, CASCADE))
    literature = FakeLiterature(passages=passages, fetched=works)
    idea = replace(IDEA, text=f"{IDEA.text}\n{SPEECH}")
    findings = await evaluate(idea, literature, engine=engine, resources_shown=shown)
    return engine, literature, findings


async def test_the_review_is_shown_what_near_works_used_with_their_keys() -> None:
    engine, _, _ = await beside_near_works("Add it.")
    (inputs,) = engine.inputs_of("plan_review")
    assert inputs.near_works.splitlines() == [
        "data set: Alpine Speech [P1]",
        "baseline: A cascade of recognisers [P1]",
    ]
    assert "<near_works>\ndata set:" in PLAN_REVIEW.messages(inputs)[1]["content"]


async def test_what_works_off_the_field_used_is_not_offered() -> None:
    engine, _, _ = await beside_near_works("Add it.", abstract="Soil moisture of vineyards.")
    (inputs,) = engine.inputs_of("plan_review")
    assert inputs.near_works == ""


async def test_an_action_may_cite_a_near_work_and_nothing_else() -> None:
    _, _, findings = await beside_near_works("Test on Alpine Speech [P1], as all do [P7].")
    (concern,) = findings.evaluation.concerns
    assert concern.action.startswith("Test on Alpine Speech [(")
    assert "P7" not in concern.action
    assert findings.evaluation.plan_review.removed_citation_count == 1
    suggestion = next(each for each in findings.suggestions if each.subject == "plan")
    assert suggestion.citation_keys == ("P1",)
    (row,) = [each for each in findings.citations if each.subject == "plan"]
    assert (row.paper_id, row.citation_key, row.field) == (PAPERS[0].paper_id, "P1", "suggestions")


async def test_no_more_is_looked_up_for_what_near_works_used() -> None:
    _, asked_less, _ = await beside_near_works("Add it.", shown=0)
    _, literature, _ = await beside_near_works("Add it.")
    assert sorted(literature.searched) == sorted(asked_less.searched)
    assert sorted(literature.looked_up) == sorted(asked_less.looked_up)


@pytest.mark.parametrize("shown", [0, 6])
async def test_where_nothing_is_known_to_be_used_or_wanted_the_review_is_shown_nothing(
    shown: int,
) -> None:
    text = "Nothing is named here." if shown else ""
    engine, _, _ = await beside_near_works("Add it.", shown, text)
    (inputs,) = engine.inputs_of("plan_review")
    assert inputs.near_works == ""
    assert "<near_works>" not in PLAN_REVIEW.messages(inputs)[1]["content"]


async def test_what_came_of_trying_the_idea_stands_in_a_block_of_its_own() -> None:
    result = result_of(RunId("experiment-a"), make_experiment())
    shown = {}
    for results in ((), (result,)):
        engine = FakeEngine({"plan_review": lambda _: PlanReply(points=(plan_point(),))})
        source = FakeLiterature(passages=PASSAGES, fetched=PAPERS)
        await evaluate(IDEA, source, engine=engine, results=results)
        (inputs,) = engine.inputs_of("plan_review")
        shown[bool(results)] = PLAN_REVIEW.messages(inputs)
        others = [asked for step, asked in engine.asked if step != "plan_review"]
        assert others
        assert not any(result.because in asked.model_dump_json() for asked in others)
    assert f"<measured>\n{result.in_words}\n</measured>" in shown[True][1]["content"]
    assert "says nothing of the literature" in shown[True][1]["content"]
    assert "measured" not in shown[False][1]["content"]
    assert shown[False][0] == shown[True][0]
