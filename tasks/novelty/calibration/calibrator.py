"""Fits a calibrator on all labelled judgements."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata

from schemas.calibration import Calibrator, CalibratorGain, CalibratorLabel
from schemas.identifiers import content_hash
from tasks.novelty.calibration.cross_validation import fit_tuned
from tasks.novelty.calibration.examples import Example, LabelScale, usable


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
