"""Welch's test against `scipy` on values."""

import math
import warnings

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_ind_from_stats

from tasks.metrics.differences import welch

numbers = st.lists(
    st.integers(-1000, 1000).map(lambda number: number / 10), min_size=2, max_size=30
)


@given(numbers, numbers, st.sampled_from(["two-sided", "greater"]))
def test_from_values_as_scipy(first: list[float], second: list[float], alternative) -> None:
    assume(len(set(first)) > 1 or len(set(second)) > 1)
    summaries = [
        figure
        for values in (first, second)
        for mean in [math.fsum(values) / len(values)]
        for figure in (
            mean,
            math.sqrt(math.fsum((one - mean) ** 2 for one in values) / (len(values) - 1)),
            len(values),
        )
    ]
    reference = ttest_ind_from_stats(*summaries, equal_var=False, alternative=alternative)
    found = welch(first, second, alternative)
    assert found.value == pytest.approx(reference.pvalue, rel=1e-5, abs=1e-9)


def test_missing_values_are_counted_and_left_out() -> None:
    found = welch([1.0, None, 2.0, math.nan], [3.0, 5.0])
    assert (found.count, found.unscored_count) == (4, 2)
    assert found.value == welch([1.0, 2.0], [3.0, 5.0]).value
    assert welch([1.0, 2.0], [3.0, 5.0], "greater").value == pytest.approx(1 - found.value / 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [([], [1.0, 2.0]), ([1.0], [1.0, 2.0]), ([2.0, 2.0], [3.0, 3.0]), ([None], [None])],
)
def test_a_test_that_cannot_be_made_is_undefined_with_a_reason(
    first: list[float | None], second: list[float | None]
) -> None:
    assert welch(first, second).undefined_reason


def test_a_group_of_equal_values_has_no_spread_and_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = welch([0.1] * 3, [0.2, 0.3, 0.4])
    # t = 0.2 / (0.1 / sqrt(3)) with two degrees of freedom.
    assert found.value == pytest.approx(1 - math.sqrt(12 / (12 + 2)))
