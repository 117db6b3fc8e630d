"""Metrics of labels against scikit-learn, labels that are missing, and answers that look at nothing."""

import json
import math
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score
from sklearn.metrics import mean_absolute_error as reference_error

from tasks.metrics.agreement import gwet_ac1, krippendorff_alpha
from tasks.metrics.chance import (
    CONSTANT,
    MAJORITY,
    fixed_answers,
    fixed_ratings,
    random_ratings,
    stratified_random,
)
from tasks.metrics.classification import (
    accuracy,
    accuracy_value,
    f1_of_class,
    label_collapse,
    macro_f1,
    macro_f1_value,
    mean_absolute_error,
    mean_absolute_error_value,
)
from tasks.metrics.differences import metric_difference
from tasks.metrics.labels import LabelPairs, decision_of, merge_decision, pair_up

POINTS = Path(__file__).parents[4] / "shared" / "data" / "innoeval_points.jsonl"
GOLD = {f"{label}-{place}": label for label in (1, 2, 3) for place in range(20 * label)}


def of(pairs: list[tuple[int, int]]) -> LabelPairs:
    gold, said = ({f"{i:03}": pair[side] for i, pair in enumerate(pairs)} for side in (0, 1))
    return pair_up(gold, said)


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=25))
def test_as_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    gold, said = [one for one, _ in pairs], [other for _, other in pairs]
    assert macro_f1_value(of(pairs)) == pytest.approx(f1_score(gold, said, average="macro"))
    assert mean_absolute_error_value(of(pairs)) == pytest.approx(reference_error(gold, said))
    references = f1_score(gold, said, average=None)
    for label, reference in zip(sorted({*gold, *said}), references, strict=True):
        assert macro_f1_value(of(pairs), (label,)) == pytest.approx(reference)


def test_estimates_have_the_values_and_a_class_that_nowhere_occurs_has_no_f1() -> None:
    found = of([(1, 2), (2, 2)])
    assert macro_f1(found, (1, 2, 5)).value == macro_f1_value(found) == pytest.approx(1 / 3)
    assert accuracy(found).value == accuracy_value(found) == 0.5
    assert mean_absolute_error(found).value == mean_absolute_error_value(found) == 0.5
    assert f1_of_class(found, 1).value == 0.0
    reason = "class 5 is neither in the gold labels nor among the predictions"
    assert f1_of_class(found, 5).undefined_reason == reason
    with pytest.raises(ValueError, match="needs numbers"):
        mean_absolute_error(pair_up({"a": "reject"}, {"a": "oral"}))


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
        *label_collapse(found, (1, 2)).values(),
    ):
        assert math.isnan(estimate.value)
        assert estimate.undefined_reason == reason


def test_a_model_that_says_poster_to_everything_has_collapsed_though_it_is_often_right() -> None:
    gold = {f"p{i}": "poster" if i < 60 else ("reject" if i < 90 else "oral") for i in range(100)}
    classes = ("reject", "poster", "oral")
    poster = pair_up(gold, dict.fromkeys(gold, "poster"))
    collapse = {name: one.value for name, one in label_collapse(poster, classes).items()}
    assert (accuracy(poster).value, macro_f1(poster).value) == (0.6, pytest.approx(0.25))
    assert (collapse["top_label_share"], collapse["predicted_entropy_bits"]) == (1.0, 0.0)
    assert collapse["total_variation"] == pytest.approx(0.4)
    assert collapse["labels_in_use_ratio"] == pytest.approx(1 / 2.455, abs=1e-3)
    swapped = {"poster": "reject", "reject": "poster"}
    mixed = label_collapse(
        pair_up({"a": "poster", "b": "reject"}, {"a": "reject", "b": "poster"}), tuple(swapped)
    )
    assert (mixed["total_variation"].value, mixed["labels_in_use_ratio"].value) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("text", "decision"),
    [("Accept (Oral)", "oral"), ("Reject", "reject"), ("Withdrawn", None), ("reject-oral", None)],
)
def test_decisions_as_files_spell_them(text: str, decision: str | None) -> None:
    assert decision_of(text) == decision


@pytest.mark.skipif(not POINTS.is_file(), reason="InnoEval's points are not beside this checkout")
def test_every_decision_of_innoevals_points_is_understood_and_merged_in_order() -> None:
    lines = POINTS.read_text("utf-8").splitlines()
    found = Counter(decision_of(json.loads(line)["decision"]) for line in lines)
    assert found == {"reject": 98, "poster": 45, "spotlight": 7, "oral": 3}
    decisions = ("reject", "poster", "spotlight", "oral")
    merged = {n: [merge_decision(one, n) for one in decisions] for n in (2, 3, 4)}
    assert merged[2] == ["reject", "accept", "accept", "accept"]
    assert merged[3] == ["reject", "poster", "highlight", "highlight"]
    assert merged[4] == list(decisions)


def system(share_right: float, seed: int, count: int = 120) -> LabelPairs:
    draw = np.random.default_rng(seed)
    gold = {f"{i:03}": int(1 + i % 3) for i in range(count)}
    said = {name: g if draw.random() < share_right else 1 + g % 3 for name, g in gold.items()}
    return pair_up(gold, said)


def test_a_better_system_is_told_apart_and_a_system_from_itself_is_not() -> None:
    good, poor = system(0.8, 1), system(0.4, 2)
    found = metric_difference(good, poor, macro_f1_value, resamples=300)
    assert found.value == pytest.approx(macro_f1_value(good) - macro_f1_value(poor))
    assert 0 < found.interval.lower < found.value < found.interval.upper
    assert found.interval.method == "paired bootstrap"
    same = metric_difference(good, good, macro_f1_value, resamples=50)
    assert (same.value, same.interval.lower, same.interval.upper) == (0.0, 0.0, 0.0)


def test_items_that_one_system_did_not_answer_are_unscored_and_other_labels_refused() -> None:
    gold = {"a": 1, "b": 2, "c": 2, "d": 1}
    first, second = pair_up(gold, {"a": 1, "b": 2, "c": 1}), pair_up(gold, {"a": 1, "b": 1})
    found = metric_difference(first, second, macro_f1_value, resamples=20)
    assert (found.count, found.unscored_count) == (2, 2)
    apart = metric_difference(of([(1, 1)]), pair_up({"b": 1}, {"b": 1}), macro_f1_value)
    assert (apart.undefined_reason, apart.unscored_count) == ("no item was answered by both", 2)
    with pytest.raises(ValueError, match="different gold labels"):
        metric_difference(of([(1, 1)]), of([(2, 1)]), macro_f1_value)


def test_an_f1_over_clusters_draws_them_whole() -> None:
    gold = {f"{place:02}": place % 2 for place in range(40)}
    said = {name: label if int(name) < 20 else 1 - label for name, label in gold.items()}
    clusters = {name: f"{int(name) // 20}" for name in gold}
    alone, clustered = (
        macro_f1(pair_up(gold, said, named), (0, 1)).interval for named in (None, clusters)
    )
    assert (alone.method, clustered.method) == ("bootstrap", "clustered bootstrap")
    assert (clustered.lower, clustered.upper) == (0.0, 1.0), "either half may be all there is"
    assert alone.upper - alone.lower < 0.5


# Answers that look at nothing: what they reach is what a judge has to beat.


def test_random_labels_reach_what_scikit_learns_dummy_does() -> None:
    labels = list(GOLD.values())
    dummies = [
        DummyClassifier(strategy="stratified", random_state=seed)
        .fit(labels, labels)
        .predict(labels)
        for seed in range(150)
    ]
    expected = sum(f1_score(labels, one, average="macro") for one in dummies) / len(dummies)
    found = stratified_random(GOLD, partial(macro_f1_value, classes=(1, 2, 3)), seed=1)
    assert found.value == pytest.approx(expected, abs=0.015)
    assert found.interval.method == "random draws"
    assert found.interval.lower < found.value < found.interval.upper
    nothing = stratified_random({"a": None}, accuracy_value, seed=1)
    assert nothing.undefined_reason == "there is no item with a label"


def test_the_majority_and_the_constant_are_the_commonest_and_the_middle_label() -> None:
    answers = fixed_answers(GOLD, (1, 2, 3))
    assert set(answers[MAJORITY].values()) == {3}
    assert set(answers[CONSTANT].values()) == {2}


def test_ratings_drawn_by_their_share_agree_by_chance_and_constant_ones_wholly() -> None:
    ratings = [[1, 1], [2, 2], [3, None], [1, 2], [3, 3], [1, 1]] * 5
    alpha = partial(krippendorff_alpha, scale="interval", resamples=1)
    found = random_ratings(ratings, alpha, 7)
    assert found.value == pytest.approx(0, abs=0.05)
    assert found.value < krippendorff_alpha(ratings, "interval").value
    assert not random_ratings([[None, None]], alpha, 7).defined
    fixed = fixed_ratings(ratings, [1, 2, 3])
    assert {name: rows[2] for name, rows in fixed.items()} == {
        MAJORITY: [1, None],
        CONSTANT: [2, None],
    }
    for rows in fixed.values():
        assert gwet_ac1(rows, [1, 2, 3]).value == pytest.approx(1)
        assert not krippendorff_alpha(rows, "interval", [1, 2, 3]).defined
