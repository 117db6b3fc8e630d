"""Concerns that were refuted, or that another one says, count for nobody who reads an evaluation."""

from schemas.base import replace
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import (
    Concern,
    ConcernSeverity,
    ConfirmedSeverity,
    deciding,
    standing,
)
from schemas.works.ideation import FindingKind
from tasks.benchmarks.suites.baseline_reviews import text_of_evaluation
from tasks.experiments.drafting import known_of
from tasks.ideation.stacks import findings_of
from tests.support.evaluations import make_evaluation
from tests.support.reviewed_ideas import WEIGHED, make_concern

HIDDEN = ("Point4", "Point5")
"""Of a refuted concern, and of one that another concern says."""


def evaluation_with(concerns: tuple[Concern, ...]) -> IdeaEvaluation:
    evaluation = make_evaluation(1)
    assert evaluation.soundness is not None
    return replace(evaluation, soundness=replace(evaluation.soundness, concerns=concerns))


def test_concerns_stand_in_the_order_of_their_places_and_then_of_their_severity() -> None:
    found = [each.concern_id for each in standing(WEIGHED)]
    assert found[:7] == ["c2", "c3", "c1", "c6", "c7", "c8", "c9"]
    assert found[7:] == [f"c{number}" for number in range(11, 18)], "questions come last"


def test_what_remains_of_a_concern_is_its_severity_after_the_second_reading() -> None:
    remaining = {each.concern_id: each.remaining_severity for each in WEIGHED}
    assert remaining["c2"] is ConcernSeverity.FATAL
    assert remaining["c3"] is ConcernSeverity.MINOR
    assert remaining["c4"] is remaining["c10"] is None, "refuted; a strength"
    assert remaining["c9"] is ConcernSeverity.MAJOR, "not challenged"


def test_where_some_were_weighed_only_those_and_fatal_ones_decide() -> None:
    unweighed = make_concern(30, ConcernSeverity.FATAL)
    found = [each.concern_id for each in deciding((*WEIGHED, unweighed), 2)]
    assert found == ["c2", "c3", "c1", "c6", "c7", "c8", "c30"]


def test_an_idea_is_not_revised_for_a_refuted_concern() -> None:
    findings = findings_of(evaluation_with(WEIGHED), 30)
    texts = [each.text for each in findings if each.kind is FindingKind.CONCERN]
    assert texts[0].startswith("Point2 ")
    assert not [text for text in texts if text.startswith(HIDDEN)]


def test_a_concern_found_minor_on_a_second_reading_is_no_grave_finding() -> None:
    minor = make_concern(1, ConcernSeverity.FATAL, confirmed_severity=ConfirmedSeverity.MINOR)
    major = make_concern(2, ConcernSeverity.MAJOR)
    texts = [each.text.split()[0] for each in findings_of(evaluation_with((minor, major)), 30)]
    assert texts[0] == "Point2"
    assert texts.index("Point1") == len(texts) - 1


def test_a_task_is_not_told_of_a_refuted_concern() -> None:
    evaluation = evaluation_with(WEIGHED)
    told = known_of(evaluation.idea, evaluation).concerns
    assert [text.split()[0] for text in told] == [
        f"Point{number}" for number in (2, 3, 1, 6, 7, 8, 9)
    ]


def test_a_review_as_text_leaves_out_refuted_concerns_and_keeps_strengths() -> None:
    text = text_of_evaluation(evaluation_with(WEIGHED))
    assert "Point2" in text and "Point10" in text
    assert not [word for word in HIDDEN if word in text]
