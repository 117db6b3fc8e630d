"""Calibrator and prior files: reading, writing and applying them to new judgements."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from schemas.base import first_fault, replace
from schemas.errors import ConfigurationError
from schemas.judgement.calibration import CALIBRATOR_VERSION, Calibrator, Prior
from schemas.profile import Profile
from tasks.calibration.examples import item_sha256
from tasks.calibration.model import (
    MACRO_F1,
    MEAN_ABSOLUTE_ERROR,
    Decider,
    Model,
    expected_value,
    quantile_place,
)
from tasks.calibration.text import WORDS, TextModel

FittedT = TypeVar("FittedT", Calibrator, Prior)
OUTSIDE = 0.05
"""Probability below the interval, and above it."""


@dataclass(frozen=True, slots=True)
class CalibratedLabel:
    """Calibrated distribution of a label, with the values derived from it.

    Attributes:
        lower, upper: ends of the 90 % interval.
        for_f1, for_error: labels by the calibrator's rules for macro F1 and absolute error.
    """

    distribution: tuple[float, ...]
    expected: float
    lower: float
    upper: float
    for_f1: float
    for_error: float


def prior_log_odds(prior: Prior, features: Mapping[str, float | None], text: str) -> float | None:
    """Return an idea's expected strength before any match, in log odds.

    None if the prior was fitted on this idea.
    """
    calibrator = prior.calibrator
    if item_sha256(text) in calibrator.training_items:
        return None
    values = dict(features)
    if calibrator.terms:
        values[WORDS] = float(TextModel(calibrator.terms).scores([text])[0])
    return prior.pair_slope * float(_model(calibrator).latent([values])[0])


def _model(calibrator: Calibrator) -> Model:
    return Model(calibrator.features, calibrator.thresholds, tuple(range(len(calibrator.labels))))


def calibrate(calibrator: Calibrator, features: Mapping[str, float | None]) -> CalibratedLabel:
    """Apply a calibrator to one judgement's features.

    Unknown features are ignored; missing ones count as the calibrator's mean.
    """
    count, model = len(calibrator.labels), _model(calibrator)
    distribution = tuple(float(share) for share in model.distributions([features], count)[0])
    values = tuple(one.value for one in calibrator.labels)
    lower, upper = (values[quantile_place(distribution, share)] for share in (OUTSIDE, 1 - OUTSIDE))
    decider = Decider(values, calibrator.decision_rules, calibrator.cut_points)
    for_f1, for_error = (
        values[decider.place(distribution, metric)] for metric in (MACRO_F1, MEAN_ABSOLUTE_ERROR)
    )
    expectation = expected_value(distribution, values)
    return CalibratedLabel(distribution, expectation, lower, upper, for_f1, for_error)


def write_fitted(model: Calibrator | Prior, path: Path) -> None:
    """Write a calibrator or prior atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished_path = path.with_name(f"{path.name}.unfinished")
    unfinished_path.write_text(model.model_dump_json(indent=2), "utf-8")
    unfinished_path.replace(path)


def load_calibrator(path: str | Path) -> Calibrator:
    """Read a calibrator.

    Raises:
        ConfigurationError: the file is missing, is not a calibrator, or has another version.
    """
    calibrator = _read(path, Calibrator, "fit one with assay benchmark novelty")
    _check_version(calibrator, path)
    return calibrator


def load_prior(path: str | Path) -> Prior:
    """Read a prior.

    Raises:
        ConfigurationError: as `load_calibrator`.
    """
    prior = _read(path, Prior, "fit one with assay prior")
    _check_version(prior.calibrator, path)
    return prior


def _read(path: str | Path, kind: type[FittedT], remedy: str) -> FittedT:
    name = kind.__name__.lower()
    try:
        return kind.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise ConfigurationError(
            f"{name} {path} cannot be read ({type(error).__name__}): {remedy}"
        ) from error
    except ValidationError as error:
        raise ConfigurationError(
            f"{path} is not a valid {name}: {first_fault(error)}; {remedy}"
        ) from error


def _check_version(calibrator: Calibrator, path: str | Path) -> None:
    if calibrator.calibrator_version != CALIBRATOR_VERSION:
        raise ConfigurationError(
            f"calibrator {path} has version {calibrator.calibrator_version}, this is"
            f" {CALIBRATOR_VERSION}: fit it again"
        )


def refuse_training_items(
    calibrator: Calibrator, ideas: Iterable[str], key: str = "novelty.calibrator"
) -> None:
    """Raise ConfigurationError if the calibrator was trained on an idea.

    `key` is the profile setting that names it.
    """
    training_items = set(calibrator.training_items)
    seen_count = sum(item_sha256(idea) in training_items for idea in ideas)
    if seen_count:
        raise ConfigurationError(
            f"{seen_count} of the items to be scored are among the {len(training_items)} that calibrator"
            f" {calibrator.sha256[:12]} was fitted on: score it on others, or run without"
            f" {key} (its gain under cross-validation is reported when it is fitted)"
        )


def with_prior(profile: Profile) -> Profile:
    """Return the profile with the absolute path of its prior.

    Workers may run in other folders. The prior is read here so that errors are found before
    anything is paid.
    """
    path = profile.ranking.prior
    if path is None:
        return profile
    load_prior(path)
    return replace(profile, ranking=replace(profile.ranking, prior=str(Path(path).resolve())))
