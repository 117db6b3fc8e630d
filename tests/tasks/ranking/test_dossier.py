"""The dossier of an assessed idea: strengths and weaknesses of its plan as a match is shown them."""

from tasks.ranking.dossier import dossier_of
from tests.support.reviewed_ideas import WEIGHED, make_assessed_evaluation, make_review


def test_a_match_is_shown_the_strengths_of_an_assessed_plan_with_their_reasons() -> None:
    dossier = dossier_of(make_review(make_assessed_evaluation()), group=None)
    assert "Point10 is in doubt. Why10 matters." in dossier.strengths
    assert not [text for text in dossier.strengths if "Point2 " in text]


def test_a_match_is_shown_the_weaknesses_that_decide_and_no_refuted_one() -> None:
    dossier = dossier_of(make_review(make_assessed_evaluation(concerns=WEIGHED)), group=None)
    shown = [text.split()[0] for text in dossier.weaknesses]
    assert shown == ["Point2", "Point3", "Point1", "Point6", "Point7"]
