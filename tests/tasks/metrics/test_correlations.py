"""Rank correlations against worked examples."""

import math

import pytest

from tasks.metrics.rankings import kendall, spearman

TUNA = (
    [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1],
    [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8],
)
"""Hollander & Wolfe, Nonparametric Statistical Methods, 1973, p. 185; the example of R's
`cor.test`: tau = 0.4444, rho = 0.6.
"""
TELEVISION = [106, 100, 86, 101, 99, 103, 97, 113, 112, 110], [7, 27, 2, 50, 28, 29, 20, 12, 6, 17]


def test_kendall_of_hollander_and_wolfe() -> None:
    assert kendall(*TUNA).value == pytest.approx(4 / 9)


def test_spearman_of_hollander_and_wolfe() -> None:
    assert spearman(*TUNA).value == pytest.approx(0.6)


def test_spearman_without_ties_is_one_minus_six_sum_of_squares() -> None:
    found = spearman([float(one) for one in TELEVISION[0]], [float(one) for one in TELEVISION[1]])
    assert found.value == pytest.approx(-29 / 165)
    assert found.interval.lower < -29 / 165 < found.interval.upper


def test_bonett_and_wright_interval_by_hand() -> None:
    found = spearman(*TUNA)
    reach = 1.959964 * math.sqrt((1 + 0.36 / 2) / 6)
    assert found.interval.lower == pytest.approx(math.tanh(math.atanh(0.6) - reach), abs=1e-9)


def test_missing_items_are_unscored_and_change_nothing_else() -> None:
    found = kendall([*TUNA[0], None, 3.0], [*TUNA[1], 1.0, math.nan])
    assert (found.value, found.count, found.unscored_count) == (pytest.approx(4 / 9), 9, 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [([], []), ([1.0], [2.0]), ([1.0, 1.0], [1.0, 2.0]), ([None, 1.0], [1.0, None])],
)
def test_no_correlation_is_undefined_with_a_reason(first, second) -> None:
    for correlation in (spearman, kendall):
        found = correlation(first, second)
        assert math.isnan(found.value)
        assert found.undefined_reason


def test_complete_agreement_has_a_value_and_says_why_it_has_no_interval() -> None:
    found = spearman([1.0, 2.0, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0, 6.0])
    assert found.value == 1.0
    assert found.interval.missing_reason
