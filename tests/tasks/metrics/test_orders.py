"""Orders of ideas against worked examples: correlations, pairs, groups and the area under the curve."""

import math

import numpy as np
import pytest

from tasks.metrics.chance import CONSTANT, MAJORITY, fixed_orders, random_order
from tasks.metrics.rankings import (
    Group,
    Pair,
    area_under_curve,
    best_of_group,
    exact_ranking,
    kendall,
    pairwise_accuracy,
    rank_correlation,
    spearman,
)

TUNA = (
    [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1],
    [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8],
)
"""Hollander & Wolfe, Nonparametric Statistical Methods, 1973, p. 185; the example of R's
`cor.test`: tau = 0.4444, rho = 0.6.
"""
GOLD = {"a": 0.0, "b": 1.0, "c": 3.0}


def test_correlations_of_hollander_and_wolfe_with_bonett_and_wrights_interval() -> None:
    assert kendall(*TUNA).value == pytest.approx(4 / 9)
    found = spearman(*TUNA)
    reach = 1.959964 * math.sqrt((1 + 0.36 / 2) / 6)
    assert found.value == pytest.approx(0.6)
    assert found.interval.lower == pytest.approx(math.tanh(math.atanh(0.6) - reach), abs=1e-9)
    missing = kendall([*TUNA[0], None, 3.0], [*TUNA[1], 1.0, math.nan])
    assert (missing.value, missing.count, missing.unscored_count) == (pytest.approx(4 / 9), 9, 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [([], []), ([1.0], [2.0]), ([1.0, 1.0], [1.0, 2.0]), ([None, 1.0], [1.0, None])],
)
def test_no_correlation_is_undefined_and_a_complete_one_says_why_it_has_no_interval(
    first, second
) -> None:
    for correlation in (spearman, kendall):
        assert correlation(first, second).undefined_reason
    complete = spearman([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 6.0])
    assert complete.value == 1.0
    assert complete.interval.missing_reason


def group(**predicted: float | None) -> Group:
    return Group("g", GOLD, predicted)


def test_a_tie_is_wrong_no_answer_is_unscored_and_another_one_refused() -> None:
    pairs = [Pair("b", "a", "b"), Pair("b", "a", "a"), Pair("b", "a", "tie"), Pair("b", "a", None)]
    found = pairwise_accuracy(pairs)
    assert (found.value, found.count, found.unscored_count) == (pytest.approx(1 / 3), 3, 1)
    with pytest.raises(ValueError, match="neither b nor a"):
        pairwise_accuracy([Pair("b", "a", "c")])


def test_intervals_are_wider_where_pairs_of_a_cluster_agree() -> None:
    apart = [Pair("b", "a", "b" if place % 2 else "a") for place in range(60)]
    alike = [
        Pair("b", "a", "b" if place // 10 % 2 else "a", cluster=f"{place // 10}")
        for place in range(60)
    ]
    wilson, clustered = (pairwise_accuracy(pairs).interval for pairs in (apart, alike))
    assert clustered.method == "clustered bootstrap"
    assert clustered.upper - clustered.lower > 2 * (wilson.upper - wilson.lower)
    right = pairwise_accuracy([Pair("b", "a", "b", cluster=f"{n // 30}") for n in range(60)])
    assert (right.value, right.interval.method) == (1.0, "wilson over clusters")
    assert right.interval.lower < 0.5, "two clusters say little"


@pytest.mark.parametrize(
    ("predicted", "best", "exact"),
    [
        (group(a=1, b=2, c=3), 1.0, 1.0),
        (group(a=2, b=1, c=3), 1.0, 0.0),
        (group(a=1, b=3, c=3), 0.0, 0.0),
        (group(a=1, b=1, c=3), 1.0, 0.0),
        (Group("equal", {"a": 0.0, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 3.0, "c": 2.0}), 1.0, 1.0),
        (Group("equal", {"a": 0.0, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": 2.0, "c": 2.0}), 1.0, 1.0),
    ],
)
def test_best_of_group_and_exact_ranking(predicted: Group, best: float, exact: float) -> None:
    assert (best_of_group([predicted]).value, exact_ranking([predicted]).value) == (best, exact)


def test_a_group_with_an_idea_unscored_or_one_grade_has_no_best_and_no_order() -> None:
    groups = [
        group(a=1, b=2, c=3),
        group(a=1, b=2, c=None),
        group(a=1, b=2),
        group(a=1, b=2, c=math.nan),
        Group("g", {"a": 1.0, "b": 1.0}, {"a": 3.0, "b": 2.0}),
    ]
    for found in (best_of_group(groups), exact_ranking(groups)):
        assert (found.value, found.count, found.unscored_count) == (1.0, 1, 4)
    for nothing in (
        best_of_group([]),
        exact_ranking([group()]),
        pairwise_accuracy([]),
        pairwise_accuracy([Pair("b", "a", None)]),
        area_under_curve([], []),
    ):
        assert nothing.undefined_reason


def test_rank_correlation_is_the_mean_over_groups() -> None:
    groups = [group(a=1, b=2, c=3), group(a=3, b=2, c=1), group(a=1, b=1, c=1)]
    found = rank_correlation(groups, kendall)
    assert (found.value, found.count, found.unscored_count) == (0.0, 2, 1)


def test_chance_finds_the_best_of_four_in_a_quarter_of_the_groups() -> None:
    grades = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0}
    groups = [Group(f"{place}", grades, {}) for place in range(40)]
    assert random_order(groups, best_of_group, seed=1).value == pytest.approx(0.25, abs=0.02)
    assert random_order(groups, exact_ranking, seed=1).value == pytest.approx(1 / 24, abs=0.01)
    fixed = fixed_orders(groups)
    assert best_of_group(fixed[MAJORITY]).value == 1.0, "the last identifier is always the best"
    assert best_of_group(fixed[CONSTANT]).value == 0.0


@pytest.mark.parametrize(
    ("better", "worse", "area"),
    [([3.0, 4.0], [1.0, 2.0], 1.0), ([1.0, 2.0], [3.0, 4.0], 0.0), ([1.0, 3.0], [2.0, 2.0], 0.5)],
)
def test_the_area_under_the_curve_is_a_share_of_pairs_in_order(
    better: list[float], worse: list[float], area: float
) -> None:
    assert area_under_curve(better, worse).value == area


def test_pairs_that_share_either_side_are_no_independent_evidence() -> None:
    """Scores and links that both come from the concepts, and have nothing to do with each other."""
    draw, held = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(20):
        ends = draw.integers(0, 25, (300, 2))
        told, linked = (draw.normal(size=25)[ends].sum(axis=1) for _ in range(2))
        order = np.argsort(-linked)
        for both in held:
            named = [(int(one), int(two)) for one, two in ends[order]] if both else None
            interval = area_under_curve(told[order][:150], told[order][150:], 0, named).interval
            held[both] += interval.lower <= 0.5 <= interval.upper
    assert held[True] >= 18 > 15 > held[False]
