"""How many runs a comparison needs: held against tables, and against what simulated runs show."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from tasks.metrics.estimate import POWER, detectable, items_needed, pairs_needed


@pytest.mark.parametrize(("deviations", "pairs"), [(0.5, 34), (0.8, 15), (1.0, 10)])
def test_pairs_are_those_of_cohens_tables(deviations: float, pairs: int) -> None:
    assert pairs_needed(deviations, 1) == pairs


def test_so_many_pairs_show_the_difference_four_times_of_five() -> None:
    comparisons = 6
    count = pairs_needed(1.0, comparisons)
    drawn = np.random.default_rng(0).normal(1.0, 1.0, (4_000, count))
    seen = ttest_1samp(drawn, 0.0, axis=1).pvalue < 0.05 / comparisons
    assert POWER - 0.02 < seen.mean() < POWER + 0.06


@pytest.mark.parametrize(("count", "comparisons"), [(8, 5), (6, 30), (5, 30)])
def test_the_detectable_difference_is_seen_four_times_of_five(count: int, comparisons: int) -> None:
    step = detectable(count, comparisons)
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


def test_more_comparisons_and_smaller_differences_need_more() -> None:
    assert pairs_needed(0.5, 1) < pairs_needed(0.5, 9)
    assert items_needed(0.8, 0.05, 1) < items_needed(0.8, 0.05, 9) < items_needed(0.8, 0.01, 9)
