"""The ranking page: every view from its address, intervals, weights, and nothing of what ideas
wrote acts.
"""

import pytest

from tests.support.dashboard import open_page, unsafe_parts, words
from tests.support.report_lake import RUN
from warehouse.warehouse import Warehouse

VIEWS = ("Leaderboard", "Dimensions", "Matches", "Compare", "Sensitivity")


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_from_its_address_with_hostile_ideas(view: str, ranked: Warehouse) -> None:
    page = open_page("ranking", ranked, run=RUN, view=view, group="hostile")
    assert not page.error
    assert unsafe_parts(page) == []


def test_ranks_by_matches_come_with_their_range_and_unscored_matches(ranked: Warehouse) -> None:
    page = open_page("ranking", ranked, group="sound")
    table = page.dataframe[0].value
    assert list(table["rank"]) == [1, 2, 3]
    assert list(table["best_rank"]) == [1, 1, 2]
    assert "unscored_match_count" in table
    assert "unscored" in words(page)


def test_weights_of_the_address_rank_anew_and_say_so(warehouse: Warehouse) -> None:
    own = open_page("ranking", warehouse, group="biology")
    assert list(own.dataframe[0].value["idea_id"]) == ["idea-00003", "idea-00000"]
    moved = open_page("ranking", warehouse, group="biology", weight_soundness="0.0")
    scores = moved.dataframe[0].value
    assert list(scores["score"]) == list(scores["contribution_0_to_10"])
    assert "rank_change" in scores
    assert "Weights differ" in words(moved)


def test_a_slider_moves_the_scores_at_once(warehouse: Warehouse) -> None:
    page = open_page("ranking", warehouse, group="biology")
    page.slider(key="weight_contribution").set_value(0.0).run()
    scores = page.dataframe[0].value
    assert list(scores["score"]) == list(scores["soundness_0_to_10"])


def test_the_search_filters_rows_and_keeps_ranks(warehouse: Warehouse) -> None:
    page = open_page("ranking", warehouse, group="(every group)", search="idea 0")
    table = page.dataframe[0].value
    assert list(table["idea_id"]) == ["idea-00000"]
    assert list(table["rank"]) == [2]
    assert "run=run-a" in table["review"][0]


def test_an_idea_without_a_score_has_no_rank_and_says_why(warehouse: Warehouse) -> None:
    table = open_page("ranking", warehouse, group="(no group)").dataframe[0].value
    assert table["rank"].isna().all()
    assert list(table["ended_early"]) == ["the budget was spent"]


@pytest.mark.parametrize("view", ["Leaderboard", "Shortlist", "Side by side"])
def test_every_order_of_ideas_is_that_of_the_ranks_and_says_what_they_rest_on(
    view: str, ranked: Warehouse, warehouse: Warehouse
) -> None:
    page = open_page("ranking", ranked, view=view)
    assert "Ranks rest on matches and lead" in words(page)
    assert "Ranks rest on scores." in words(open_page("ranking", warehouse, view=view))
    if view == "Shortlist":
        assert page.dataframe[0].value["rank"].dropna().is_monotonic_increasing
    if view == "Side by side":
        (first,) = [each.value for each in page.caption if "rank 1" in each.value][:1]
        assert "Coverage" in first
        assert page.selectbox(key="choose_one").value != "idea-00003"  # of the highest score


def test_judges_reasons_are_shown_for_a_pair(ranked: Warehouse) -> None:
    page = open_page("ranking", ranked, view="Matches", group="sound")
    assert "(https://example.org/p1)" in words(page)
    assert "wins" in words(page)


def test_without_matches_the_page_names_the_command(warehouse: Warehouse) -> None:
    assert "assay rank run-a" in words(open_page("ranking", warehouse, view="Matches"))


def test_two_rankings_of_a_run_are_compared(ranked: Warehouse) -> None:
    said = words(open_page("ranking", ranked, view="Compare", with_basis="scores"))
    assert "Ideas ranked by both" in said
