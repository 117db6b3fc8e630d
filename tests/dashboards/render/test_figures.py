"""Figures are for people, and what is missing is never a zero."""

import pytest

from dashboards.render import figures


def test_what_is_missing_says_so():
    assert figures.score(None) == "unscored"
    assert figures.mean(None) == "unscored"
    assert figures.with_sign(None) == "unscored"
    assert figures.usd(None) == "price unknown"
    assert figures.duration(None) == "unknown"
    assert figures.count(None) == "unknown"
    assert figures.day(None) == "unknown"


def test_scores_strengths_and_moves_have_a_true_minus_and_a_dash_for_what_is_missing():
    assert [figures.decimals(each) for each in (4.8, -1.434, -0.001, None)] == [
        "4.80", "−1.43", "0.00", "–",
    ]  # fmt: skip
    assert figures.between(-1.434, 1.61) == "−1.43 to 1.61"
    assert figures.between(None, 1.61) == "–"
    signed = [(0.001, "0.00"), (-0.004, "0.00"), (0.2, "+0.20"), (-1, "\u22121.00")]
    assert [figures.with_sign(value) for value, _ in signed] == [shown for _, shown in signed]
    measured = [figures.measure(value) for value in (43357.2, 0.65432, -12.0, None)]
    assert measured == ["43,357", "0.6543", "-12", "undefined"]
    assert [figures.rank_change(each) for each in (2, -1, 0, None)] == ["+2", "−1", "+0", "–"]


def test_a_sum_with_unknown_prices_says_what_is_missing():
    assert figures.usd(1.5, 3) == "1.50 USD, and 3 calls of unknown price"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00 USD"),
        (0.00001, "under 0.0001 USD"),
        (0.0123, "0.0123 USD"),
        (1234.5, "1,234.50 USD"),
    ],
)
def test_dollars(value, shown):
    assert figures.usd(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "0.00 s"),
        (0.996, "1.0 s"),
        (9.96, "10 s"),
        (59.7, "1 min"),
        (200, "3 min 20 s"),
        (3599.6, "1 h"),
        (7523, "2 h 5 min"),
    ],
)
def test_durations(seconds, shown):
    assert figures.duration(seconds) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (0, 5, "0 %"),
        (1, 1000, "under 1 %"),
        (999, 1000, "over 99 %"),
        (5, 5, "100 %"),
        (0, 0, "none"),
    ],
)
def test_a_share_never_rounds_to_none_or_all(part, whole, shown):
    assert figures.share(part, whole) == shown
