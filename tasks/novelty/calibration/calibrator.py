"""A calibrator: fitted on all labelled judgements, and applied to one."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata

from schemas.calibration import Calibrator, CalibratorGain, CalibratorLabel
from schemas.identifiers import content_hash
from tasks.novelty.calibration.cross_validation import fit_tuned
from tasks.novelty.calibration.deciding import MACRO_F1, MEAN_ABSOLUTE_ERROR, Decider
from tasks.novelty.calibration.examples import Example, LabelScale, usable
from tasks.novelty.calibration.fitting import Model
from tasks.novelty.calibration.ordinal import expected_value, quantile_place

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


def calibrate(calibrator: Calibrator, features: Mapping[str, float | None]) -> Calibrated:
    """Apply a calibrator to one judgement's features; those it does not know are ignored, those
    that lack count as its mean.
    """
    count = len(calibrator.labels)
    model = Model(calibrator.features, calibrator.thresholds, tuple(range(count)))
    distribution = tuple(float(share) for share in model.distributions([features], count)[0])
    values = tuple(one.value for one in calibrator.labels)
    lower, upper = (values[quantile_place(distribution, share)] for share in (OUTSIDE, 1 - OUTSIDE))
    decider = Decider(values, calibrator.decision_rules, calibrator.cut_points)
    for_f1, for_error = (
        values[decider.place(distribution, metric)] for metric in (MACRO_F1, MEAN_ABSOLUTE_ERROR)
    )
    expected = expected_value(distribution, values)
    return Calibrated(distribution, expected, lower, upper, for_f1, for_error)


def fit_calibrator(
    examples: Sequence[Example],
    scale: LabelScale,
    *,
    target: str,
    engine: str,
    judged_by: str,
    source: str,
    gain: Sequence[CalibratorGain] = (),
    seed: int = 0,
) -> Calibrator:
    """A calibrator fitted on all labelled and scored examples, ready to be stored.

    Raises:
        ConfigurationError: no labels, one class only, too few items, or nothing that varies.
    """
    kept = usable(examples, scale)
    tuned = fit_tuned(kept, scale, seed)
    model = tuned.model
    counts = Counter(str(one.label) for one in kept)
    return Calibrator(
        target=target,
        engine=engine,
        judged_by=judged_by,
        features=model.features,
        labels=tuple(
            CalibratorLabel(
                label=scale.labels[place],
                value=scale.values[place],
                count=counts[scale.labels[place]],
            )
            for place in model.places
        ),
        thresholds=model.thresholds,
        decision_rules=dict(tuned.decider.rules),
        cut_points=tuple(tuned.decider.cut_points[place] for place in model.places[:-1]),
        ridge=tuned.ridge,
        training_source=source,
        training_items=tuple(one.item_sha256 for one in kept),
        training_sha256=content_hash(
            *(f"{one.item_sha256} {one.label} {sorted(one.features.items())}" for one in kept)
        ),
        gain=tuple(gain),
        assay_version=metadata.version("assay"),
        created_at=datetime.now(UTC),
    )
