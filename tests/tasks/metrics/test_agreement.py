"""Agreement coefficients against the examples of the books and packages that define them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from tasks.metrics.agreement import cohen_kappa, gwet_ac1, krippendorff_alpha

ABSTRACTORS = {
    ("ectopic", "ectopic"): 13,
    ("aiu", "aiu"): 20,
    ("aiu", "niu"): 7,
    ("niu", "aiu"): 4,
    ("niu", "niu"): 56,
}
"""Gwet, Handbook of Inter-Rater Reliability; data set `cont3x3abstractors` of R's irrCAC."""
FOUR_RATERS: list[tuple[int | None, ...]] = [
    (1, 1, None, 1), (2, 2, 3, 2), (3, 3, 3, 3), (3, 3, 3, 3), (2, 2, 2, 2), (1, 2, 3, 4),
    (4, 4, 4, 4), (1, 1, 2, 1), (2, 2, 2, 2), (None, 5, 5, 5), (None, None, 1, 1), (None, None, 3, None),
]  # fmt: skip
"""Krippendorff, Computing Krippendorff's alpha-reliability, 2011, section D; data set
`cac.raw4raters` of irrCAC.
"""


def units(table: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [pair for pair, count in table.items() for _ in range(count)]


def error(estimate, quantile: float = 1.959964) -> float:
    return (estimate.interval.upper - estimate.interval.lower) / 2 / quantile


def test_kappa_of_irrcac_cont3x3abstractors() -> None:
    first, second = zip(*units(ABSTRACTORS), strict=True)
    found = cohen_kappa(first, second)
    assert found.value == pytest.approx(0.7964094, abs=5e-8)
    assert error(found) == pytest.approx(0.0589, abs=5e-5)


def test_votes_of_one_person_are_no_independent_evidence() -> None:
    first, second = zip(*units(ABSTRACTORS), strict=True)
    once, places = cohen_kappa(first, second), range(len(first))
    apart = cohen_kappa(first, second, clusters=places)
    again = cohen_kappa(first * 5, second * 5, clusters=[*places] * 5)
    assert error(again) == pytest.approx(error(apart)) == pytest.approx(error(once), rel=0.1)
    assert again.value == pytest.approx(once.value)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=40))
def test_kappa_as_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found = cohen_kappa(first, second)
    if len({*first, *second}) < 2:
        assert found.undefined_reason
    else:
        assert found.value == pytest.approx(cohen_kappa_score(first, second), abs=1e-9)


def test_ac1_of_irrcac_cont3x3abstractors() -> None:
    assert gwet_ac1(units(ABSTRACTORS)).value == pytest.approx(0.8493305, abs=5e-8)


def test_ac1_of_irrcac_raw4raters_with_missing_ratings() -> None:
    """Coefficient 0.77544, standard error 0.14295 (irrCAC, `gwet.ac1.raw`)."""
    found = gwet_ac1(FOUR_RATERS)
    assert found.value == pytest.approx(0.77544, abs=5e-6)
    assert (found.value - found.interval.lower) / 2.20098516 == pytest.approx(0.14295, abs=5e-6)
    assert found.interval.upper == 1.0


def test_ac1_stays_high_where_one_category_has_nearly_all_while_kappa_falls_below_zero() -> None:
    rows = [("yes", "yes")] * 118 + [("yes", "no")] * 5 + [("no", "yes")] * 2
    first, second = zip(*rows, strict=True)
    assert cohen_kappa(first, second).value < 0
    assert gwet_ac1(rows).value == pytest.approx(0.9407, abs=1e-3)


@pytest.mark.parametrize(("scale", "value"), [("nominal", 0.743), ("interval", 0.849)])
def test_alpha_of_krippendorff_2011_section_d(scale, value: float) -> None:
    found = krippendorff_alpha(FOUR_RATERS, scale)
    assert found.value == pytest.approx(value, abs=5e-4)
    assert (found.count, found.unscored_count) == (11, 1)
    assert found.interval.lower < found.value < found.interval.upper


def test_nominal_alpha_of_two_raters_is_scotts_pi_corrected_for_small_samples() -> None:
    """Krippendorff 2004: alpha = 1 - (1 - pi)(2n - 1) / 2n; Scott's pi of the abstractors is
    0.7962397 (irrCAC).
    """
    rows = units(ABSTRACTORS)
    assert krippendorff_alpha(rows, "nominal").value == pytest.approx(
        1 - (1 - 0.7962397) * (199 / 200), abs=1e-7
    )


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=2, max_size=20),
    st.integers(0, 100),
)
def test_order_of_units_and_names_of_categories_change_nothing(
    pairs: list[tuple[int, int]], seed: int
) -> None:
    shuffled = [pairs[i] for i in np.random.default_rng(seed).permutation(len(pairs))]
    renamed = [("xyz"[one - 1], "xyz"[other - 1]) for one, other in shuffled]
    for before, after in ((gwet_ac1(pairs), gwet_ac1(renamed)), (alpha(pairs), alpha(renamed))):
        assert before.undefined_reason == after.undefined_reason
        assert math.isnan(before.value) or before.value == pytest.approx(after.value, abs=1e-12)


def alpha(rows):
    return krippendorff_alpha(rows, "nominal", resamples=10)


def test_what_no_two_raters_saw_is_undefined_with_a_reason() -> None:
    for found in (
        gwet_ac1([(1, None)]),
        alpha([(1, None), (None, 2)]),
        cohen_kappa([1, None], [None, 2]),
        cohen_kappa([], []),
    ):
        assert math.isnan(found.value)
        assert found.undefined_reason


def test_one_category_only_is_undefined_unless_the_possible_ones_are_named() -> None:
    rows = [("yes", "yes")] * 3
    assert gwet_ac1(rows).undefined_reason
    assert gwet_ac1(rows, categories=("yes", "no")).value == 1.0
    assert alpha(rows).undefined_reason
    assert cohen_kappa(["yes"] * 3, ["yes"] * 3).undefined_reason


def test_a_label_outside_the_categories_is_refused() -> None:
    with pytest.raises(ValueError, match="not among the categories"):
        gwet_ac1([("maybe", "yes")], categories=("yes", "no"))
    with pytest.raises(ValueError, match="interval scale needs numbers"):
        krippendorff_alpha([("a", "b")], "interval")
