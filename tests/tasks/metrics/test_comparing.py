"""Two systems on the same items."""

import math

import numpy as np
import pytest

from tasks.metrics.classification import macro_f1, macro_f1_value
from tasks.metrics.differences import metric_difference
from tasks.metrics.labels import LabelPairs, pair_up


def system(share_right: float, seed: int, count: int = 120) -> LabelPairs:
    generator = np.random.default_rng(seed)
    gold = {f"{i:03}": int(1 + i % 3) for i in range(count)}
    return pair_up(
        gold,
        {
            name: label if generator.random() < share_right else 1 + label % 3
            for name, label in gold.items()
        },
    )


def test_a_better_system_is_told_apart_and_a_system_from_itself_is_not() -> None:
    good, poor = system(0.8, 1), system(0.4, 2)
    found = metric_difference(good, poor, macro_f1_value, resamples=300)
    assert found.value == pytest.approx(macro_f1(good).value - macro_f1(poor).value)
    assert 0 < found.interval.lower < found.value < found.interval.upper
    assert found.interval.method == "paired bootstrap"
    same = metric_difference(good, good, macro_f1_value, resamples=50)
    assert (same.value, same.interval.lower, same.interval.upper) == (0.0, 0.0, 0.0)


def test_items_that_one_system_did_not_answer_are_unscored() -> None:
    gold = {"a": 1, "b": 2, "c": 2, "d": 1}
    found = metric_difference(
        pair_up(gold, {"a": 1, "b": 2, "c": 1}),
        pair_up(gold, {"a": 1, "b": 1, "d": None}),
        macro_f1_value,
        resamples=20,
    )
    assert (found.count, found.unscored_count) == (2, 2)


def test_nothing_in_common_is_undefined_and_other_gold_labels_are_refused() -> None:
    found = metric_difference(
        pair_up({"a": 1}, {"a": 1}), pair_up({"b": 1}, {"b": 1}), macro_f1_value
    )
    assert math.isnan(found.value)
    assert (found.undefined_reason, found.unscored_count) == ("no item was answered by both", 2)
    with pytest.raises(ValueError, match="different gold labels"):
        metric_difference(pair_up({"a": 1}, {"a": 1}), pair_up({"a": 2}, {"a": 1}), macro_f1_value)
