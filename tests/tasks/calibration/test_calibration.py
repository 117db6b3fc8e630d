"""Fitting, refusing, storing and cross-validating calibrators, on made-up labels whose truth is
known.
"""

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.miscmodels.ordinal_model import OrderedModel

from schemas.base import replace
from schemas.errors import ConfigurationError
from schemas.judgement.calibration import Calibrator, DecisionRule
from schemas.judgement.novelty import (
    ClaimedContribution,
    Difference,
    NoveltyEvaluation,
    WorkOverlap,
)
from tasks.calibration.calibrator_files import (
    calibrate,
    load_calibrator,
    refuse_training_items,
    write_fitted,
)
from tasks.calibration.examples import (
    NOVELTY_FEATURES,
    Example,
    LabelScale,
    item_sha256,
    novelty_features,
)
from tasks.calibration.fitting import Prediction, cross_validate, fit_calibrator
from tasks.calibration.gain import (
    CALIBRATED,
    JUDGE,
    Figures,
    expected_calibration_error,
    gain,
    reliability,
)
from tasks.calibration.model import (
    MACRO_F1,
    MEAN_ABSOLUTE_ERROR,
    Decider,
    fit_decider,
    fit_proportional_odds,
    place_of,
    probabilities,
)
from tasks.metrics.chance import CONSTANT, STRATIFIED_RANDOM
from tests.support.committee_evaluations import make_novelty

FIVE = LabelScale(("1", "2", "3", "4", "5"), (1.0, 2.0, 3.0, 4.0, 5.0))


def collapsed_judge(count: int = 200, seed: int = 3) -> list[Example]:
    """Labels follow the evidence, while the judge says 4 of nearly everything."""
    generator = np.random.default_rng(seed)
    found = []
    for number in range(count):
        truth = generator.normal()
        label = 1 + int(
            np.searchsorted([-1.2, -0.4, 0.4, 1.2], truth + generator.normal(scale=0.5))
        )
        said = "3" if generator.random() < 0.2 else "4"
        features = {
            "score_1_to_5": float(said),
            "closeness": -truth + generator.normal(scale=0.3),
            "never_varies": 1.0,
            "never_there": None,
        }
        found.append(Example(item_sha256(f"idea {number}"), str(label), said, features))
    return found


def fitted(examples: list[Example], scale: LabelScale = FIVE, **changes: str):
    return fit_calibrator(
        examples,
        scale,
        **{
            "target": "novelty",
            "engine": "extractive",
            "judged_by": "j:1:0",
            "source": "made up",
            **changes,
        },
    )


@cache
def repaired() -> Figures:
    """What calibration gains with the judge who collapses."""
    return gain(cross_validate(collapsed_judge(), FIVE, seed=7), FIVE)


@cache
def calibrator_of_the_collapsed_judge() -> Calibrator:
    return fitted(collapsed_judge())


def figure(figures: Figures, metric: str, system: str) -> float:
    return figures[metric, system].value


def test_without_penalty_the_model_is_that_of_statsmodels() -> None:
    generator = np.random.default_rng(1)
    features = generator.normal(size=(300, 2))
    latent = features @ np.array([1.0, -0.7]) + generator.logistic(size=300)
    labels = np.searchsorted([-1.0, 0.5, 1.5], latent).astype(np.intp)
    coefficients, thresholds = fit_proportional_odds(features, labels, 4, ridge=0.0)
    theirs = OrderedModel(labels, features, distr="logit").fit(method="bfgs", disp=False)
    assert coefficients == pytest.approx(theirs.params[:2], abs=2e-3)
    chances = probabilities(features, coefficients, thresholds)
    assert chances == pytest.approx(np.asarray(theirs.predict(features)), abs=2e-3)


def test_calibration_repairs_a_judge_who_collapses_to_one_label() -> None:
    figures = repaired()
    assert figure(figures, "mean_absolute_error", JUDGE) > figure(
        figures, "mean_absolute_error", CONSTANT
    )
    assert figure(figures, "mean_absolute_error", CALIBRATED) < figure(
        figures, "mean_absolute_error", CONSTANT
    )
    assert figure(figures, "macro_f1", CALIBRATED) > figure(figures, "macro_f1", JUDGE)
    assert figure(figures, "log_loss", CALIBRATED) < figure(figures, "log_loss", CONSTANT)
    assert math.isnan(figure(figures, "log_loss", JUDGE))
    drawn = figure(figures, "macro_f1", STRATIFIED_RANDOM)
    assert drawn == pytest.approx(0.2, abs=0.03)
    assert figure(figures, "macro_f1", CALIBRATED) > drawn + 0.1


def test_evidence_that_says_nothing_gains_nothing() -> None:
    draw, two = np.random.default_rng(5), LabelScale(("1", "2"), (1.0, 2.0))
    examples = [
        Example(item_sha256(f"i{n}"), str(draw.integers(1, 3)), "1", {"noise": draw.normal()})
        for n in range(150)
    ]
    figures = gain(cross_validate(examples, two, seed=7), two)
    assert figure(figures, "log_loss_saved", CONSTANT) < 0.02


@pytest.mark.long
def test_a_reliable_calibrator_lies_near_the_diagonal() -> None:
    predictions = cross_validate(collapsed_judge(400), FIVE, seed=7)
    bins = reliability(predictions)
    assert sum(one.observed.count for one in bins) == 400 * 4
    assert all(abs(one.expected - one.observed.value) < 0.15 for one in bins)
    assert expected_calibration_error(predictions).value < 0.08


def test_judges_who_are_calibrated_are_not_called_otherwise() -> None:
    draw, found = np.random.default_rng(0), []
    for _ in range(60):
        said = draw.dirichlet(np.ones(5), 150)
        gold = (said.cumsum(axis=1) < draw.random((150, 1))).sum(axis=1)
        predictions = [
            Prediction("", int(label), 0, tuple(chances), 0, 0, 0, 0, (), 0.0, 0)
            for chances, label in zip(said, gold, strict=True)
        ]
        found.append(expected_calibration_error(predictions))
    assert sum(one.interval.lower == 0 for one in found) >= 55
    assert np.mean([one.value for one in found]) < 0.025


def test_no_item_is_predicted_by_a_model_that_saw_it() -> None:
    examples = [
        Example(item_sha256(f"i{n}"), str(1 + n % 5), "3", {"x": float(n % 5)}) for n in range(60)
    ]
    odd = Example(item_sha256("odd one"), "1", "3", {"x": 100.0})
    with_odd = {one.item_sha256: one for one in cross_validate([*examples, odd], FIVE, seed=1)}
    assert with_odd[odd.item_sha256].likeliest == 4, (
        "the others say that a greater x means a higher label"
    )


def test_a_stored_calibrator_says_the_same_by_its_rules_and_is_plain_json(tmp_path: Path) -> None:
    calibrator, path = calibrator_of_the_collapsed_judge(), tmp_path / "deep" / "calibrator.json"
    write_fitted(calibrator, path)
    again = load_calibrator(path)
    features = {"score_1_to_5": 4.0, "closeness": 1.5}
    found = calibrate(again, features)
    assert found == calibrate(calibrator, features)
    assert again.sha256 == calibrator.sha256
    stored = json.loads(path.read_text())
    assert {"thresholds", "training_items", "training_sha256"} <= stored.keys()
    names = [one["name"] for one in stored["features"]]
    assert names == ["score_1_to_5", "closeness"], "what never varies cannot be learnt from"
    decider = Decider(FIVE.values, again.decision_rules, again.cut_points)
    assert found.for_f1 == FIVE.values[decider.place(found.distribution, MACRO_F1)]
    assert found.for_error == FIVE.values[decider.place(found.distribution, MEAN_ABSOLUTE_ERROR)]


def test_the_order_of_the_examples_changes_nothing() -> None:
    assert fitted(collapsed_judge()[::-1]).sha256 == calibrator_of_the_collapsed_judge().sha256


def test_calibrated_scores_come_with_their_uncertainty() -> None:
    found = calibrate(calibrator_of_the_collapsed_judge(), {"score_1_to_5": 4.0, "closeness": 2.0})
    assert sum(found.distribution) == pytest.approx(1)
    assert 1 <= found.lower <= found.expected <= found.upper <= 5
    assert found.expected < 2.5, "close to earlier work whatever the judge says"
    calibrator = calibrator_of_the_collapsed_judge()
    means = {feature.name: feature.mean for feature in calibrator.features}
    missing = calibrate(calibrator, {}).expected
    assert missing == pytest.approx(calibrate(calibrator, means).expected)


def test_a_calibrator_refuses_the_items_it_was_fitted_on() -> None:
    calibrator = calibrator_of_the_collapsed_judge()
    refuse_training_items(calibrator, ["an idea never seen"])
    with pytest.raises(ConfigurationError, match="1 of the items to be scored are among the 200"):
        refuse_training_items(calibrator, ["an idea never seen", "  IDEA   17 "])


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([], "needs labels"),
        (
            [Example(item_sha256(str(n)), None, "3", {"x": float(n)}) for n in range(40)],
            "40 without a label",
        ),
        (
            [Example(item_sha256(str(n)), "3", "3", {"x": float(n)}) for n in range(40)],
            "all 40 items have 3",
        ),
        (
            [
                Example(item_sha256(str(n)), str(1 + n % 2), None, {"x": float(n)})
                for n in range(40)
            ],
            "40 unscored or repeated",
        ),
        (
            [Example(item_sha256(str(n)), str(1 + n % 2), "3", {"x": float(n)}) for n in range(10)],
            "needs 20 labelled",
        ),
        (
            [
                Example(item_sha256(str(n)), "2" if n == 0 else "3", "3", {"x": float(n)})
                for n in range(40)
            ],
            r"every label needs 3 items: 2 \(1\)",
        ),
        (
            [Example(item_sha256(str(n)), str(1 + n % 2), "3", {"x": 1.0}) for n in range(40)],
            "nothing to calibrate by",
        ),
        (
            [Example(item_sha256(str(n)), "novel", "3", {"x": float(n)}) for n in range(40)],
            "labels novel are not among",
        ),
    ],
)
def test_what_cannot_be_fitted_says_why(examples: list[Example], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        fitted(examples)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"thresholds": [1]}', "\x80"])
def test_what_is_no_calibrator_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "calibrator.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(ConfigurationError, match="not a valid calibrator") as caught:
        load_calibrator(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(ConfigurationError, match=r"nowhere\.json cannot be read"):
        load_calibrator(tmp_path / "nowhere.json")


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 2)), min_size=6, max_size=40),
    st.floats(0.1, 10),
)
def test_distributions_are_distributions_whatever_the_data(
    rows: list[tuple[float, int]], ridge: float
) -> None:
    labels = np.array([*(label for _, label in rows), 0, 1, 2], dtype=np.intp)
    features = np.array([[value] for value, _ in rows] + [[0.0]] * 3)
    coefficients, thresholds = fit_proportional_odds(features, labels, 3, ridge)
    chances = probabilities(features, coefficients, thresholds)
    assert (chances >= 0).all()
    assert chances.sum(axis=1) == pytest.approx(np.ones(len(features)))


def test_every_rule_says_what_its_name_does() -> None:
    spread = (0.45, 0.0, 0.0, 0.25, 0.3)
    cut_points = (1.5, 2.5, 2.9, 3.5)
    said = {rule: place_of(rule, spread, FIVE.values, cut_points) for rule in DecisionRule}
    assert said == {
        DecisionRule.ARGMAX: 0,
        DecisionRule.EXPECTED_VALUE: 2,
        DecisionRule.QUANTILE_MATCHED: 3,
    }


def test_matched_quantiles_are_chosen_for_macro_f1_where_all_else_collapses() -> None:
    generator = np.random.default_rng(2)
    gold = generator.integers(0, 5, 300)
    shift = 0.1 * (gold - 2) + generator.normal(scale=0.05, size=300)
    middle = np.array([0.05, 0.15, 0.6, 0.15, 0.05])
    tilted = [middle + one * np.array([-0.2, -0.1, 0.0, 0.1, 0.2]) for one in shift]
    found = fit_decider([one.tolist() for one in tilted], gold.tolist(), FIVE.values)
    assert found.rules[MACRO_F1] is DecisionRule.QUANTILE_MATCHED
    assert {found.place(one, MACRO_F1) for one in tilted} == {0, 1, 2, 3, 4}


def test_a_label_that_never_occurs_leaves_a_calibrator_of_the_others() -> None:
    examples = [one for one in collapsed_judge() if one.label != "1"]
    calibrator = fitted(examples)
    assert [one.label for one in calibrator.labels] == ["2", "3", "4", "5"]
    assert calibrate(calibrator, {"closeness": -3.0}).for_f1 in {4.0, 5.0}


def test_features_come_from_probabilities_overlaps_aspects_and_density() -> None:
    judgement = make_novelty(0, ()).judgement
    evaluation = NoveltyEvaluation(
        judgement=replace(
            judgement,
            probabilities_percent={"1": 5, "2": 15, "3": 50, "4": 20, "5": 10},
            neighbour_density_0_to_1=0.4,
        ),
        contributions=tuple(
            ClaimedContribution(contribution="A.", paper_id=None, overlap=overlap, difference=adds)
            for overlap, adds in (
                (WorkOverlap.FULL, Difference.TRIVIAL),
                (WorkOverlap.NONE, Difference.NEW),
                (None, None),
            )
        ),
        failures=(),
    )
    found = novelty_features(evaluation)
    assert found["probability_of_2_or_more"] == 0.95
    assert found["probability_of_4_or_more"] == 0.3
    assert (found["full_overlap_share"], found["new_difference_share"]) == (0.5, 0.5)
    assert (found["contribution_count"], found["neighbour_density_0_to_1"]) == (3.0, 0.4)
    assert list(found) == list(NOVELTY_FEATURES)
    assert found["mean_closeness_0_to_1"] is None, "what could not be had is not zero"
