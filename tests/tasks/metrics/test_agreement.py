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
COUPLES = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
"""Hout, Duncan & Sobel 1987, husbands and wives; Agresti 1990, Table 2.10; data set `SexualFun` of
R's vcd.
"""


def units(table: dict[tuple[str, str], int]) -> list[tuple[str, str]]:
    return [pair for pair, count in table.items() for _ in range(count)]


def couples() -> tuple[list[int], list[int]]:
    listed = [(i, j) for i in range(4) for j in range(4) for _ in range(COUPLES[i][j])]
    return [one for one, _ in listed], [other for _, other in listed]


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


@pytest.mark.parametrize(
    ("weights", "value", "standard_error"), [("none", 0.1293, 0.06860), ("linear", 0.2374, 0.07832)]
)
def test_kappa_of_husbands_and_wives_as_in_vcd(
    weights, value: float, standard_error: float
) -> None:
    found = cohen_kappa(*couples(), weights=weights)
    assert (found.value, error(found)) == (
        pytest.approx(value, abs=5e-5),
        pytest.approx(standard_error, abs=5e-6),
    )


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=40),
    st.sampled_from(["none", "linear", "quadratic"]),
)
def test_kappa_as_scikit_learn(pairs: list[tuple[int, int]], weights) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found = cohen_kappa(first, second, weights, categories=(1, 2, 3, 4))
    if len({*first, *second}) < 2:
        assert found.undefined_reason
    else:
        reference = cohen_kappa_score(
            first, second, labels=[1, 2, 3, 4], weights=None if weights == "none" else weights
        )
        assert found.value == pytest.approx(reference, abs=1e-9)


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


@pytest.mark.parametrize(("agreeing", "printed"), [(12, 0.4476), (13, 0.1667), (11, 0.3883)])
def test_no_row_of_scholareval_table_7_is_the_ac1_of_18_pairs(
    agreeing: int, printed: float
) -> None:
    """Evidence, actionability, depth: whatever share of the 36 labels (A, B, tie; or A, B) each
    category had, AC1 is another.
    """
    shares = [(a / 36, b / 36, (36 - a - b) / 36) for a in range(37) for b in range(37 - a)]
    three = {sum(one * (1 - one) for one in share) / 2 for share in shares}
    two = {2 * share[0] * (1 - share[0]) for share in shares if share[2] == 0}
    possible = [(agreeing / 18 - chance) / (1 - chance) for chance in three | two]
    assert min(abs(value - printed) for value in possible) > 0.001


def test_the_chance_agreement_searched_above_is_that_of_ac1() -> None:
    rows = [("A", "A")] * 10 + [("A", "B")] * 6 + [("tie", "tie")] * 2
    chance = sum(one * (1 - one) for one in (26 / 36, 6 / 36, 4 / 36)) / 2
    assert gwet_ac1(rows).value == pytest.approx((12 / 18 - chance) / (1 - chance))


@pytest.mark.parametrize(
    ("scale", "value"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
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
    return krippendorff_alpha(rows, "ordinal", resamples=10)


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
