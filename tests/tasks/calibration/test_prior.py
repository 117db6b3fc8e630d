"""A prior: what words and evidence say about outcomes, held to ideas that it has not seen."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import ConfigurationError
from schemas.judgement.calibration import Prior
from tasks.calibration.calibrator_files import load_prior, prior_log_odds, write_fitted
from tasks.calibration.examples import Example, LabelScale, item_sha256
from tasks.calibration.fitting import Prediction, cross_validate, fit_calibrator, fit_prior

SCALE = LabelScale(("reject", "accept"), (0.0, 1.0))
NOUNS = ("graph", "protein", "robot", "corpus", "solver", "climate", "market", "galaxy")


def text_of(number: int, liked: bool) -> str:
    """Accepted ideas speak of theorems, others of surveys; all of much else."""
    nouns = [NOUNS[(number * step) % len(NOUNS)] for step in (1, 3, 5)]
    return f"A {'theorem' if liked else 'survey'} about {' and '.join(nouns)}, number {number}."


def labelled(count: int = 60, honest: bool = True) -> list[Example]:
    """Clusters of three; `honest`: words and density tell the outcome, else nothing does."""
    generator = np.random.default_rng(5)
    found = []
    for number in range(count):
        liked = bool(generator.integers(2))
        text = text_of(number, liked)
        density = (0.2 if liked else 0.6) + 0.2 * float(generator.random())
        label = SCALE.labels[liked if honest else int(generator.integers(2))]
        features = {"neighbour_density_0_to_1": density}
        cluster = f"group {number // 3}"
        found.append(Example(item_sha256(text), label, "reject", features, cluster, text))
    return found


@cache
def held_out(honest: bool) -> tuple[Prediction, ...]:
    return cross_validate(labelled(honest=honest), SCALE, seed=7)


@cache
def prior_of(honest: bool) -> Prior:
    told = {"target": "outcome", "engine": "none", "judged_by": "evidence", "source": "made up"}
    calibrator = fit_calibrator(labelled(honest=honest), SCALE, **told)
    return fit_prior(calibrator, held_out(honest))


def test_a_prior_from_a_file_expects_more_of_ideas_like_those_that_did_well(
    tmp_path: Path,
) -> None:
    write_fitted(prior_of(honest=True), tmp_path / "prior.json")
    prior = load_prior(tmp_path / "prior.json")
    density = {"neighbour_density_0_to_1": 0.45}
    liked, other = (prior_log_odds(prior, density, text_of(900, one)) for one in (True, False))
    assert liked is not None and other is not None and liked > other + 0.5
    assert prior.pair_accuracy_0_to_1 is not None and prior.pair_accuracy_0_to_1 > 0.9


def test_it_says_nothing_about_an_idea_that_it_was_fitted_on() -> None:
    examples = labelled()
    assert (
        prior_log_odds(prior_of(honest=True), examples[0].features, examples[0].text or "") is None
    )


def test_outcomes_that_follow_from_nothing_leave_ideas_nearly_alike() -> None:
    prior = prior_of(honest=False)
    expected = [prior_log_odds(prior, {}, text_of(900 + n, bool(n % 2))) for n in range(12)]
    assert max(abs(one) for one in expected if one is not None) < 0.4


def test_connected_ideas_are_never_in_two_folds() -> None:
    examples = labelled()
    fold_of = {one.item_sha256: one.fold for one in held_out(honest=True)}
    clusters = {one.cluster for one in examples}
    folds = {
        cluster: {fold_of[one.item_sha256] for one in examples if one.cluster == cluster}
        for cluster in clusters
    }
    assert all(len(found) == 1 for found in folds.values())
    assert len({fold for found in folds.values() for fold in found}) == 5


def test_ideas_that_are_all_connected_are_refused() -> None:
    joined = [
        Example(one.item_sha256, one.label, one.raw_label, one.features, "one", one.text)
        for one in labelled()
    ]
    with pytest.raises(ConfigurationError, match="independent sets of ideas"):
        cross_validate(joined, SCALE, seed=7)


def test_a_file_that_is_no_prior_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "prior.json"
    path.write_text("{}")
    with pytest.raises(
        ConfigurationError, match="is not a valid prior: `calibrator`: Field required"
    ):
        load_prior(path)
