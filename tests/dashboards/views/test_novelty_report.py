"""Novelty in the report on an idea, and reliability curves in that on a benchmark."""

from dashboards.render.charts.reliability_chart import reliability_charts
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown
from dashboards.render.page import Page
from dashboards.views.idea.review_blocks import novelty_blocks
from schemas.base import replace
from schemas.judgement.benchmark import BenchmarkScore
from schemas.reasons import Reason
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.reports import marks


def page(**changes: object) -> Page:
    evaluation = make_full_evaluation()
    assert evaluation.novelty is not None
    judgement = replace(evaluation.novelty.judgement, **changes)
    papers = {paper.paper_id: paper for paper in evaluation.papers}
    novelty = replace(evaluation.novelty, judgement=judgement)
    return Page((), tuple(novelty_blocks(novelty, papers, "")))


def section(**changes: object) -> str:
    return markdown(page(**changes).blocks)


def test_a_judgement_is_shown_with_its_aspects_and_what_it_rests_on() -> None:
    text = section(
        known_aspects=("The recorder.",),
        novel_aspects=(),
        statement_count=4,
        covered_share_0_to_1=0.25,
        mean_closeness_0_to_1=0.4,
    )
    assert "## Novelty · 3 on 1 … 5" in text
    assert "- The recorder." in text
    assert "How likely each score is: 1: 5 %, 2: 20 %, 3: 45 %, 4: 25 %, 5: 5 %." in text
    rows = [line for line in text.splitlines() if line.startswith("| ")][1:]
    assert [row.split(" | ")[-2:] for row in rows] == [
        ["partial", "useful |"],
        ["none", "not told |"],
    ]
    assert "**New**\n\nNone named." in text
    assert (
        "4 key statements come close to them by 0.40 of 1 on average, 25 % of them closely" in text
    )


def test_a_calibrated_score_is_shown_with_its_interval_and_calibrator() -> None:
    text = section(
        calibrated_score_1_to_5=2.4,
        calibrated_lower_1_to_5=1.0,
        calibrated_upper_1_to_5=4.0,
        calibrator_sha256="ab" * 32,
    )
    assert "Calibrated: 2.4, with 90 % from 1 to 4 (calibrator `abababababab`)" in text


def test_an_unscored_judgement_says_why_and_shows_no_number() -> None:
    text = section(
        score_1_to_5=None,
        unscored_reason=Reason.SOURCE_UNAVAILABLE,
        unscored_detail="2 of 3 searches.",
        unanswered_search_count=2,
    )
    assert "unscored: the literature source did not answer" in text
    assert "2 of 3 searches." in text
    assert "2 of the searches for more went unanswered, so that earlier work may be missing" in text
    assert "on 1 … 5" not in text


def test_what_a_reply_says_stays_text() -> None:
    html = html_page(
        page(
            justification="<script>alert(1)</script> ![x](https://example.org/x)",
            known_aspects=("| a | b |\n# head",),
        )
    )
    assert "<script>" not in html
    assert "<img" not in html
    assert html.count("<h1") == 0


def rows(part: str, expected: float, observed: float | None, place: str) -> list[BenchmarkScore]:
    blank = BenchmarkScore(
        suite="novelty",
        metric="reliability_expected",
        slice=f"{part}, bin {place}",
        system="assay",
        value=expected,
        count=9,
    )
    found = {"value": observed, "lower": observed, "upper": observed}
    missing = None if observed is not None else "no item is in the bin"
    return [blank, replace(blank, metric="reliability_observed", **found, undefined_reason=missing)]


def test_a_reliability_curve_is_drawn_per_part_and_only_from_whole_bins() -> None:
    scores = [
        *rows("a", 0.1, 0.2, "0.0-0.2"),
        *rows("a", 0.9, 0.7, "0.8-1.0"),
        *rows("b", 0.5, None, "0.4-0.6"),
        *rows("c", 0.5, 0.5, "0.4-0.6"),
    ]
    charts = reliability_charts(scores)
    titles = ["Reliability of assay, a", "Reliability of assay, c"]
    assert [chart.title for chart in charts] == titles
    first, last = marks(charts[0], "circle")
    assert first["cx"] < last["cx"]
    assert first["cy"] > last["cy"]
    assert first["tooltip"] == "expected 0.10, observed 0.20 of 9"
