"""RINoBench's metrics against the released predictions and scores of seven models, as far as labels
that are not released allow.
"""

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.stats import entropy

from tasks.metrics.classification import label_collapse, mean_absolute_error
from tasks.metrics.labelled import pair_up
from tasks.metrics.novelty import (
    Aspects,
    Justification,
    additional_ratio,
    hallucination_rate,
    justification_metrics,
    recall,
    score_metrics,
)

RELEASE = Path(__file__).parents[4] / "shared" / "data" / "rinobench"
needs_release = pytest.mark.skipif(
    not RELEASE.is_dir(),
    reason="the released predictions of RINoBench are not beside this checkout",
)
GOLD_COUNTS = {1: 15, 2: 60, 3: 87, 4: 81, 5: 34}
"""RINoBench, Table 2, column "#test"."""
TABLE_3 = {
    "Llama-3.1-8B-Instruct": "14.6 0.0 0.0 26.2 41.3 5.4 1.00 0.58 85.5 75.3 62.8 111.6 4.2 3.4",
    "Llama-3.3-70B-Instruct": "9.5 0.0 0.0 2.2 45.0 0.0 1.04 0.55 88.9 78.3 86.3 115.3 1.1 1.4",
    "Llama-4-Scout-17B-16E-Instruct": (
        "13.0 0.0 0.0 17.1 42.7 5.1 1.01 0.58 89.8 81.9 89.0 120.3 0.0 1.1"
    ),
    "gpt-oss-120b": "14.6 0.0 3.0 30.1 40.7 0.0 0.96 0.64 88.1 77.8 79.0 92.4 0.9 0.5",
    "DeepSeek-R1": "12.3 0.0 0.0 16.1 45.6 0.0 0.99 0.67 87.8 81.1 115.7 112.4 0.6 0.2",
    "o3-2025-04-16": "16.2 0.0 5.6 35.6 39.7 0.0 0.93 0.72 90.4 85.6 139.9 74.0 1.3 1.7",
    "gpt-5-2025-08-07": "17.2 0.0 16.7 32.2 37.3 0.0 0.93 0.71 89.9 85.7 122.1 91.8 0.6 0.5",
}
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


def predictions(model: str) -> list[int]:
    return [
        int(row["novelty_score"])
        for row in json.loads((RELEASE / f"novelty_predictions-{model}.json").read_bytes())
    ]


def scores(model: str) -> dict:
    return json.loads((RELEASE / f"novelty_pred_evaluation-{model}.json").read_bytes())


def in_table_order(released: dict) -> list[float]:
    f1 = [100 * released["f1_scores"][name] for name in ("macro", "1", "2", "3", "4", "5")]
    return [
        *f1,
        released["mean_absolute_error"],
        released["mean_alignment"],
        *(100 * released[name] for name in ASPECT_METRICS),
    ]


def possible_gold(model: str) -> np.ndarray:
    """A table of gold by predicted scores with all that is published: both margins, the hits of
    each class, the sum of errors.
    """
    said, released = Counter(predictions(model)), scores(model)
    gold, given = np.array(list(GOLD_COUNTS.values())), np.array([said[k] for k in GOLD_COUNTS])
    hits = np.array([released["f1_scores"][str(k)] for k in GOLD_COUNTS]) * (gold + given) / 2
    assert hits == pytest.approx(np.round(hits), abs=1e-9), (
        "an F1 that no whole number of hits gives"
    )
    distances = np.abs(np.arange(5)[:, None] - np.arange(5)[None, :]).ravel()
    rows, columns = np.kron(np.eye(5), np.ones(5)), np.kron(np.ones(5), np.eye(5))
    equations = np.vstack([rows, columns, np.eye(25)[::6], distances])
    values = np.concatenate(
        [gold, given, np.round(hits), [round(released["mean_absolute_error"] * 277)]]
    )
    found = milp(
        np.zeros(25),
        integrality=np.ones(25),
        bounds=Bounds(0, 277),
        constraints=LinearConstraint(equations, values, values),
    )
    assert found.success, f"no gold labels give the published scores of {model}"
    return np.round(found.x).astype(int).reshape(5, 5)


@needs_release
@pytest.mark.parametrize("model", TABLE_3)
def test_rinobench_table_3_f1_and_mae_of_released_predictions_beside_gold_labels_that_fit(
    model: str,
) -> None:
    """The gold labels are not released, so which item has which is unknown; F1 and MAE do not
    depend on it, given the table's counts.
    """
    table = possible_gold(model)
    cells = [
        (gold, said) for gold in range(5) for said in range(5) for _ in range(table[gold, said])
    ]
    found = score_metrics(
        {str(i): gold + 1 for i, (gold, _) in enumerate(cells)},
        {str(i): said + 1 for i, (_, said) in enumerate(cells)},
    )
    released = scores(model)
    assert found["macro_f1"].value == pytest.approx(released["f1_scores"]["macro"], abs=1e-12)
    assert [found[f"f1_{k}"].value for k in GOLD_COUNTS] == pytest.approx(
        [released["f1_scores"][str(k)] for k in GOLD_COUNTS], abs=1e-12
    )
    assert found["mean_absolute_error"].value == pytest.approx(
        released["mean_absolute_error"], abs=1e-12
    )


@needs_release
def test_rinobench_table_3_differs_from_its_release_in_four_places() -> None:
    found = []
    for model, line in TABLE_3.items():
        for place, (printed, released) in enumerate(
            zip(line.split(), in_table_order(scores(model)), strict=True)
        ):
            half = 0.5 * 10 ** -len(printed.split(".")[1]) + 1e-9
            if abs(float(printed) - released) > half:
                found.append((model.split("-Instruct")[0], place, printed, round(released, 2)))
    assert found == [
        ("Llama-3.1-8B", 8, "85.5", 85.59),
        ("Llama-3.3-70B", 9, "78.3", 78.4),
        ("gpt-oss-120b", 0, "14.6", 14.76),
        ("gpt-oss-120b", 9, "77.8", 77.86),
    ]


@needs_release
@pytest.mark.parametrize("model", TABLE_3)
def test_released_predictions_have_collapsed_to_three_and_four(model: str) -> None:
    said = predictions(model)
    gold = [label for label, count in GOLD_COUNTS.items() for _ in range(count)]
    found = label_collapse(
        pair_up(
            {str(i): label for i, label in enumerate(gold)},
            {str(i): label for i, label in enumerate(said)},
        ),
        (1, 2, 3, 4, 5),
    )
    assert found.predicted_shares.index(max(found.predicted_shares)) == 3
    assert found.labels_in_use_ratio.value < 2 / 3
    assert found.gold_entropy_bits.value == pytest.approx(
        entropy(list(GOLD_COUNTS.values()), base=2)
    )
    assert found.predicted_entropy_bits.value < found.gold_entropy_bits.value


def test_a_constant_three_has_a_lower_error_than_every_model_of_table_3() -> None:
    """(15 · 2 + 60 + 81 + 34 · 2) / 277 from Table 2's test counts."""
    gold = {f"{label}-{i}": label for label, count in GOLD_COUNTS.items() for i in range(count)}
    found = mean_absolute_error(pair_up(gold, dict.fromkeys(gold, 3)))
    assert found.value == pytest.approx(239 / 277)
    assert found.value < min(float(line.split()[6]) for line in TABLE_3.values())


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
