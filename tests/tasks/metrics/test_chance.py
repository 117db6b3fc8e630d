"""Answers that look at nothing: what they reach is what a judge has to beat."""

from functools import partial

import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import f1_score

from tasks.metrics.agreement import gwet_ac1, krippendorff_alpha
from tasks.metrics.chance import (
    CONSTANT,
    MAJORITY,
    fixed_answers,
    fixed_orders,
    fixed_ratings,
    random_order,
    random_ratings,
    stratified_random,
)
from tasks.metrics.classification import accuracy_value, macro_f1, macro_f1_value
from tasks.metrics.labels import pair_up
from tasks.metrics.rankings import Group, best_of_group, exact_ranking

GOLD = {f"{label}-{place}": label for label in (1, 2, 3) for place in range(20 * label)}


def test_random_labels_reach_what_scikit_learns_dummy_does() -> None:
    labels = list(GOLD.values())
    dummies = [
        DummyClassifier(strategy="stratified", random_state=seed)
        .fit(labels, labels)
        .predict(labels)
        for seed in range(300)
    ]
    expected = sum(f1_score(labels, one, average="macro") for one in dummies) / len(dummies)
    found = stratified_random(GOLD, partial(macro_f1_value, classes=(1, 2, 3)), seed=1)
    assert found.value == pytest.approx(expected, abs=0.01)
    assert found.interval.method == "random draws"
    assert found.interval.lower < found.value < found.interval.upper


def test_the_majority_and_the_constant_are_the_commonest_and_the_middle_label() -> None:
    answers = fixed_answers(GOLD, (1, 2, 3))
    assert set(answers[MAJORITY].values()) == {3}
    assert set(answers[CONSTANT].values()) == {2}
    assert accuracy_value(pair_up(GOLD, answers[MAJORITY])) == 0.5


def test_chance_finds_the_best_of_four_in_a_quarter_of_the_groups() -> None:
    groups = [
        Group(f"{place}", {"a": 0.0, "b": 1.0, "c": 2.0, "d": 3.0}, {}) for place in range(40)
    ]
    assert random_order(groups, best_of_group, seed=1).value == pytest.approx(0.25, abs=0.02)
    assert random_order(groups, exact_ranking, seed=1).value == pytest.approx(1 / 24, abs=0.01)
    fixed = fixed_orders(groups)
    assert best_of_group(fixed[MAJORITY]).value == 1.0, "the last identifier is always the best"
    assert best_of_group(fixed[CONSTANT]).value == 0.0


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


def test_without_labels_there_is_no_chance_level() -> None:
    found = stratified_random({"a": None}, accuracy_value, seed=1)
    assert found.undefined_reason == "there is no item with a label"


RATINGS = [[1, 1], [2, 2], [3, None], [1, 2], [3, 3], [1, 1]] * 5


def test_ratings_drawn_by_their_share_agree_by_chance_alone() -> None:
    alpha = partial(krippendorff_alpha, scale="interval", resamples=1)
    found = random_ratings(RATINGS, alpha, 7)
    assert found.value == pytest.approx(0, abs=0.05)
    assert found.value < krippendorff_alpha(RATINGS, "interval").value
    assert found == random_ratings(RATINGS, alpha, 7)
    assert not random_ratings([[None, None]], alpha, 7).defined


def test_raters_who_say_the_same_of_everything_agree_wholly_and_lack_where_others_did() -> None:
    fixed = fixed_ratings(RATINGS, [1, 2, 3])
    assert {system: rows[2] for system, rows in fixed.items()} == {
        "always majority": [1, None],
        "constant": [2, None],
    }
    for rows in fixed.values():
        assert gwet_ac1(rows, [1, 2, 3]).value == pytest.approx(1)
        assert not krippendorff_alpha(rows, "interval", [1, 2, 3]).defined
