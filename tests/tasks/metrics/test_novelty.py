"""RINoBench's metrics by hand."""

import math

import pytest

from tasks.metrics.classification import mean_absolute_error
from tasks.metrics.labels import pair_up
from tasks.metrics.novelty import (
    Aspects,
    Justification,
    additional_ratio,
    hallucination_rate,
    justification_metrics,
    recall,
    score_metrics,
)

GOLD_COUNTS = {1: 15, 2: 60, 3: 87, 4: 81, 5: 34}
"""RINoBench, Table 2, column "#test"."""
ASPECT_METRICS = [
    f"mean_{name}"
    for name in (
        "known_aspects_recall",
        "novelty_aspects_recall",
        "additional_known_aspects_ratio",
        "additional_novelty_aspects_ratio",
        "known_aspects_hallucination_rate",
        "novelty_aspects_hallucination_rate",
    )
]


def test_a_constant_three_has_a_lower_error_than_every_model_of_table_3() -> None:
    """(15 · 2 + 60 + 81 + 34 · 2) / 277 from Table 2's test counts."""
    gold = {f"{label}-{i}": label for label, count in GOLD_COUNTS.items() for i in range(count)}
    found = mean_absolute_error(pair_up(gold, dict.fromkeys(gold, 3)))
    assert found.value == pytest.approx(239 / 277)
    assert found.value < 0.93, "the best of the seven models of Table 3"


def test_equations_1_to_3_by_hand() -> None:
    aspects = Aspects(gold=4, generated=6, supported=3, additional=2, hallucinated=1)
    assert (recall(aspects), additional_ratio(aspects), hallucination_rate(aspects)) == (
        0.75,
        0.5,
        pytest.approx(1 / 6),
    )
    assert recall(Aspects(2, 5, 5, 0, 0)) == 1.0


def test_the_zeros_of_the_paper_count_and_what_is_not_judged_is_unscored() -> None:
    nothing, full = Aspects(0, 0, 0, 0, 0), Aspects(2, 2, 1, 1, 1)
    judged = [
        Justification(0.5, nothing, full),
        Justification(0.7, full, full),
        Justification(None, None, None),
    ]
    found = justification_metrics(judged)
    recalled = found["known_aspects_recall"]
    assert (recalled.value, recalled.unscored_count) == (0.25, 1)
    assert found["alignment"].value == pytest.approx(0.6)
    assert {name.replace("mean_", "") for name in ASPECT_METRICS} | {"alignment"} == set(found)


def test_nothing_judged_is_undefined() -> None:
    for found in (
        *justification_metrics([]).values(),
        *justification_metrics([Justification(None, None, None)]).values(),
    ):
        assert math.isnan(found.value)
        assert found.undefined_reason


def test_arguments_that_do_not_add_up_and_scores_off_the_scale_are_refused() -> None:
    with pytest.raises(ValueError, match="do not add up"):
        Aspects(gold=1, generated=1, supported=2, additional=0, hallucinated=0)
    with pytest.raises(ValueError, match="from 1 to 5"):
        score_metrics({"a": 0}, {"a": 3})
