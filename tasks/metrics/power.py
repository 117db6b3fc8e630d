"""How many runs or test items a comparison needs, before it is made."""

import math

from tasks.metrics.estimate import LEVEL

POWER = 0.8
"""A difference that is there is seen four times of five."""


def pairs_needed(deviations: float, compared_with: int) -> int:
    """Paired runs that show a mean difference of so many standard deviations of one pair's
    difference, by a two-sided t-test corrected for `compared_with` comparisons (Bonferroni);
    `statsmodels`.
    """
    from statsmodels.stats.power import TTestPower  # takes a second

    alpha = (1 - LEVEL) / compared_with
    count = TTestPower().solve_power(effect_size=deviations, alpha=alpha, power=POWER)
    return math.ceil(float(count))


def items_needed(share: float, difference: float, compared_with: int) -> int:
    """Test items of which each system needs so many to show that its share of right answers is
    `share + difference` and not `share`, as if each had items of its own: on the same items fewer
    will do. Arcsine-transformed shares; `statsmodels`.
    """
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize

    alpha = (1 - LEVEL) / compared_with
    size = proportion_effectsize(share + difference, share)
    return math.ceil(float(NormalIndPower().solve_power(size, alpha=alpha, power=POWER)))
