"""The page of one idea: its parts from their addresses, reasons where there is no score, and
hostile text as mere text.
"""

import pytest

from dashboards.app.review.whole import file_name
from schemas.identifiers import IdeaId
from tests.support.committee_evaluations import make_full_evaluation
from tests.support.dashboard import open_page, unsafe_parts, words
from tests.support.evaluations import make_run
from tests.support.report_lake import HOSTILE, RUN, UNSCORED
from tests.support.reports import idea_report
from warehouse.kinds.runs.landing import RUNS, land
from warehouse.units.publish import publish
from warehouse.warehouse import Warehouse

FIRST_PAGE = ("Closest prior work", "Concerns worth most", "What was not judged")
PARTS = (
    "The plan",
    "Scores",
    "Soundness",
    "Contribution",
    "The idea",
    "What is missing",
    "Bibliography",
    "Provenance",
)


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_a_hostile_idea_opens_and_stays_text(part: str, warehouse: Warehouse) -> None:
    page = open_page("idea", warehouse, run=RUN, idea=HOSTILE, part=part)
    assert not page.error
    assert unsafe_parts(page) == []


def test_the_first_page_stands_above_the_tabs_in_the_words_of_the_report(
    warehouse: Warehouse,
) -> None:
    said = words(open_page("idea", warehouse, run=RUN, idea="idea-00003"))
    written = idea_report(warehouse, RUN, IdeaId("idea-00003"), "md")
    for text in (said, written):
        places = [text.index(f"**{heading}**") for heading in FIRST_PAGE]
        assert places == sorted(places)
        assert text.index("**Not judged.** There is no assessment") < places[0]
    assert max(said.index(f"**{heading}**") for heading in FIRST_PAGE) < said.index(
        "reasoning about"
    )


def test_methods_can_be_opened(warehouse: Warehouse) -> None:
    page = open_page("idea", warehouse, idea="idea-00000", part="Soundness")
    assert [expander.label.split(" · ")[0] for expander in page.expander] == [
        "Method 1",
        "Method 2",
        "Method 3",
    ]
    said = words(page)
    assert "Passage (Results)" in said
    assert "https://example.org/paper/0/" in said


def test_an_idea_without_any_score_shows_no_number(warehouse: Warehouse) -> None:
    page = open_page("idea", warehouse, idea=UNSCORED, part="Scores")
    assert {metric.value for metric in page.metric} == {"unscored"}
    assert "What is missing is unscored, not bad" in words(page)


def test_every_judgement_names_its_step_prompt_engine_and_model(warehouse: Warehouse) -> None:
    table = open_page("idea", warehouse, idea="idea-00003", part="Provenance").dataframe[0].value
    assert {"soundness_review", "comparison", "dimensions"} <= set(table["step"])
    assert table["prompt_sha256"].str.len().eq(64).all()
    assert set(table["model_answered"]) == {"small-2026-01"}


def test_every_model_call_is_listed(warehouse: Warehouse) -> None:
    calls = open_page("idea", warehouse, idea="idea-00003", part="Provenance").dataframe[1].value
    assert len(calls) == 6
    assert calls["cost_usd"].sum() == pytest.approx(0.006)


def test_a_module_that_was_not_asked_for_has_no_tab(warehouse: Warehouse) -> None:
    assert [tab.label for tab in open_page("idea", warehouse, idea="idea-00004").tabs][:4] == [
        "The plan",
        "Scores",
        "Soundness",
        "The idea",
    ]


def test_a_search_without_a_find_says_so(warehouse: Warehouse) -> None:
    assert "No idea of this run holds these words" in words(
        open_page("idea", warehouse, search="no such thing")
    )


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    """One idea evaluated by every module."""
    warehouse = Warehouse(tmp_path_factory.mktemp("full"))
    land(warehouse, make_full_evaluation(1))
    modules = "soundness,contribution,committee,novelty"
    assert publish(warehouse, RUNS, make_run(modules=modules)).published
    return warehouse


def test_the_committee_shows_scores_by_reviewer_with_the_unscored_ones(full: Warehouse) -> None:
    page = open_page("idea", full, part="Committee")
    assert any(expander.label.startswith("Reviewer") for expander in page.expander)
    assert "Krippendorff" in words(page)
    assert unsafe_parts(page) == []


def test_novelty_shows_the_judgement_with_its_related_works(full: Warehouse) -> None:
    page = open_page("idea", full, part="Novelty")
    assert "1 (known) to 5 (new in every respect)" in words(page)
    assert "median of 3 judges" in words(page)
    assert "Related works shown" in words(page)


def test_the_quality_page_shows_how_far_the_judges_of_a_run_agree(full: Warehouse) -> None:
    page = open_page("quality", full, run="run-a", view="Judges")
    agreement = page.dataframe[0].value.set_index("step")
    assert agreement.loc["judge_novelty", ["judges", "votes", "unscored_votes"]].tolist() == [
        3,
        3,
        0,
    ]


def test_the_cost_page_says_that_thinking_was_not_told(full: Warehouse) -> None:
    page = open_page("cost", full, run="run-a")
    assert "of them thinking: not told" in words(page)


def test_a_call_of_which_nothing_was_kept_says_so_and_calls_stand_in_time(
    warehouse: Warehouse,
) -> None:
    page = open_page("idea", warehouse, run=RUN, idea="idea-00003", part="Provenance")
    assert "Select one to read its prompt and its reply." in words(page)


def test_a_download_bears_the_title_of_its_idea(warehouse: Warehouse) -> None:
    with warehouse.queries() as queries:
        named = queries.idea_review(RUN, IdeaId("idea-00003"))
        attack = queries.idea_review(RUN, HOSTILE)
    assert file_name(named) == "review-idea-3"
    assert set(file_name(attack)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
