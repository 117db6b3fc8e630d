"""The first page: the verdict by its rule, and what stands beside it."""

from html import escape
from typing import Any

import pytest

from dashboards.reports.first_page import Verdict
from dashboards.reports.html_page import html_page
from dashboards.reports.idea_page import idea_page
from dashboards.reports.render import first_page_markdown, idea_html, idea_report
from schemas.base import replace
from schemas.contribution import Overlap
from schemas.identifiers import IdeaId
from schemas.reasons import Reason
from schemas.soundness import ActionEffort, Concern, ConcernSeverity
from tests.support.report_lake import RUN, UNSCORED
from warehouse.answers import IdeaReview
from warehouse.layout import Layout
from warehouse.queries import open_queries

JUDGED = IdeaId("idea-00003")
FATAL, MAJOR, MINOR, QUESTION = ConcernSeverity


@pytest.fixture
def review(layout: Layout) -> IdeaReview:
    with open_queries(layout) as queries:
        return queries.idea_review(RUN, JUDGED)


def altered(
    review: IdeaReview,
    *,
    score: float | None = 8.0,
    confidence: int | None = 2,
    concerns: tuple[Concern, ...] = (),
    overlap: Overlap = Overlap.PARTIAL,
    **evaluation: Any,
) -> IdeaReview:
    """`review` with these scores, concerns and overlaps."""
    soundness, contribution = review.evaluation.soundness, review.evaluation.contribution
    assert soundness is not None
    assert contribution is not None
    compared = tuple(replace(each, overlap=overlap) for each in contribution.comparisons)
    changes = {
        "soundness": replace(soundness, concerns=concerns),
        "contribution": replace(contribution, comparisons=compared),
        **evaluation,
    }
    return replace(
        review,
        score=replace(review.score, score=score, confidence_0_to_3=confidence),
        evaluation=replace(review.evaluation, **changes),
    )


def concern(review: IdeaReview, severity: ConcernSeverity, number: int = 1) -> Concern:
    assert review.evaluation.soundness is not None
    some = review.evaluation.soundness.concerns[0]
    return replace(some, severity=severity, concern_id=f"c{number}")


def verdict(review: IdeaReview) -> Verdict:
    return idea_page(review).first.verdict


def test_a_high_score_without_a_grave_concern_or_a_substantial_forerunner_is_funded(
    review: IdeaReview,
) -> None:
    assert verdict(altered(review)) is Verdict.FUND
    assert verdict(altered(review, concerns=(concern(review, MAJOR),) * 2)) is Verdict.FUND
    assert verdict(altered(review, concerns=(concern(review, QUESTION),) * 9)) is Verdict.FUND
    assert verdict(altered(review, score=6.4)) is Verdict.REVISE


def test_grave_concerns_and_substantial_forerunners_ask_for_a_revision(review: IdeaReview) -> None:
    for against in (
        altered(review, concerns=(concern(review, FATAL),)),
        altered(review, concerns=(concern(review, MAJOR),) * 3),
        altered(review, overlap=Overlap.SUBSTANTIAL),
    ):
        first = idea_page(against).first
        assert first.verdict is Verdict.REVISE
        assert "Against funding it" in first.sentences[1]


def test_low_scores_fatal_concerns_beside_them_and_the_same_work_are_dropped(
    review: IdeaReview,
) -> None:
    assert verdict(altered(review, score=3.4)) is Verdict.DROP
    assert verdict(altered(review, overlap=Overlap.SAME)) is Verdict.DROP
    fatal = (concern(review, FATAL),)
    assert verdict(altered(review, score=4.9, concerns=fatal)) is Verdict.DROP
    assert verdict(altered(review, score=5.0, concerns=fatal)) is Verdict.REVISE


def test_the_offline_engine_and_an_idea_without_a_score_are_not_judged(
    review: IdeaReview, layout: Layout
) -> None:
    for score in (1.0, 5.0, 9.9):
        first = idea_page(altered(review, score=score, engine="extractive")).first
        assert first.verdict is Verdict.NOT_JUDGED
        assert first.sentences[0] == "Not judged: offline baseline."
        assert first.score.endswith("(baseline)")
    assert "Not judged: " in idea_report(layout, RUN, UNSCORED, "md")


def test_an_idea_without_a_score_points_to_its_evidence_only_where_there_is_some(
    review: IdeaReview, layout: Layout
) -> None:
    told = "The evidence found stands below."
    assert told in idea_page(altered(review, score=None)).first.sentences
    with open_queries(layout) as queries:
        assert told not in idea_page(queries.idea_review(RUN, UNSCORED)).first.sentences


def test_the_words_of_the_closest_work_are_shown_with_their_signs(review: IdeaReview) -> None:
    quote = "*odds* (p < 0.05) of `[MASK]` and a\\*b"
    contribution = review.evaluation.contribution
    assert contribution is not None
    compared = tuple(replace(each, quote=quote) for each in contribution.comparisons)
    evaluation = replace(
        review.evaluation, contribution=replace(contribution, comparisons=compared)
    )
    page = idea_page(replace(review, evaluation=evaluation))
    shown = f"<p>{escape(quote, quote=False)}</p>"
    assert shown in html_page(first_page_markdown(page.first), title="")
    assert idea_html(page).count(shown) > 1


def test_too_little_evidence_neither_funds_nor_drops(review: IdeaReview) -> None:
    assert verdict(altered(review, confidence=0)) is Verdict.REVISE
    assert verdict(altered(review, score=2.0, confidence=0)) is Verdict.REVISE
    assert idea_page(altered(review)).first.score == "8.00 of 10, confidence 2 of 3"


def test_a_plan_that_nobody_judged_is_never_funded(review: IdeaReview) -> None:
    soundness = altered(review).evaluation.soundness
    assert soundness is not None
    assert soundness.plan_review is not None
    unread = replace(soundness.plan_review, unscored_reason=Reason.REFUSED, concern_count=None)
    first = idea_page(altered(review, soundness=replace(soundness, plan_review=unread))).first
    assert first.verdict is Verdict.REVISE
    assert "The plan itself was not judged." in first_page_markdown(first)


def test_actions_answer_fatal_concerns_first_then_major_ones_then_the_quickest(
    review: IdeaReview,
) -> None:
    told = [
        (MINOR, "minor, hours", ActionEffort.HOURS),
        (MAJOR, "major, months", ActionEffort.MONTHS),
        (None, "unbound, unknown", None),
        (MAJOR, "major, days", ActionEffort.DAYS),
        (None, "unbound, weeks", ActionEffort.WEEKS),
        (FATAL, "fatal", ActionEffort.MONTHS),
    ]
    some = review.evaluation.suggestions[0]
    suggestions = tuple(
        replace(some, change=change, effort=effort, concern_id=f"c{number}" if severity else None)
        for number, (severity, change, effort) in enumerate(told)
    )
    concerns = tuple(
        concern(review, severity, number)
        for number, (severity, _, _) in enumerate(told)
        if severity is not None
    )
    first = idea_page(altered(review, concerns=concerns, suggestions=suggestions)).first
    changes = [each.change for each in first.actions]
    assert changes == ["fatal", "major, days", "major, months", "minor, hours", "unbound, weeks"]


def test_three_sentences_at_most_and_every_gap_is_counted(review: IdeaReview) -> None:
    page = idea_page(review)
    assert len(page.first.sentences) == 3
    assert (
        f"{sum(gap.count for gap in page.gaps)} look-ups or judgements" in page.first.sentences[2]
    )
