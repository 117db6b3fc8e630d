"""A calibrator as a file (numbers and hashes only, nothing that runs), applied to judgements, and
kept from what it was fitted on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from schemas.base import replace
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
"""Probability left below and above the interval."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A label's distribution and what follows from it, on the calibrator's scale; 90 % lie from
    `lower` to `upper`. `for_f1` and `for_error`: labels by the calibrator's two rules.
    """

    distribution: tuple[float, ...]
    expected: float
    lower: float
    upper: float
    for_f1: float
    for_error: float


def prior_log_odds(prior: Prior, features: Mapping[str, float | None], text: str) -> float | None:
    """Strength of an idea before any match, in log odds against another idea's; None: the prior was
    fitted on this idea.
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


def calibrate(calibrator: Calibrator, features: Mapping[str, float | None]) -> Calibrated:
    """Apply a calibrator to one judgement's features; those it does not know are ignored, those
    that lack count as its mean.
    """
    count, model = len(calibrator.labels), _model(calibrator)
    distribution = tuple(float(share) for share in model.distributions([features], count)[0])
    values = tuple(one.value for one in calibrator.labels)
    lower, upper = (values[quantile_place(distribution, share)] for share in (OUTSIDE, 1 - OUTSIDE))
    decider = Decider(values, calibrator.decision_rules, calibrator.cut_points)
    for_f1, for_error = (
        values[decider.place(distribution, metric)] for metric in (MACRO_F1, MEAN_ABSOLUTE_ERROR)
    )
    expected = expected_value(distribution, values)
    return Calibrated(distribution, expected, lower, upper, for_f1, for_error)


def write_fitted(fitted: Calibrator | Prior, path: Path) -> None:
    """Write it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(fitted.model_dump_json(indent=2), "utf-8")
    unfinished.replace(path)


def load_calibrator(path: str | Path) -> Calibrator:
    """Read a calibrator.

    Raises:
        ConfigurationError: the file is missing, is no calibrator, or was written by another
            version.
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
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "file"
        raise ConfigurationError(
            f"{path} is no {name}: {where}: {first['msg']}; {remedy}"
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
    """Keep a calibrator from being scored on what it was fitted on; `key` of the profile names it.

    Raises:
        ConfigurationError: one of `ideas` is among its training items.
    """
    training_items = set(calibrator.training_items)
    seen = sum(item_sha256(idea) in training_items for idea in ideas)
    if seen:
        raise ConfigurationError(
            f"{seen} of the items to be scored are among the {len(training_items)} that calibrator"
            f" {calibrator.sha256[:12]} was fitted on: score it on others, or run without"
            f" {key} (its gain under cross-validation is reported when it is fitted)"
        )


def with_prior(profile: Profile) -> Profile:
    """`profile`, the prior of its rankings read before anything is paid for, and named so that
    workers find it from any folder.
    """
    path = profile.ranking.prior
    if path is None:
        return profile
    load_prior(path)
    return replace(profile, ranking=replace(profile.ranking, prior=str(Path(path).resolve())))
