"""Dead links, and which report a judge prefers in both orders."""

import math

import pytest

from tasks.metrics.reviews import (
    LinkAnswer,
    Preference,
    is_invalid,
    reference_invalidity,
    win_rates,
)


@pytest.mark.parametrize(
    ("status", "invalid"),
    [
        (200, False),
        (301, False),
        (400, False),
        (403, False),
        (404, True),
        (410, True),
        (429, False),
        (499, False),
        (500, True),
        (599, True),
    ],
)
def test_statuses_of_scholareval_e2(status: int, invalid: bool) -> None:
    assert is_invalid(status) is invalid


def test_a_link_without_an_answer_is_between_the_bounds() -> None:
    links = [
        LinkAnswer("u", 404),
        LinkAnswer("v", 200),
        LinkAnswer("w", None, "timeout"),
        LinkAnswer("x", 403),
    ]
    found = reference_invalidity(links)
    assert (found.lower_bound.value, found.of_answered.value, found.upper_bound.value) == (
        0.25,
        pytest.approx(1 / 3),
        0.5,
    )
    assert (found.of_answered.count, found.of_answered.unscored_count) == (3, 1)


def test_a_review_without_links_has_no_rate() -> None:
    found = reference_invalidity([])
    assert all(
        math.isnan(one.value) and one.undefined_reason
        for one in (found.lower_bound, found.of_answered, found.upper_bound)
    )
    assert reference_invalidity([LinkAnswer("u", None, "refused")]).of_answered.undefined_reason


def test_a_win_must_survive_the_swap() -> None:
    answers = [
        ("A", "B"),
        ("A", "A"),
        ("B", "B"),
        ("B", "A"),
        ("tie", "tie"),
        ("A", "tie"),
        ("A", None),
        (None, None),
    ]
    found = win_rates(
        [Preference(str(i), "depth", first, second) for i, (first, second) in enumerate(answers)]
    )
    assert (found.win.value, found.loss.value, found.tie.value) == (
        pytest.approx(1 / 6),
        pytest.approx(1 / 6),
        pytest.approx(4 / 6),
    )
    assert (found.win.count, found.win.unscored_count) == (6, 2)
    assert (found.win_of_decided.value, found.win_of_decided.count) == (0.5, 2)
    assert found.consistency.value == 0.5
    assert found.first_shown.value == pytest.approx(6 / 10)


def test_a_judge_that_always_takes_the_first_decides_nothing() -> None:
    found = win_rates([Preference(str(i), "evidence", "A", "A") for i in range(5)])
    assert (found.tie.value, found.first_shown.value, found.consistency.value) == (1.0, 1.0, 0.0)
    assert found.win_of_decided.undefined_reason
    assert win_rates([]).win.undefined_reason
