"""Pairs and groups: who is better, best, and in what order."""

import math

import numpy as np
import pytest

from tasks.metrics.rankings import (
    Group,
    Pair,
    area_under_curve,
    best_of_group,
    exact_ranking,
    kendall,
    pairwise_accuracy,
    rank_correlation,
)

GOLD = {"a": 0.0, "b": 1.0, "c": 3.0}


def group(**predicted: float | None) -> Group:
    return Group("g", GOLD, predicted)


def test_a_tie_is_wrong_and_no_answer_is_unscored() -> None:
    pairs = [Pair("b", "a", "b"), Pair("b", "a", "a"), Pair("b", "a", "tie"), Pair("b", "a", None)]
    found = pairwise_accuracy(pairs)
    assert (found.value, found.count, found.unscored_count) == (pytest.approx(1 / 3), 3, 1)


def test_intervals_over_clusters_are_wider_where_pairs_of_a_cluster_agree() -> None:
    apart = [Pair("b", "a", "b" if place % 2 else "a") for place in range(60)]
    alike = [
        Pair("b", "a", "b" if place // 10 % 2 else "a", cluster=f"{place // 10}")
        for place in range(60)
    ]
    wilson, clustered = (pairwise_accuracy(pairs).interval for pairs in (apart, alike))
    assert clustered.method == "clustered bootstrap"
    assert clustered.upper - clustered.lower > 2 * (wilson.upper - wilson.lower)


def test_pairs_that_are_all_right_leave_doubt_by_their_clusters() -> None:
    pairs = [Pair("b", "a", "b", cluster=f"{place // 30}") for place in range(60)]
    found = pairwise_accuracy(pairs)
    assert (found.value, found.interval.method) == (1.0, "wilson over clusters")
    assert found.interval.lower < 0.5, "two clusters say little"


def test_an_answer_that_is_in_no_pair_is_refused() -> None:
    with pytest.raises(ValueError, match="neither b nor a"):
        pairwise_accuracy([Pair("b", "a", "c")])


@pytest.mark.parametrize(
    ("predicted", "best", "exact"),
    [
        (group(a=1, b=2, c=3), 1.0, 1.0),
        (group(a=2, b=1, c=3), 1.0, 0.0),
        (group(a=1, b=3, c=3), 0.0, 0.0),
        (group(a=1, b=1, c=3), 1.0, 0.0),
    ],
)
def test_best_of_group_and_exact_ranking(predicted: Group, best: float, exact: float) -> None:
    assert (best_of_group([predicted]).value, exact_ranking([predicted]).value) == (best, exact)


def test_equal_grades_may_stand_in_any_order() -> None:
    grades = {"a": 0.0, "b": 1.0, "c": 1.0}
    for predicted in (
        {"a": 1.0, "b": 2.0, "c": 3.0},
        {"a": 1.0, "b": 3.0, "c": 2.0},
        {"a": 1.0, "b": 2.0, "c": 2.0},
    ):
        assert exact_ranking([Group("g", grades, predicted)]).value == 1.0
        assert best_of_group([Group("g", grades, predicted)]).value == 1.0


def test_a_group_with_an_idea_unscored_has_no_best_and_no_order() -> None:
    groups = [
        group(a=1, b=2, c=3),
        group(a=1, b=2, c=None),
        group(a=1, b=2),
        group(a=1, b=2, c=math.nan),
    ]
    for found in (best_of_group(groups), exact_ranking(groups)):
        assert (found.value, found.count, found.unscored_count) == (1.0, 1, 3)


def test_no_group_and_no_answer_are_undefined() -> None:
    for found in (
        best_of_group([]),
        exact_ranking([group()]),
        pairwise_accuracy([]),
        pairwise_accuracy([Pair("b", "a", None)]),
    ):
        assert math.isnan(found.value)
        assert found.undefined_reason


def test_rank_correlation_is_the_mean_over_groups() -> None:
    found = rank_correlation(
        [group(a=1, b=2, c=3), group(a=3, b=2, c=1), group(a=1, b=1, c=1)], kendall
    )
    assert (found.value, found.count, found.unscored_count) == (0.0, 2, 1)


def test_a_group_of_one_grade_has_no_best_and_no_order() -> None:
    alike = [Group("g", {"a": 1.0, "b": 1.0}, {"a": 3.0, "b": 2.0})]
    assert [found(alike).unscored_count for found in (best_of_group, exact_ranking)] == [1, 1]
    assert best_of_group(alike).undefined_reason == "none of the 1 items has a value"


def test_the_area_under_the_curve_is_a_share_of_pairs_in_order() -> None:
    assert area_under_curve([3.0, 4.0], [1.0, 2.0]).value == 1.0
    assert area_under_curve([1.0, 2.0], [3.0, 4.0]).value == 0.0
    assert area_under_curve([1.0, 1.0], [1.0, 1.0]).value == 0.5
    assert area_under_curve([1.0, 3.0], [2.0, 2.0]).value == 0.5
    assert area_under_curve([], []).undefined_reason == "there is no item"


def test_pairs_that_share_either_side_are_no_independent_evidence() -> None:
    """Scores and links that both come from the concepts, and have nothing to do with each other."""
    draw, held = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(40):
        ends = draw.integers(0, 25, (300, 2))
        told, linked = (draw.normal(size=25)[ends].sum(axis=1) for _ in range(2))
        order = np.argsort(-linked)
        for both in held:
            named = [(int(one), int(two)) for one, two in ends[order]] if both else None
            interval = area_under_curve(told[order][:150], told[order][150:], 0, named).interval
            held[both] += interval.lower <= 0.5 <= interval.upper
    assert held[True] >= 36 > 30 > held[False]
