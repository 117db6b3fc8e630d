"""Welch's test against `scipy` on values, and against the 140 p-values that ScholarEval prints in
Tables 9 to 13.
"""

import math
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from tasks.metrics.comparing import Alternative, Summary, welch, welch_from_summaries
from tests.support.published_coverage import TABLES

ROWS = [(number, table.count, *row) for number, table in TABLES.items() for row in table.rows()]
HALF = 0.0005
"""p-values are printed with three decimals."""
numbers = st.lists(
    st.integers(-1000, 1000).map(lambda number: number / 10), min_size=2, max_size=30
)


def p_values_of_rounded(
    first: Summary,
    second: Summary,
    half_unit: float = 0.005,
    alternative: Alternative = "two-sided",
) -> tuple[float, float]:
    """(smallest, largest) p-value that printed means and deviations allow, each off by up to
    `half_unit` from rounding.

    p depends on the means through their difference, and on each deviation monotonically for a fixed
    sign of t up to the small change of the degrees of freedom; so the corners of the box, and equal
    means where it holds them, bound p.

    Bad input: an undefined test gives (NaN, NaN).
    """
    signs = (-1.0, 1.0)
    found = [
        welch_from_summaries(
            _moved(first, a * half_unit, b * half_unit),
            _moved(second, -a * half_unit, c * half_unit),
            alternative,
        ).p_value
        for a, b, c in product(signs, signs, signs)
    ]
    if abs(first.mean - second.mean) <= 2 * half_unit:
        level = Summary(second.mean, first.deviation, first.count)
        found.append(welch_from_summaries(level, second, alternative).p_value)
    return (
        (math.nan, math.nan)
        if any(math.isnan(value) for value in found)
        else (min(found), max(found))
    )


def _moved(summary: Summary, mean: float, deviation: float) -> Summary:
    return Summary(summary.mean + mean, max(summary.deviation + deviation, 0.0), summary.count)


def agrees(printed: str, lowest: float, highest: float) -> bool:
    return (
        lowest < 0.001
        if printed == "<"
        else lowest <= float(printed) + HALF and highest >= float(printed) - HALF
    )


def test_every_row_of_the_five_tables_is_here() -> None:
    assert len(ROWS) == 140
    assert [TABLES[number].count for number in (10, 11, 12, 13)] == [425, 314, 147, 190]
    assert sum((425, 314, 147, 190)) == TABLES[9].count


@pytest.mark.parametrize(
    ("number", "count", "variant", "baseline", "ours", "theirs", "printed"), ROWS
)
def test_scholareval_tables_9_to_13_row_is_a_one_sided_p_within_rounding(
    number: int,
    count: int,
    variant: str,
    baseline: str,
    ours: tuple[float, float],
    theirs: tuple[float, float],
    printed: str,
) -> None:
    lowest, highest = p_values_of_rounded(
        Summary(*ours, count), Summary(*theirs, count), alternative="greater"
    )
    assert agrees(printed, lowest, highest), (
        f"Table {number}, {variant} against {baseline}: {printed} outside [{lowest}, {highest}]"
    )


def test_the_captions_of_tables_9_to_13_say_two_sided_and_are_wrong_for_65_rows() -> None:
    impossible = [
        row
        for row in ROWS
        if not agrees(
            row[-1],
            *p_values_of_rounded(
                Summary(*row[4], row[1]), Summary(*row[5], row[1]), alternative="two-sided"
            ),
        )
    ]
    assert len(impossible) == 65


def test_table_9_gpt_5_1_against_gpt_4_1_to_the_second_decimal() -> None:
    """Printed 0.578; from the printed means and deviations 0.5778."""
    assert welch_from_summaries(
        Summary(2.17, 1.27, 1076), Summary(2.18, 1.08, 1076), "greater"
    ).p_value == pytest.approx(0.578, abs=5e-4)


off = st.floats(-0.005, 0.005)
printed_figures = st.tuples(
    st.integers(100, 500).map(lambda one: one / 100),
    st.integers(50, 160).map(lambda one: one / 100),
)


@given(
    printed_figures,
    printed_figures,
    st.tuples(off, off, off, off),
    st.sampled_from(["two-sided", "greater", "less"]),
    st.integers(20, 1100),
)
def test_no_figures_that_round_to_the_printed_ones_give_a_p_outside_the_bounds(
    ours, theirs, moves, alternative, count: int
) -> None:
    lowest, highest = p_values_of_rounded(
        Summary(*ours, count), Summary(*theirs, count), alternative=alternative
    )
    exact = welch_from_summaries(
        Summary(ours[0] + moves[0], ours[1] + moves[1], count),
        Summary(theirs[0] + moves[2], theirs[1] + moves[3], count),
        alternative,
    )
    assert lowest - 1e-6 <= exact.p_value <= highest + 1e-6


@given(numbers, numbers)
def test_from_values_as_scipy(first: list[float], second: list[float]) -> None:
    assume(len(set(first)) > 1 or len(set(second)) > 1)
    found, reference = welch(first, second), ttest_ind(first, second, equal_var=False)
    assert found.t == pytest.approx(reference.statistic, rel=1e-6, abs=1e-9)
    assert found.p_value == pytest.approx(reference.pvalue, rel=1e-6, abs=1e-9)
    assert found.degrees_of_freedom == pytest.approx(reference.df, rel=1e-6)


def test_missing_values_are_counted_and_left_out() -> None:
    found = welch([1.0, None, 2.0, math.nan], [3.0, 5.0])
    assert (found.first.count, found.first_unscored, found.second_unscored) == (2, 2, 0)
    assert found.p_value == welch([1.0, 2.0], [3.0, 5.0]).p_value


@pytest.mark.parametrize(
    ("first", "second"),
    [([], [1.0, 2.0]), ([1.0], [1.0, 2.0]), ([2.0, 2.0], [3.0, 3.0]), ([None], [None])],
)
def test_a_test_that_cannot_be_made_is_undefined_with_a_reason(
    first: list[float | None], second: list[float | None]
) -> None:
    found = welch(first, second)
    assert math.isnan(found.p_value)
    assert math.isnan(found.t)
    assert found.undefined_reason


def test_all_69_figures_of_tables_9_to_13_are_the_one_sided_p_of_the_printed_means_to_three_decimals() -> (
    None
):
    """So closely that the authors must have tested the rounded figures; the other 71 rows print
    "much below 0.001".
    """
    printed = [row for row in ROWS if row[-1] != "<"]
    found = [
        welch_from_summaries(Summary(*row[4], row[1]), Summary(*row[5], row[1]), "greater").p_value
        for row in printed
    ]
    assert len(printed) == 69
    assert found == pytest.approx([float(row[-1]) for row in printed], abs=HALF)
