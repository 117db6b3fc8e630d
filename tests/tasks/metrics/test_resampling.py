"""Means, shares and bootstrap intervals against closed forms and reference implementations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS

from tasks.metrics.estimate import Estimate, benchmark_score, undefined
from tasks.metrics.means import (
    bootstrap_interval,
    clustered_mean_interval,
    mean,
    paired_difference,
    share,
    share_of,
)


def clustered_sample() -> tuple[list[float], list[int]]:
    generator = np.random.default_rng(1)
    clusters = [idea for idea in range(60) for _ in range(int(generator.integers(4, 14)))]
    shared = generator.normal(0, 1, 60)
    return [float(shared[idea] + generator.normal(0, 0.5)) for idea in clusters], clusters


def error(interval) -> float:
    return (interval.upper - interval.lower) / 2 / 1.96


def test_bca_interval_of_a_mean_has_the_width_of_its_standard_error() -> None:
    values = np.random.default_rng(0).normal(3, 1.4, 400).tolist()
    found = mean(values)
    assert found.value == pytest.approx(np.mean(values))
    assert error(found.interval) == pytest.approx(np.std(values, ddof=1) / 20, rel=0.1)


def test_clustered_interval_has_the_width_of_the_cluster_robust_standard_error() -> None:
    values, clusters = clustered_sample()
    robust = OLS(np.array(values), np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters)}
    )
    found = mean(values, seed=3, clusters=clusters)
    assert error(found.interval) == pytest.approx(float(robust.bse[0]), rel=0.1)
    assert error(found.interval) > 2 * error(mean(values).interval)


def test_fast_and_general_clustered_bootstrap_agree() -> None:
    values, clusters = clustered_sample()
    numbers = np.array(values)
    general = bootstrap_interval(
        lambda chosen: float(numbers[chosen].mean()), len(values), 5, clusters
    )
    fast = clustered_mean_interval(values, clusters, 5)
    assert (general.lower, general.upper) == (pytest.approx(fast.lower), pytest.approx(fast.upper))


def test_the_same_seed_gives_the_same_interval_and_another_one_another() -> None:
    values, clusters = clustered_sample()
    assert mean(values, 1, clusters) == mean(values, 1, clusters)
    assert mean(values, 1, clusters) != mean(values, 2, clusters)
    assert mean(values, 1) == mean(values, 1)


def test_wilson_interval_of_brown_cai_and_dasgupta() -> None:
    """Newcombe, Statistics in Medicine 1998, Table I, method 3: 81/263 gives 0.2553 to 0.3662; 0/20
    gives 0 to 0.1611.
    """
    assert [
        round(end, 4) for end in (share(81, 263).interval.lower, share(81, 263).interval.upper)
    ] == [0.2553, 0.3662]
    assert round(share(0, 20).interval.upper, 4) == 0.1611


def test_a_paired_difference_is_sharper_than_its_two_means() -> None:
    generator = np.random.default_rng(2)
    items = generator.normal(0, 2, 80)
    first, second = (items + 0.3 + generator.normal(0, 0.3, 80)).tolist(), items.tolist()
    found = paired_difference(first, second)
    assert found.interval.lower > 0
    assert error(found.interval) < error(mean(first).interval) / 3


def test_missing_items_are_unscored_in_means_shares_and_differences() -> None:
    assert (
        mean([1.0, None, 3.0, math.nan]).value,
        mean([1.0, None, 3.0, math.nan]).unscored_count,
    ) == (2.0, 2)
    assert (share_of([True, None, False]).value, share_of([True, None, False]).unscored_count) == (
        0.5,
        1,
    )
    assert paired_difference([1.0, None, 5.0], [0.5, 1.0, None]).unscored_count == 2


@pytest.mark.parametrize(
    "found",
    [
        mean([]),
        mean([None]),
        share(0, 0),
        share_of([None]),
        mean([None, None], clusters=["a", "b"]),
    ],
)
def test_of_nothing_there_is_no_value_but_a_reason(found: Estimate) -> None:
    assert math.isnan(found.value)
    assert found.undefined_reason


@pytest.mark.parametrize(
    "found", [mean([2.0]), mean([2.0, 2.0, 2.0]), mean([1.0, 2.0], clusters=["one", "one"])]
)
def test_a_value_without_an_interval_says_why(found: Estimate) -> None:
    assert found.defined
    assert math.isnan(found.interval.lower)
    assert found.interval.missing_reason


def test_a_statistic_that_seldom_exists_has_no_interval() -> None:
    found = bootstrap_interval(lambda chosen: 1.0 if 0 in chosen else math.nan, 30, 0)
    assert "exists in only" in (found.missing_reason or "")


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), max_size=12), st.integers(0, 5))
def test_the_interval_of_a_mean_keeps_within_its_values(
    values: list[float | None], seed: int
) -> None:
    found = mean(values, seed, [position % 3 for position in range(len(values))])
    there = [value for value in values if value is not None]
    assert found.count + found.unscored_count == len(values)
    if not math.isnan(found.interval.lower):
        assert (
            min(there) - 1e-6 <= found.interval.lower <= found.interval.upper <= max(there) + 1e-6
        )


def test_a_row_for_the_lake_has_none_where_there_is_no_number() -> None:
    row = benchmark_score(
        undefined("the model answered nothing", unscored_count=7), "novelty", "macro_f1", "assay"
    )
    assert (row.value, row.lower, row.unscored_count, row.undefined_reason) == (
        None,
        None,
        7,
        "the model answered nothing",
    )
    row = benchmark_score(share(3, 4), "novelty", "accuracy", "assay", "class=3")
    assert (row.value, row.slice, row.interval_method, row.count) == (0.75, "class=3", "wilson", 4)
