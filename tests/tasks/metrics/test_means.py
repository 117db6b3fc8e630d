"""Means, shares, intervals, tests and sample sizes against closed forms and other libraries."""

import math
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp, ttest_ind
from statsmodels.regression.linear_model import OLS

from tasks.metrics.differences import welch
from tasks.metrics.estimate import (
    POWER,
    Estimate,
    benchmark_score,
    detectable,
    items_needed,
    pairs_needed,
    undefined,
)
from tasks.metrics.means import (
    bootstrap_interval,
    clustered_mean_interval,
    mean,
    paired_difference,
    share,
    share_of,
)
from tasks.metrics.mixed_effects import mixed_effects

REVIEWS = Path(__file__).parents[4] / "shared" / "data" / "expert_reviews.parquet"


def clustered_sample() -> tuple[list[float], list[int]]:
    draw = np.random.default_rng(1)
    clusters = [idea for idea in range(60) for _ in range(int(draw.integers(4, 14)))]
    shared = draw.normal(0, 1, 60)
    return [float(shared[idea] + draw.normal(0, 0.5)) for idea in clusters], clusters


def error(interval) -> float:
    return (interval.upper - interval.lower) / 2 / 1.96


def test_intervals_have_the_width_of_the_standard_error_and_of_the_cluster_robust_one() -> None:
    values = np.random.default_rng(0).normal(3, 1.4, 400).tolist()
    found = mean(values)
    assert found.value == pytest.approx(np.mean(values))
    assert error(found.interval) == pytest.approx(np.std(values, ddof=1) / 20, rel=0.1)
    values, clusters = clustered_sample()
    robust = OLS(np.array(values), np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters)}
    )
    found = mean(values, 3, clusters)
    assert error(found.interval) == pytest.approx(float(robust.bse[0]), rel=0.1)
    assert error(found.interval) > 2 * error(mean(values).interval)
    assert found == mean(values, 3, clusters) != mean(values, 2, clusters)


def test_fast_and_general_clustered_bootstrap_agree() -> None:
    values, clusters = clustered_sample()
    numbers = np.array(values)
    general = bootstrap_interval(lambda at: float(numbers[at].mean()), len(values), 5, clusters)
    fast = clustered_mean_interval(values, clusters, 5)
    assert (general.lower, general.upper) == (pytest.approx(fast.lower), pytest.approx(fast.upper))
    seldom = bootstrap_interval(lambda at: 1.0 if 0 in at else math.nan, 30, 0)
    assert "exists in only" in (seldom.missing_reason or "")


def test_wilson_interval_of_newcombe() -> None:
    """Statistics in Medicine 1998, Table I, method 3: 81/263 and 0/20."""
    interval = share(81, 263).interval
    assert (round(interval.lower, 4), round(interval.upper, 4)) == (0.2553, 0.3662)
    assert round(share(0, 20).interval.upper, 4) == 0.1611


def test_a_paired_difference_is_sharper_than_its_two_means() -> None:
    draw = np.random.default_rng(2)
    items = draw.normal(0, 2, 80)
    first, second = (items + 0.3 + draw.normal(0, 0.3, 80)).tolist(), items.tolist()
    found = paired_difference(first, second)
    assert found.interval.lower > 0
    assert error(found.interval) < error(mean(first).interval) / 3


def test_missing_items_are_unscored_in_means_shares_and_differences() -> None:
    some, shares = mean([1.0, None, 3.0, math.nan]), share_of([True, None, False])
    assert (some.value, some.unscored_count) == (2.0, 2)
    assert (shares.value, shares.unscored_count) == (0.5, 1)
    assert paired_difference([1.0, None, 5.0], [0.5, 1.0, None]).unscored_count == 2


@pytest.mark.parametrize(
    "found", [mean([]), mean([None]), share(0, 0), share_of([None]), welch([], [1.0, 2.0]),
              welch([2.0, 2.0], [3.0, 3.0]), mean([None, None], clusters=["a", "b"])]
)  # fmt: skip
def test_of_nothing_there_is_no_value_but_a_reason(found: Estimate) -> None:
    assert math.isnan(found.value)
    assert found.undefined_reason


@pytest.mark.parametrize(
    "found", [mean([2.0]), mean([2.0, 2.0, 2.0]), mean([1.0, 2.0], clusters=["one", "one"])]
)
def test_a_value_without_an_interval_says_why(found: Estimate) -> None:
    assert found.defined
    assert found.interval.missing_reason


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), max_size=12), st.integers(0, 5))
def test_the_interval_of_a_mean_keeps_within_its_values(
    values: list[float | None], seed: int
) -> None:
    found = mean(values, seed, [position % 3 for position in range(len(values))])
    there = [value for value in values if value is not None]
    assert found.count + found.unscored_count == len(values)
    if not math.isnan(found.interval.lower):
        ends = (min(there) - 1e-6, found.interval.lower, found.interval.upper, max(there) + 1e-6)
        assert list(ends) == sorted(ends)


def test_a_row_for_the_lake_has_none_where_there_is_no_number() -> None:
    nothing = undefined("the model answered nothing", unscored_count=7)
    row = benchmark_score(nothing, "novelty", "macro_f1", "assay")
    assert (row.value, row.lower, row.unscored_count) == (None, None, 7)
    assert row.undefined_reason == "the model answered nothing"
    row = benchmark_score(share(3, 4), "novelty", "accuracy", "assay", "class=3")
    assert (row.value, row.slice, row.interval_method, row.count) == (0.75, "class=3", "wilson", 4)


numbers = st.lists(st.integers(-1000, 1000).map(lambda n: n / 10), min_size=2, max_size=30)


@given(numbers, numbers, st.sampled_from(["two-sided", "greater"]))
def test_welch_as_scipy(first: list[float], second: list[float], alternative) -> None:
    assume(len(set(first)) > 1 and len(set(second)) > 1)
    reference = ttest_ind(first, second, equal_var=False, alternative=alternative)
    found = welch([*first, None], [math.nan, *second], alternative)
    assert found.value == pytest.approx(reference.pvalue, rel=1e-5, abs=1e-9)
    assert (found.count, found.unscored_count) == (len(first) + len(second), 2)


def test_a_group_of_equal_values_has_no_spread_and_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = welch([0.1] * 3, [0.2, 0.3, 0.4])
    # t = 0.2 / (0.1 / sqrt(3)) with two degrees of freedom.
    assert found.value == pytest.approx(1 - math.sqrt(12 / (12 + 2)))


# Sample sizes.


@pytest.mark.parametrize(("deviations", "pairs"), [(0.5, 34), (0.8, 15), (1.0, 10)])
def test_pairs_are_those_of_cohens_tables(deviations: float, pairs: int) -> None:
    assert pairs_needed(deviations, 1) == pairs < pairs_needed(deviations, 9)


@pytest.mark.parametrize(("count", "comparisons"), [(8, 5), (5, 30)])
def test_the_detectable_difference_is_seen_four_times_of_five(count: int, comparisons: int) -> None:
    step = detectable(count, comparisons)
    assert pairs_needed(step, comparisons) in (count, count + 1)
    drawn = np.random.default_rng(1).normal(step, 1.0, (20_000, count))
    seen = ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05 / comparisons
    assert seen.mean() == pytest.approx(POWER, abs=0.01)


def test_so_many_items_show_a_difference_of_shares_four_times_of_five() -> None:
    count = items_needed(0.8, 0.05, 1)
    draw = np.random.default_rng(0)
    ours, theirs = (draw.binomial(count, share, 4_000) / count for share in (0.85, 0.8))
    pooled = (ours + theirs) / 2
    z = (ours - theirs) / np.sqrt(2 * pooled * (1 - pooled) / count)
    assert (np.abs(z) > 1.96).mean() == pytest.approx(POWER, abs=0.03)
    assert count < items_needed(0.8, 0.05, 9) < items_needed(0.8, 0.01, 9)


# Mixed effects.

STOOLS = (
    *(12, 15, 12, 10, 10, 14, 13, 12, 7, 14, 13, 9, 7, 11, 10, 9, 8, 11, 8, 7, 9, 11, 11, 10),
    *(8, 12, 12, 11, 7, 11, 8, 7, 9, 13, 10, 8),
)
"""Effort of nine subjects to arise from four stools: Pinheiro & Bates, Mixed-Effects Models in S
and S-PLUS, 2000, §1.2 (`ergoStool`).
"""


def test_stools_of_pinheiro_and_bates() -> None:
    """`lme(effort ~ Type, random = ~ 1 | Subject)`: 3.8889, 2.2222, 0.6667 (0.5187 each)."""
    kinds, subjects = [f"T{n % 4 + 1}" for n in range(36)], [f"s{n // 4}" for n in range(36)]
    found = mixed_effects([*STOOLS, None], [*kinds, "T2"], [*subjects, "s0"], "T1")
    values = {name: one.value for name, one in found.items()}
    assert values == pytest.approx({"T2": 3.888889, "T3": 2.222222, "T4": 0.666667}, abs=1e-6)
    for one in found.values():
        assert error(one.interval) == pytest.approx(0.5186838, rel=1e-4)
        assert (one.unscored_count, one.count) == (1, 36)


@pytest.mark.skipif(not REVIEWS.is_file(), reason="the reviews are not beside this checkout")
def test_machine_ideas_are_judged_more_novel_by_welch_and_with_effects_of_the_idea() -> None:
    """Si et al., Table 7: p < 0.01 after correcting for two tests; the release names no reviewers,
    so ideas are what reviews share.
    """
    columns = pl.read_parquet(REVIEWS).select(
        pl.col("novelty_score").cast(pl.Float64), "condition", "idea_id"
    )
    values, conditions, ideas = (column.to_list() for column in columns)
    of = {c: [v for v, d in zip(values, conditions, strict=True) if c == d] for c in conditions}
    effects = mixed_effects(values, conditions, ideas, "Human")
    assert len(effects) == 2
    for condition, effect in effects.items():
        assert effect.interval.lower > 0
        assert 2 * welch(of[condition], of["Human"]).value < 0.01


@pytest.mark.parametrize(
    ("values", "conditions", "participants", "words"),
    [
        ([], "", "", "no score under"),
        ([None, math.nan], "aa", "pq", "no score under"),
        ([1.0, 2.0], "aa", "pp", "only one condition"),
        ([1.0, 2.0], "ab", "pp", "fewer than two participants"),
        ([1.0, 2.0], "ab", "pq", "every participant gave one score"),
        ([3.0] * 4, "abab", "ppqq", "all scores are equal"),
    ],
)
def test_what_no_model_can_be_fitted_to_is_undefined_with_a_reason(
    values: list[float | None], conditions: str, participants: str, words: str
) -> None:
    effects = mixed_effects(values, list(conditions), list(participants), "a")
    assert effects
    assert all(words in (one.undefined_reason or "") for one in effects.values())
