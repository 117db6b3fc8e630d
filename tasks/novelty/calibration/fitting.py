"""The model of a calibrator: fitted on labelled judgements, applied to others."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.calibration import CalibratorFeature
from schemas.errors import ConfigurationError
from tasks.novelty.calibration.examples import Example, LabelScale, matrix
from tasks.novelty.calibration.ordinal import fit_proportional_odds, probabilities


@dataclass(frozen=True, slots=True)
class Model:
    """A fitted model; `places` are the positions on the scale of the labels it has seen, ascending."""

    features: tuple[CalibratorFeature, ...]
    thresholds: tuple[float, ...]
    places: tuple[int, ...]

    def distributions(
        self, examples: Sequence[Example | Mapping[str, float | None]], label_count: int
    ) -> NDArray[np.float64]:
        """Shape (examples, label_count); a label it never saw has probability 0."""
        wrapped = [
            one if isinstance(one, Example) else Example("", None, None, one) for one in examples
        ]
        values = matrix(wrapped, [feature.name for feature in self.features])
        means = np.array([feature.mean for feature in self.features])
        scales = np.array([feature.scale for feature in self.features])
        standard = np.where(np.isnan(values), 0.0, (values - means) / scales)
        coefficients = np.array([feature.coefficient for feature in self.features])
        found = np.zeros((len(wrapped), label_count))
        found[:, list(self.places)] = probabilities(
            standard, coefficients, np.array(self.thresholds)
        )
        return found


def fit_model(examples: Sequence[Example], scale: LabelScale, ridge: float) -> Model:
    """Fit on labelled examples; a feature that never varies is left out.

    Raises:
        ConfigurationError: no feature varies.
    """
    names = list(dict.fromkeys(name for one in examples for name in one.features))
    values = matrix(examples, names)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # a feature that nobody has is all NaN, and left out below
        means, scales = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
    varying = [
        place for place in range(len(names)) if np.isfinite(scales[place]) and scales[place] > 1e-9
    ]
    if not varying:
        raise ConfigurationError(
            "nothing to calibrate by: every judgement and its evidence are the same for all items"
        )
    standard = np.nan_to_num((values[:, varying] - means[varying]) / scales[varying], nan=0.0)
    given = [scale.place(str(one.label)) for one in examples]
    places = tuple(sorted(set(given)))
    labels = np.array([places.index(place) for place in given], dtype=np.intp)
    coefficients, thresholds = fit_proportional_odds(standard, labels, len(places), ridge)
    features = tuple(
        CalibratorFeature(
            name=names[place],
            mean=float(means[place]),
            scale=float(scales[place]),
            coefficient=float(coefficient),
        )
        for place, coefficient in zip(varying, coefficients, strict=True)
    )
    return Model(features, tuple(float(one) for one in thresholds), places)
