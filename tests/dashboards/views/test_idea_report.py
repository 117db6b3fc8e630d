"""The report on one idea, from a published lake."""

import re
from functools import cache

import pytest

from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, RunId
from tests.support import reports
from tests.support.report_lake import HOSTILE, RUN, UNSCORED
from tests.support.reports import Page

idea_report = cache(reports.idea_report)  # several tests read the same page

SOUND, EXTRACTIVE, SOUNDNESS_ONLY = IdeaId("idea-00003"), IdeaId("idea-00000"), IdeaId("idea-00004")
SECTIONS = [
    "The plan itself",
    "Scores",
    "Summary",
    "Soundness",
    "Contribution",
    "What is missing",
    "Bibliography",
    "Provenance and cost",
]


def headings(markdown, level):
    return re.findall(rf"^{'#' * level} (.+)$", markdown, re.MULTILINE)


def test_every_mean_has_its_unscored_count_beside_it(warehouse):
    markdown = idea_report(warehouse, RUN, SOUND, "md", full=True)
    assert re.search(r"\| Soundness \| \d+\.\d\d \| 2 of 3 methods \| 1 method \|", markdown)
    assert re.search(
        r"\| Contribution \| \d+\.\d\d \| 10 comparisons in 2 dimensions; mean [+−]?\d\.\d\d on −1"
        r" … \+1 \| 0 comparisons \|",
        markdown,
    )
    assert all(
        re.search(r"over 5 scored comparisons, 0 unscored$", heading)
        for heading in headings(markdown, 3)
        if "Dimension" in heading
    )


def test_a_baseline_and_a_snapshot_are_labelled(warehouse):
    baseline = idea_report(warehouse, RUN, EXTRACTIVE, "md", full=True)
    assert "- Extractive engine: an offline baseline, not a language model's judgement." in baseline
    assert "- The evidence comes from a fixed collection of papers" in baseline
    assert "Extractive engine" not in idea_report(warehouse, RUN, SOUND, "md", full=True)


def plan_section(markdown):
    return markdown.split("## The plan itself")[1].split("\n## ")[0]


def test_concerns_about_the_plan_come_gravest_first_and_are_marked_as_reasoning(warehouse):
    plan = plan_section(idea_report(warehouse, RUN, SOUND, "md", full=True))
    assert "Reviewer's reasoning about the plan itself" in plan.splitlines()[2]
    assert headings(plan, 3) == [
        "1. Fatal, confound or alternative explanation",
        "2. Major, missing baseline",
        "3. Minor, metric",
    ]
    assert plan.count("\n> ") == 2, "two concerns quote the plan"
    assert plan.count("Looked for and not found: ") == 1
    assert "What the concerns of the first page rest on:" in plan
    assert plan.count("**What to do**") == 0, "it stands on the first page"
    assert "**Evidence for it:** Method 1: a study found just this." in plan
    assert "**Strong in the plan**" in plan
    asked = plan.split("**Questions about single things in the plan**")[1].split("**Strong")[0]
    assert asked.count("\n- “") == 1, "a question is no concern of its own"
    assert "1 point of the reply left out" in plan


def test_an_idea_without_any_score_shows_no_zero(warehouse):
    markdown = idea_report(warehouse, RUN, UNSCORED, "md", full=True)
    assert "| **Overall** | **unscored** |" in markdown
    assert " · no rank · " in markdown
    assert "- The evaluation ended early: the budget was spent" in markdown
    assert "unscored: no summary was made" in markdown
    assert "price unknown" in markdown
    assert not re.search(r"\b0\.00? of 10|\| 0\.00? \|", markdown)
    heat = markdown.split("### Paper by paper")[1].split("## What could")[0]
    assert heat.count("| ? | ? |") == 5


def test_what_failed_is_told_in_plain_words(warehouse):
    gaps = (
        idea_report(warehouse, RUN, UNSCORED, "md", full=True)
        .split("## What is missing")[1]
        .split("## Bibliography")[0]
    )
    assert "Nothing here counts as a zero" in gaps
    assert "| reading full texts | 1 | the source does not allow it |" in gaps
    assert (
        "| unscored: comparison with a paper | 10 | the engine's reply could not be read |" in gaps
    )
    assert "reply_unparsable" not in gaps


def test_a_module_that_was_not_asked_for_is_no_failure(warehouse):
    markdown = idea_report(warehouse, RUN, SOUNDNESS_ONLY, "md", full=True)
    assert "| Contribution | not asked for | | |" in markdown
    assert "Contribution" not in headings(markdown, 2)
    assert "| Model calls | none |" in markdown


def test_the_page_stands_alone(warehouse):
    html = idea_report(warehouse, RUN, SOUND, "html", full=True)
    page = Page(html)
    assert not page.elements & {"script", "img", "link", "iframe", "object", "form", "base"}
    assert "src" not in page.attributes
    assert "url(" not in html
    assert "@import" not in html
    assert page.rels == {None, "nofollow noopener noreferrer"}
    assert html.count('class="mark ') == 10


@pytest.mark.parametrize("output_format", ["md", "html"])
def test_hostile_text_changes_nothing_but_the_words(warehouse, output_format):
    report = idea_report(warehouse, RUN, HOSTILE, output_format, full=True)
    if output_format == "md":
        assert headings(report, 2) == SECTIONS
        assert len(headings(report, 1)) == 1
        cells = {
            line.replace("\\|", "").count("|")
            for line in report.splitlines()
            if line.startswith("| ") and "fixed" not in line
        }
        assert cells <= {3, 4, 5, 6}
        return
    page = Page(report)
    assert not page.elements & {"script", "img", "i", "b", "iframe"}
    assert report.count("<figure") == report.count('<svg viewBox="0 0 860 ') == 2
    assert not any(name.startswith("on") for name in page.attributes)
    assert all(
        address.startswith(("#section-", "https://", "http://")) for address in page.addresses
    )
    assert report.count("<h2") == len(SECTIONS)
    assert report.count('class="mark ') == 10


def test_an_unknown_idea_or_run_is_one_clear_line(warehouse):
    for run_id, idea_id in ((RUN, "no-such-idea"), (RunId("no-such-run"), SOUND)):
        with pytest.raises(ConfigurationError) as raised:
            idea_report(warehouse, run_id, IdeaId(idea_id), "md", full=True)
        assert "\n" not in str(raised.value)
        assert "no-such" in str(raised.value)
