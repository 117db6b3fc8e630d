"""Ideas, why one beats another, and how sure the order is."""

import pytest
from starlette.testclient import TestClient

from dashboards.app.site import idea_path
from tests.support.report_lake import RUN
from tests.support.site import opened, site_of
from warehouse.warehouse import Warehouse


@pytest.fixture(scope="module")
def by_scores(warehouse: Warehouse) -> TestClient:
    return site_of(warehouse)


@pytest.fixture(scope="module")
def by_matches(ranked: Warehouse) -> TestClient:
    return site_of(ranked)


def test_ranks_by_matches_come_with_their_range_and_their_strengths(by_matches: TestClient) -> None:
    page = opened(by_matches, "/ideas", {"group": "sound"})
    rows = page.table("Strength")
    assert [row["Rank"] for row in rows] == ["1 (1–2)", "2 (1–3)", "3 (2–3)"]
    assert "Ranks rest on matches and lead" in page.words
    assert page.tree.xpath("//figure//*[name()='svg']")


def test_weights_of_the_address_rank_a_group_anew(by_scores: TestClient) -> None:
    own = opened(by_scores, "/ideas", {"group": "biology"})
    assert [row["Idea"] for row in own.table("Idea")] == ["Idea 3", "Idea 0"]
    moved = opened(by_scores, "/ideas", {"group": "biology", "weight_soundness": "0"})
    assert all(row["Score"] == row["Contribution"] for row in moved.table("Change"))
    assert "Weights differ" in moved.words
    for wrong in ("2", "-1", "x", "nan"):
        page = opened(by_scores, "/ideas", {"weight_soundness": wrong})
        assert (page.status, "write a number from 0 to 1" in page.words) == (400, True)


def test_a_filter_hides_ideas_and_keeps_the_ranks_of_the_rest(by_scores: TestClient) -> None:
    every = opened(by_scores, "/ideas").table("Rank")
    ranked = opened(by_scores, "/ideas", {"only": "With a rank"}).table("Rank")
    assert ranked == [row for row in every if row["Rank"][0] != "–"]
    assert len(ranked) < len(every)
    assert all(row["Missing"] for row in every if row not in ranked)
    best = opened(by_scores, "/ideas", {"only": "The best 3 of each group"}).table("Rank")
    assert best == ranked


def test_two_ideas_are_held_side_by_side_with_what_judges_said(by_matches: TestClient) -> None:
    page = opened(by_matches, "/why")
    assert page.status == 200
    assert "Rank 1" in page.words
    (row,) = (each for each in page.tree.xpath("//table//tr") if "Strength" in each.text_content())
    assert len(row) == 3
    assert "What would turn it round" in page.words
    assert "judged by" in page.words
    assert page.title.startswith("Why ")
    assert page.unsafe == []


def test_without_matches_the_command_is_named_and_a_weight_may_turn_the_order(
    by_scores: TestClient,
) -> None:
    asked = {"run": RUN, "one": "idea-00003", "other": "idea-00000"}
    page = opened(by_scores, "/why", asked)
    assert f"assay rank {RUN}" in page.words
    assert "weigh" in page.words.partition("What would turn it round")[2]
    again = opened(by_scores, "/why", asked | {"one": "idea-00000", "other": "idea-00003"})
    assert again.title == page.title, "the better one comes first, however the two are asked for"


@pytest.mark.parametrize(
    ("one", "other", "status", "said"),
    [
        ("idea-00000", "no-such", 404, "has no idea “no-such”"),
        ("idea-00000", "idea-00000", 400, "is not compared with itself"),
    ],
)
def test_ideas_that_cannot_be_compared_are_refused_in_a_sentence(
    one: str, other: str, status: int, said: str, by_scores: TestClient
) -> None:
    page = opened(by_scores, "/why", {"run": RUN, "one": one, "other": other})
    assert (page.status, said in page.words) == (status, True)


def test_two_orders_of_one_run_are_held_beside_each_other(by_matches: TestClient) -> None:
    page = opened(by_matches, "/sure")
    counts = {row[""]: row["Count"] for row in page.table("Count")}
    assert int(counts["Ideas ranked by both"]) > 1
    assert "How much the weights matter" in page.words


def test_an_order_without_another_says_so(by_scores: TestClient) -> None:
    assert "recognized by their identifier" in opened(by_scores, "/sure").words


def test_an_idea_leads_to_what_sets_it_apart_from_the_next(by_matches: TestClient) -> None:
    (link,) = opened(by_matches, idea_path(RUN, "idea-00000")).links("Compare with the next")
    assert opened(by_matches, link).status == 200
