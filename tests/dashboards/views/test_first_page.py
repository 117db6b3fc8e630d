"""The first page: the verdict by its rule, what decides it, and what to do about it."""

import re
from typing import Any

import pytest

from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.views.idea.first_page import MOST_WORDS
from dashboards.views.idea.idea_blocks import idea_view
from dashboards.views.idea.idea_page import idea_page
from dashboards.views.idea.verdict import Verdict, decide
from schemas.base import replace
from schemas.failure import Failure
from schemas.judgement.assessment import AssessmentEvaluation
from schemas.judgement.evaluation import IdeaEvaluation
from schemas.judgement.soundness import ConcernSeverity, ConfirmedSeverity
from schemas.literature.coverage import FieldCoverage
from schemas.reasons import Reason
from tests.support.evaluations import make_evaluation
from tests.support.report_lake import HOSTILE_TEXT
from tests.support.reports import Page
from tests.support.reviewed_ideas import (
    REASONS,
    make_assessed_evaluation,
    make_assessments,
    make_concern,
    make_long_evaluation,
    make_review,
    without_soundness,
)

FATAL, MAJOR, MINOR, QUESTION = ConcernSeverity
CONFIRMED = make_concern(1, FATAL, decision_place=1, confirmed_severity=ConfirmedSeverity.FATAL)


def written(evaluation: IdeaEvaluation, *, full: bool = False, **score: Any) -> str:
    return markdown_page(idea_view(idea_page(make_review(evaluation, **score)), full=full))


def told(markdown: str) -> str:
    """The page without what Markdown escapes and marks."""
    return re.sub(r"[\\*]", "", markdown)


@pytest.mark.parametrize(
    ("probability", "lowest", "fatal", "verdict"),
    [
        (0.65, 0.5, False, Verdict.FUND),
        (0.649, 0.5, False, Verdict.REVISE),
        (0.65, 0.499, False, Verdict.REVISE),
        (0.95, 0.9, True, Verdict.REVISE),
        (0.5, 0.4, True, Verdict.REVISE),
        (0.499, 0.4, True, Verdict.DROP),
        (0.499, 0.1, False, Verdict.REVISE),
        (0.25, 0.0, False, Verdict.REVISE),
        (0.249, 0.2, False, Verdict.DROP),
        (0.0, 0.0, False, Verdict.DROP),
    ],
)
def test_the_verdict_follows_from_probability_lowest_repetition_and_confirmed_fatal_concerns(
    probability: float, lowest: float, fatal: bool, verdict: Verdict
) -> None:
    evaluation = make_assessed_evaluation(
        concerns=[CONFIRMED] if fatal else [],
        assessments=make_assessments(probability, lowest=lowest, highest=0.96),
    )
    assert decide(make_review(evaluation)).verdict is verdict
    assert written(evaluation).splitlines()[2].startswith(f"> **{verdict.capitalize()}: ")


@pytest.mark.parametrize(("overall", "verdict"), [(0.9, Verdict.REVISE), (0.45, Verdict.DROP)])
def test_a_confirmed_fatal_concern_counts_and_is_shown_without_a_review_of_soundness(
    overall: float, verdict: Verdict
) -> None:
    evaluation = without_soundness(
        make_assessed_evaluation(
            concerns=[CONFIRMED], assessments=make_assessments(overall, lowest=overall)
        )
    )
    decision = decide(make_review(evaluation))
    assert decision.verdict is verdict
    assert "fatal concern was confirmed" in decision.because
    page, report = written(evaluation), written(evaluation, full=True)
    assert CONFIRMED.point in told(page)
    assert "not reviewed" not in page
    assert "## The plan itself" in report
    assert CONFIRMED.quote in told(report)


@pytest.mark.parametrize(
    "changes",
    [
        {"confirmed_severity": None},
        {"confirmed_severity": ConfirmedSeverity.MAJOR},
        {"confirmed_severity": ConfirmedSeverity.REFUTED},
        {"folded_into": "c2"},
    ],
)
def test_a_fatal_concern_counts_only_if_it_is_confirmed_and_stands_for_itself(
    changes: dict[str, Any],
) -> None:
    concerns = [replace(CONFIRMED, **changes), make_concern(2, MINOR, decision_place=2)]
    evaluation = make_assessed_evaluation(
        concerns=concerns, assessments=make_assessments(0.4, lowest=0.3, highest=0.5)
    )
    assert decide(make_review(evaluation)).verdict is Verdict.REVISE


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"engine": "extractive"}, "Offline baseline: no verdict; what it counted stands below."),
        ({"assessment": None}, "no assessment of the whole plan with the profile economy"),
        (
            {"assessment": make_assessments(None, reason=Reason.REPLY_UNPARSABLE)},
            "The overall assessment is unscored: the engine's reply could not be read",
        ),
        (
            {
                "assessment": AssessmentEvaluation(
                    assessments=(),
                    failures=(
                        Failure(
                            stage="assessment",
                            subject="plan",
                            reason=Reason.TIMEOUT,
                            detail="no answer within 60 s",
                        ),
                    ),
                )
            },
            "no answer within 60 s",
        ),
    ],
)
def test_without_an_overall_assessment_there_is_no_verdict_and_the_page_says_why(
    changes: dict[str, Any], why: str
) -> None:
    evaluation = replace(make_assessed_evaluation(overall=0.9), **changes)
    assert decide(make_review(evaluation)).verdict is Verdict.NOT_JUDGED
    page = written(evaluation)
    assert "**Not judged.**" in page
    assert why in told(page)
    assert "- Soundness: 5.00 over 2 scored methods, 1 unscored" in page
    assert "Papers: 8 found, 2 relevant to a method, 5 compared" in page


def test_a_score_that_lacks_one_part_names_the_part_and_does_not_say_that_nothing_was_judged() -> (
    None
):
    evaluation = replace(make_assessed_evaluation(), assessment=None)
    partly = make_review(evaluation, score=None, missing="contribution", best_rank=2, worst_rank=7)
    because = decide(partly).because
    assert because.startswith("There is no score: contribution unscored, place between 2 and 7")
    assert "Nothing was judged" not in because


def test_the_page_answers_first_then_gives_reasons_prior_work_concerns_criteria_and_gaps() -> None:
    page = written(make_assessed_evaluation())
    places = [
        page.index(each)
        for each in (
            "Revise: with a probability of 56 % (48 % to 61 % over 3 repetitions)",
            "Against funding it: a fatal concern was confirmed",
            REASONS[0],
            REASONS[2],
            "**Closest prior work**",
            "What remains new compared with it: The controller.",
            "**Concerns worth most**",
            "Point2",
            "worth asking 70 % · new 40 % · decisive test 35 % · feasible 80 %",
            "**What was not judged**",
            "unscored: review of a method, 1 time",
            "--full",
        )
    ]
    assert places == sorted(places)


def test_the_five_concerns_that_decide_most_come_in_order_each_once_with_remedy_and_test() -> None:
    page = written(make_assessed_evaluation())
    # 4 was refuted, 5 is folded into another.
    assert re.findall(r"Point(\d+)", page) == ["2", "3", "1", "6", "7"]
    for number in (2, 3, 1, 6, 7):
        for part in (f"Why{number} ", f"Do{number} first.", f"Settled{number} by a count."):
            assert page.count(part) == 1
    assert "2 further concerns: see the full report." in page


def test_a_concern_that_was_lowered_says_from_what_and_by_which_defense() -> None:
    page = written(make_assessed_evaluation())
    assert page.count("Lowered from fatal") == 1
    lowered = page.split("Point3")[1].split("Point1 ")[0]
    assert "**Lowered from fatal**, in the plan's defense: Defended3 by the appendix" in lowered
    assert "2. **Minor, " in page


def test_a_confirmed_fatal_concern_is_shown_even_if_it_was_not_weighed() -> None:
    concerns = [
        *(make_concern(number, MAJOR, decision_place=number) for number in range(1, 8)),
        make_concern(9, FATAL, confirmed_severity=ConfirmedSeverity.FATAL),
    ]
    page = written(make_assessed_evaluation(concerns=concerns))
    assert re.findall(r"Point(\d+)", page) == ["9", "1", "2", "3", "4"]


def test_where_nothing_was_weighed_the_gravest_five_are_shown_by_severity_and_rank() -> None:
    given = [MINOR, MAJOR, QUESTION, FATAL, MAJOR, MINOR, None, FATAL, MAJOR]
    concerns = [make_concern(number, severity) for number, severity in enumerate(given, start=1)]
    page = written(replace(make_assessed_evaluation(concerns=concerns), assessment=None))
    assert re.findall(r"Point(\d+)", page) == ["4", "8", "2", "5", "9"]


def test_a_field_that_is_not_covered_is_told_in_one_line_and_is_no_evidence_of_novelty() -> None:
    detail = "This literature does not cover the field: its nearest works are about kernels."
    coverage = FieldCoverage(
        field_covered=False, field_coverage_0_to_1=0.04, field_coverage_detail=detail
    )
    left_out = Failure(
        stage="left_out", subject="idea", reason=Reason.FIELD_NOT_COVERED, detail=detail
    )
    made = make_assessed_evaluation(coverage=coverage, failures=(left_out,))
    assert made.contribution is not None
    page = written(replace(made, contribution=replace(made.contribution, comparisons=())))
    assert page.count(detail) == 1
    assert "That is no evidence of novelty." in page


def test_an_unscored_criterion_says_why_and_never_shows_a_number() -> None:
    page = written(make_assessed_evaluation(assessments=make_assessments(0.5, new=None)))
    assert "new unscored: no relevant evidence was found · decisive test 35 %" in page


@pytest.mark.parametrize(("count", "words"), [(1, 18), (2, 24), (3, 30), (8, 60), (1, 400)])
def test_a_page_has_at_most_900_words_however_much_was_written(count: int, words: int) -> None:
    evaluation = make_long_evaluation(15, count, words)
    page = idea_page(make_review(evaluation))
    for among_others in ("", "idea-00003"):
        assert len(markdown_page(idea_view(page, file_name=among_others)).split()) <= MOST_WORDS
    assert len(page.first.concerns) >= 3
    assert f"{15 - len(page.first.concerns)} further concerns" in markdown_page(idea_view(page))


def test_a_page_that_is_too_long_leaves_out_why_and_then_concerns_beyond_the_third() -> None:
    shown = []
    for words in (8, 16, 17, 30):
        page = idea_page(make_review(make_long_evaluation(15, 1, words))).first
        shown.append([bool(concern.why) for concern in page.concerns])
    assert shown[0] == [True] * 5
    assert shown[1] == [True] * 2 + [False] * 3, "those that decide least lose theirs first"
    assert sum(shown[2]) < 2, "one after the other"
    assert len(shown[2]) == 5
    assert len(shown[3]) == 3


def test_the_full_report_says_no_concern_more_than_once() -> None:
    full = written(make_assessed_evaluation(), full=True)
    for number in (1, 2, 3, 6, 7, 8, 9):
        assert len(re.findall(rf"Point{number}\b", full)) == 1
        assert len(re.findall(rf"Do{number}\b", full)) == 1


def test_praise_and_criticism_of_one_passage_stand_together() -> None:
    idea = replace(
        make_evaluation().idea,
        text=f"We count pebbles by hand. We measure waves. {'And so on. ' * 60} We sum it up.",
    )
    concerns = [
        make_concern(1, MAJOR, quote="count pebbles by hand"),
        make_concern(2, MAJOR, quote="", omission="a control"),
        make_concern(3, None, quote="measure waves"),
        make_concern(4, None, quote="sum it up"),
    ]
    full = written(make_assessed_evaluation(concerns=concerns, idea=idea), full=True)
    beside = full.split("### 1. ")[1].split("### 2. ")[0]
    assert "**Strong in the same passage:** Point3" in beside
    assert "Point4" in full.split("**Strong in the plan**")[1]


CONTROLS = "\x1b[2J \x1b]0;owned\x07 \x9b31m \b\x00 \u202eback"


@pytest.mark.parametrize("full", [False, True], ids=["first page", "full report"])
def test_no_control_character_of_an_idea_or_an_engine_reaches_the_page(full: bool) -> None:
    texts = ("point", "quote", "why", "action", "would_change", "defense")
    concern = make_concern(1, FATAL, decision_place=1, **dict.fromkeys(texts, f"So {CONTROLS}."))
    made = make_assessed_evaluation(
        concerns=[concern], assessments=make_assessments(0.5, reasons=[f"So {CONTROLS}."])
    )
    papers = tuple(replace(each, title=f"{each.title} {CONTROLS}") for each in made.papers)
    idea = replace(made.idea, title=f"An idea {CONTROLS}")
    page = idea_page(make_review(replace(made, idea=idea, papers=papers)))
    for written_page in (
        html_page(idea_view(page, full=full)),
        markdown_page(idea_view(page, full=full)),
    ):
        assert not re.search(r"[^\n\x20-\x7e\xa0-\u2027\u202f-\U0010ffff]", written_page)


def test_hostile_reasons_concerns_and_defenses_are_mere_text():
    concern = make_concern(
        1,
        FATAL,
        decision_place=1,
        confirmed_severity=ConfirmedSeverity.MINOR,
        **dict.fromkeys(("point", "why", "action", "would_change", "defense"), HOSTILE_TEXT),
    )
    coverage = FieldCoverage(
        field_covered=False, field_coverage_0_to_1=0.1, field_coverage_detail=HOSTILE_TEXT
    )
    attacked = make_assessed_evaluation(
        concerns=[concern],
        assessments=make_assessments(0.5, reasons=[HOSTILE_TEXT] * 3),
        coverage=coverage,
    )
    page = idea_page(make_review(attacked))
    for full in (False, True):
        read = Page(html_page(idea_view(page, full=full)))
        assert not read.elements & {"script", "img", "i", "b", "iframe"}
        assert not any(name.startswith("on") for name in read.attributes)
        assert all(
            address.startswith(("#section-", "https://", "http://")) for address in read.addresses
        )
    assert len(re.findall(r"^#", markdown_page(idea_view(page)), re.MULTILINE)) == 1
