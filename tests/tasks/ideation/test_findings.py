"""Findings of an evaluation, and whether a revision answers what it says it answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.base import replace
from schemas.identifiers import IdeaId, RunId
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import ConcernSeverity
from schemas.works.experiment import Finding as Outcome
from schemas.works.ideation import Finding, FindingKind, Move
from tasks.citations.references import label, reference
from tasks.experiments.results import result_of
from tasks.ideation.stacks import check_answers, findings_of, next_move
from tasks.ideation.steps import ToldAnswer
from tests.support.evaluations import make_evaluation
from tests.support.experiment_lake import make_experiment
from tests.support.reviewed_ideas import make_assessed_evaluation, without_soundness

CONCERN = Finding(
    key="F1", kind=FindingKind.CONCERN, text="There is no control group of sighted robots."
)
BEFORE = "We let robots grasp pebbles in the dark."
AFTER = f"{BEFORE} A control group of sighted robots grasps the same pebbles in the light."


def answered(quote: str, key: str = "F1", text: str = AFTER) -> tuple[bool, str]:
    told = [ToldAnswer(finding=key, quote=quote)]
    (answer,) = check_answers(IdeaId("v"), told, [CONCERN], text, BEFORE)
    return answer.answered, answer.detail


def test_new_words_that_speak_of_the_finding_answer_it() -> None:
    assert answered("A control group of sighted robots grasps the same pebbles") == (True, "")


@pytest.mark.parametrize(
    ("quote", "key", "why"),
    [
        ("A control group of sighted robots grasps", "F9", "no finding with that key"),
        ("A control group of blindfolded robots grasps", "F1", "is not in the new text"),
        ("We let robots grasp pebbles in the dark.", "F1", "was already in the previous version"),
        ("grasps the same pebbles in the light", "F1", "share too few specific words"),
        ("", "F1", "is not in the new text"),
    ],
)
def test_an_answer_fails_for_its_reason(quote: str, key: str, why: str) -> None:
    holds, detail = answered(quote, key)
    assert not holds
    assert why in detail


@given(st.text(max_size=80), st.text(max_size=5))
def test_no_quote_answers_what_the_text_does_not_hold(quote: str, key: str) -> None:
    told = [ToldAnswer(finding=f"k{key}", quote=quote)]
    (answer,) = check_answers(IdeaId("v"), told, [CONCERN], BEFORE, BEFORE)
    assert not answer.answered
    assert answer.detail


def contradicted(method_id: str) -> IdeaEvaluation:
    """An evaluation in which a paper is cited against a method."""
    made = make_evaluation(1)
    cited = replace(made.citations[0], subject=method_id, field="contradictions")
    return replace(made, citations=(*made.citations, cited))


def test_findings_name_concerns_contradictions_and_the_closest_work_once_each() -> None:
    evaluation = contradicted("m1")
    found = findings_of(evaluation, 20)
    assert [each.key for each in found] == [f"F{n}" for n in range(1, len(found) + 1)]
    assert {each.kind for each in found} == set(FindingKind) - {FindingKind.EXPERIMENT}
    assert len(findings_of(evaluation, 2)) == 2


def test_a_contradiction_without_a_cited_paper_is_no_finding() -> None:
    kinds = [each.kind for each in findings_of(contradicted("m1"), 20)]
    assert kinds.count(FindingKind.CONTRADICTION) == 1
    kinds = [each.kind for each in findings_of(make_evaluation(1), 20)]
    assert FindingKind.CONTRADICTION not in kinds


def test_many_grave_concerns_leave_room_for_what_the_literature_says() -> None:
    made = contradicted("m1")
    grave = tuple(
        replace(each, severity=ConcernSeverity.FATAL, rank=rank)
        for rank, each in enumerate(
            [each for each in made.soundness.concerns if each.severity is not None] * 10, start=1
        )
    )
    made = replace(made, soundness=replace(made.soundness, concerns=grave))
    kinds = [each.kind for each in findings_of(made, 6)]
    assert kinds[:3] == [FindingKind.CONCERN] * 3
    assert set(kinds[3:5]) == {FindingKind.CONTRADICTION, FindingKind.CLOSEST_WORK}
    assert len(kinds) == 6


def test_concerns_of_an_assessment_are_findings_without_a_review_of_soundness() -> None:
    found = findings_of(without_soundness(make_assessed_evaluation()), 20)
    assert "Point2 is in doubt." in " ".join(each.text for each in found)


def test_a_contradiction_names_papers_without_their_addresses() -> None:
    made = contradicted("m1")
    cited = next(each for each in made.papers if each.paper_id == made.citations[-1].paper_id)
    reviews = tuple(
        replace(each, contradictions=f"It failed before {reference(cited)}.")
        for each in made.soundness.reviews
        if each.method_id == "m1"
    )
    made = replace(made, soundness=replace(made.soundness, reviews=reviews))
    (found,) = (each for each in findings_of(made, 20) if each.kind is FindingKind.CONTRADICTION)
    assert f"It failed before ({label(cited)})." in found.text
    assert "](" not in found.text


def test_the_closest_work_speaks_in_its_own_words() -> None:
    made = make_evaluation(1)
    compared = tuple(
        replace(each, quote="We let robots grasp.") for each in made.contribution.comparisons
    )
    made = replace(made, contribution=replace(made.contribution, comparisons=compared))
    found = [each for each in findings_of(made, 20) if each.kind is FindingKind.CLOSEST_WORK]
    assert found
    assert all("“We let robots grasp.”" in each.text for each in found)


@pytest.mark.parametrize(
    ("finding", "baseline_low", "place"),
    [
        (Outcome.NOT_SUPPORTED, 0.02, "first"),
        (Outcome.UNDECIDED, 0.02, "behind the closest work"),
        (Outcome.SUPPORTED, -0.02, "behind the closest work"),
        (Outcome.SUPPORTED, 0.02, None),
    ],
)
def test_what_was_tried_and_did_not_help_comes_first_and_what_did_is_no_finding(
    finding: Outcome, baseline_low: float, place: str | None
) -> None:
    tried = replace(make_experiment(), finding=finding, baseline_low=baseline_low)
    result = result_of(RunId("experiment-a"), tried)
    found = findings_of(replace(make_evaluation(1), experimental_results=(result,)), 20)
    kinds = [each.kind for each in found]
    if place is None:
        assert FindingKind.EXPERIMENT not in kinds
        return
    last = max(n for n, kind in enumerate(kinds) if kind is FindingKind.CLOSEST_WORK)
    assert kinds.index(FindingKind.EXPERIMENT) == (0 if place == "first" else last + 1)
    assert found[kinds.index(FindingKind.EXPERIMENT)].text == result.in_words


def test_the_router_grows_then_replaces_or_revises_and_stops_where_nothing_is_wanting() -> None:
    close = Finding(key="F1", kind=FindingKind.CLOSEST_WORK, text="It was done.")
    assert next_move(("a", "b"), [CONCERN], 3) is Move.ADD_KEYWORD
    assert next_move(("a", "b", "c"), [CONCERN], 3) is Move.REVISE
    assert next_move(("a", "b", "c"), [close], 3) is Move.REPLACE_KEYWORD
    assert next_move(("a", "b"), [], 3) is None
