"""Accuracy, F1 and error against scikit-learn, and what happens to labels that are not there."""

import json
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score
from sklearn.metrics import mean_absolute_error as reference_error

from tasks.metrics.classification import (
    accuracy,
    f1_of_class,
    label_collapse,
    macro_f1,
    mean_absolute_error,
)
from tasks.metrics.labels import LabelPairs, decision_of, merge_decision, pair_up

POINTS = Path(__file__).parents[4] / "shared" / "data" / "innoeval_points.jsonl"
labels = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=25)


def of(pairs: list[tuple[int, int]]) -> LabelPairs:
    return pair_up(
        {f"{i:03}": gold for i, (gold, _) in enumerate(pairs)},
        {f"{i:03}": said for i, (_, said) in enumerate(pairs)},
    )


@given(labels)
def test_as_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    gold, said = [one for one, _ in pairs], [other for _, other in pairs]
    assert macro_f1(of(pairs)).value == pytest.approx(f1_score(gold, said, average="macro"))
    assert mean_absolute_error(of(pairs)).value == pytest.approx(reference_error(gold, said))
    for label, reference in zip(
        sorted({*gold, *said}), f1_score(gold, said, average=None), strict=True
    ):
        assert f1_of_class(of(pairs), label).value == pytest.approx(reference)


def test_a_class_never_predicted_has_an_f1_of_zero_and_one_that_nowhere_occurs_has_none() -> None:
    found = of([(1, 2), (2, 2)])
    assert f1_of_class(found, 1).value == 0.0
    assert (
        f1_of_class(found, 5).undefined_reason
        == "class 5 is neither in the gold labels nor among the predictions"
    )
    assert macro_f1(found, (1, 2, 5)).value == pytest.approx((0 + 2 / 3) / 2)


def test_unanswered_items_and_predictions_without_gold_are_counted_apart() -> None:
    found = pair_up({"a": 1, "b": 2, "c": None, "d": 3}, {"a": 1, "b": None, "c": 2, "z": 5})
    assert (found.ids, found.unanswered, found.without_gold) == (("a",), ("b", "d"), ("c", "z"))
    for estimate in (accuracy(found), macro_f1(found), mean_absolute_error(found)):
        assert (estimate.count, estimate.unscored_count) == (1, 2)


@pytest.mark.parametrize(
    ("gold", "said", "reason"),
    [
        ({}, {}, "there is no item"),
        ({"a": 1, "b": 2}, {}, "none of the 2 items was answered"),
        ({}, {"a": 1}, "none of the 1 predictions has a gold label"),
        ({"a": None}, {"a": 1}, "none of the 1 predictions has a gold label"),
    ],
)
def test_nothing_to_score_is_undefined_and_never_zero(gold, said, reason: str) -> None:
    found = pair_up(gold, said)
    for estimate in (
        accuracy(found),
        macro_f1(found),
        f1_of_class(found, 1),
        mean_absolute_error(found),
    ):
        assert math.isnan(estimate.value)
        assert estimate.undefined_reason == reason
    collapse = label_collapse(found)
    assert collapse.labels_in_use_ratio.undefined_reason
    assert collapse.top_label_share.undefined_reason == reason


def test_words_have_no_distance() -> None:
    with pytest.raises(ValueError, match="needs numbers"):
        mean_absolute_error(pair_up({"a": "reject"}, {"a": "oral"}))


def test_a_model_that_says_poster_to_everything_has_collapsed_though_it_is_often_right() -> None:
    gold = {f"p{i}": "poster" if i < 60 else ("reject" if i < 90 else "oral") for i in range(100)}
    found = pair_up(gold, dict.fromkeys(gold, "poster"))
    collapse = label_collapse(found, ("reject", "poster", "oral"))
    assert accuracy(found).value == 0.6
    assert macro_f1(found).value == pytest.approx(0.25)
    assert (collapse.top_label_share.value, collapse.predicted_entropy_bits.value) == (1.0, 0.0)
    assert collapse.total_variation.value == pytest.approx(0.4)
    assert collapse.labels_in_use_ratio.value == pytest.approx(1 / 2.455, abs=1e-3)


def test_predictions_as_mixed_as_the_gold_labels_have_not_collapsed_however_wrong() -> None:
    gold = {f"p{i}": "reject" if i < 50 else "oral" for i in range(100)}
    found = label_collapse(
        pair_up(
            gold, {name: "oral" if label == "reject" else "reject" for name, label in gold.items()}
        )
    )
    assert found.total_variation.value == 0.0
    assert found.labels_in_use_ratio.value == pytest.approx(1)


def test_one_class_only_is_scored_as_it_is() -> None:
    found = of([(3, 3), (3, 3)])
    assert (accuracy(found).value, macro_f1(found).value, mean_absolute_error(found).value) == (
        1.0,
        1.0,
        0.0,
    )


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("Accept (Oral)", "oral"),
        ("Reject", "reject"),
        ("spotlight", "spotlight"),
        ("Withdrawn", None),
        ("reject-oral", None),
    ],
)
def test_decisions_as_files_spell_them(text: str, decision: str | None) -> None:
    assert decision_of(text) == decision


@pytest.mark.skipif(
    not POINTS.is_file(), reason="the points of InnoEval are not beside this checkout"
)
def test_every_decision_of_innoevals_points_is_understood() -> None:
    found = Counter(
        decision_of(json.loads(line)["decision"]) for line in POINTS.read_text("utf-8").splitlines()
    )
    assert found == {"reject": 98, "poster": 45, "spotlight": 7, "oral": 3}


def test_merged_decisions_keep_their_order() -> None:
    decisions = ("reject", "poster", "spotlight", "oral")
    assert [merge_decision(one, 2) for one in decisions] == ["reject", "accept", "accept", "accept"]
    assert [merge_decision(one, 3) for one in decisions] == [
        "reject",
        "poster",
        "highlight",
        "highlight",
    ]
    assert [merge_decision(one, 4) for one in decisions] == list(decisions)
