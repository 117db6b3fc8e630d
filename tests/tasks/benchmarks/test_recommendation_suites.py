"""Suites that hold recommendations against what was used."""

from pathlib import Path

from tasks.benchmarks.suites.recommendation import (
    DATA_SETS,
    LEADERBOARDS,
    QUERIES_FILE,
    is_test_project,
    read_projects,
)
from tasks.metrics.retrieval import average_precision, precision_at, recall_at, reciprocal_rank
from tests.support.benchmark_sets import (
    benchmark_request,
    never_evaluate,
    rows_of,
    run_small,
    scores_of,
    write_resources,
)


def test_what_works_on_the_same_subject_used_is_named_first(tmp_path: Path) -> None:
    folder = write_resources(tmp_path, 40)
    request = benchmark_request(folder, DATA_SETS)
    assert run_small(DATA_SETS, request, never_evaluate).published
    found = scores_of(request)
    value, _, unscored = found["mean_reciprocal_rank", "kind=data_set", "assay"]
    assert value == 1.0
    lexical = found["mean_reciprocal_rank", "kind=data_set", "shared_words"][0]
    assert lexical is not None
    assert lexical < 1.0
    projects = read_projects(folder / QUERIES_FILE)
    asked = {each.project_id for each in projects if is_test_project(each)}
    assert {
        name for (name,) in rows_of(request, "select distinct item_id from benchmark_items")
    } == asked
    assert unscored == len(
        [each for each in projects if is_test_project(each) and not each.data_sets]
    )


def test_a_leaderboard_is_answered_from_the_boards_of_other_data_sets(tmp_path: Path) -> None:
    request = benchmark_request(write_resources(tmp_path), LEADERBOARDS)
    run_small(LEADERBOARDS, request, never_evaluate)
    found = scores_of(request)
    assert found["recall_at_5", "kind=baseline", "assay"][0] == 0.5, "its own paper is on no other"
    assert found["mean_reciprocal_rank", "kind=metric", "assay"][0] == 1.0
    assert found["mean_reciprocal_rank", "kind=baseline", "most_used"][0] != 1.0


def test_measures_of_a_ranked_list() -> None:
    ranked, right = ["a", "b", "c", "d"], {"b", "d", "x"}
    assert precision_at(ranked, right, 2) == 0.5
    assert precision_at(["b"], right, 5) == 0.2
    assert recall_at(ranked, right, 4) == 2 / 3
    assert average_precision(ranked, right) == (1 / 2 + 2 / 4) / 3
    assert reciprocal_rank(ranked, right) == 0.5
    assert reciprocal_rank(ranked, {"x"}) == 0.0
