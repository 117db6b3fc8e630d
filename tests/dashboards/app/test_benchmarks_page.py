"""Benchmarks: measured beside published, what is undefined says why, confusion and reliability from
the answers.
"""

from tests.support.benchmark_lake import BENCHMARK
from tests.support.dashboard import open_page, unsafe_parts, words
from warehouse.warehouse import Warehouse


def test_scores_stand_with_intervals_beside_published_figures(ranked: Warehouse) -> None:
    page = open_page("benchmarks", ranked)
    table = page.dataframe[0].value
    assert set(table["origin"]) == {"measured", "published"}
    measured = table[table["system"] == "assay · litellm:small"].iloc[0]
    assert (
        measured["value"],
        measured["lower"],
        measured["upper"],
        measured["unscored_count"],
    ) == (0.67, 0.4, 0.9, 1)
    assert "nothing was answered" in words(page)
    assert "Higher is better." in words(page)
    assert unsafe_parts(page) == []


def test_confusion_counts_unscored_answers_apart(ranked: Warehouse) -> None:
    assert "4 items, 1 unscored" in words(open_page("benchmarks", ranked, asked="decision · assay"))


def test_a_task_whose_answers_name_papers_has_no_matrix_of_them(ranked: Warehouse) -> None:
    with ranked.queries() as queries:
        asked = {"run_id": BENCHMARK, "most_classes": 12}
        shown = set(queries.page_frame("benchmark_confusion", **asked)["task"])
        items = queries.rows("benchmark_items", run_id=BENCHMARK)
    assert {item["task"] for item in items} == {"decision", "holds", "pair"}
    assert shown == {"decision", "holds"}


def test_reliability_is_taken_over_probabilities_alone(ranked: Warehouse) -> None:
    with ranked.queries() as queries:
        bins = queries.page_frame("benchmark_reliability", run_id=BENCHMARK)
    assert set(bins["task"]) == {"holds"}
    assert bins["item_count"].sum() == 10
    assert bins["share_held"].to_list() == [0.0] * 5 + [1.0] * 5
