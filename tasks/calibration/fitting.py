"""Fits calibrators, and says what one tells of items it was not fitted on: every item is predicted
by a model of the other folds, whose penalty and decision rules were chosen within those folds.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from schemas.calibration import Calibrator, CalibratorGain, CalibratorLabel
from schemas.identifiers import content_hash
from tasks.calibration.examples import Example, LabelScale, usable
from tasks.calibration.model import (
    MACRO_F1,
    MEAN_ABSOLUTE_ERROR,
    Decider,
    Model,
    fit_decider,
    fit_model,
    quantile_place,
)

FOLDS = 5
RIDGES = (2.0, 8.0, 32.0)
"""Each worth so many items that say a feature tells nothing: tens of items bear few coefficients.
"""


@dataclass(frozen=True, slots=True)
class Prediction:
    """One item, predicted from the others. Places are positions on the scale.

    Attributes:
        item_sha256: of the idea.
        gold: what experts say.
        raw: what the judge says.
        distribution: the calibrator's, over the labels of the scale; sums to 1.
        for_f1, for_error: the calibrator's label by the rule chosen for macro F1, and by that for
            the absolute error.
        constant: median label of the items it was fitted on: the best guess that looks at nothing,
            by absolute error.
        majority: commonest label among those items.
        shares: of the labels among those items: the best distribution that looks at nothing.
    """

    item_sha256: str
    gold: int
    raw: int
    distribution: tuple[float, ...]
    for_f1: int
    for_error: int
    constant: int
    majority: int
    shares: tuple[float, ...]

    @property
    def likeliest(self) -> int:
        """The most probable label."""
        return int(np.argmax(self.distribution))


@dataclass(frozen=True, slots=True)
class Tuned:
    """A model of some items, with the penalty and the decision rules that suit them."""

    model: Model
    ridge: float
    decider: Decider


def fit_tuned(examples: Sequence[Example], scale: LabelScale, seed: int) -> Tuned:
    """Choose penalty (least log loss) and decision rules by cross-validation within `examples`,
    then fit on all of them.

    Raises:
        ConfigurationError: no feature varies.
    """
    gold = _places(examples, scale)
    found = {ridge: _held_out(examples, gold, scale, ridge, seed) for ridge in RIDGES}
    every = list(range(len(scale.labels)))
    ridge = min(RIDGES, key=lambda one: log_loss(gold, found[one], labels=every))
    decider = fit_decider(found[ridge].tolist(), gold.tolist(), scale.values)
    return Tuned(fit_model(examples, scale, ridge), ridge, decider)


def cross_validate(
    examples: Sequence[Example], scale: LabelScale, seed: int, folds: int = FOLDS
) -> tuple[Prediction, ...]:
    """Stratified folds drawn by the seed, as many as the rarest label has items where that is
    fewer; predictions in order of hashes.

    Raises:
        ConfigurationError: no labels, one class only, too few items, or nothing that varies.
    """
    kept = usable(examples, scale)
    gold = _places(kept, scale)
    found: dict[int, Prediction] = {}
    for train, test in _splits(gold, seed, folds):
        tuned = fit_tuned([kept[place] for place in train], scale, seed)
        distributions = tuned.model.distributions(
            [kept[place] for place in test], len(scale.labels)
        )
        shares = np.bincount(gold[train], minlength=len(scale.labels)) / len(train)
        for place, distribution in zip(test.tolist(), distributions, strict=True):
            found[place] = Prediction(
                item_sha256=kept[place].item_sha256,
                gold=int(gold[place]),
                raw=scale.place(str(kept[place].raw_label)),
                distribution=tuple(float(chance) for chance in distribution),
                for_f1=tuned.decider.place(distribution, MACRO_F1),
                for_error=tuned.decider.place(distribution, MEAN_ABSOLUTE_ERROR),
                constant=quantile_place(shares.tolist(), 0.5),
                majority=int(shares.argmax()),
                shares=tuple(float(share) for share in shares),
            )
    return tuple(found[place] for place in range(len(kept)))


def _places(examples: Sequence[Example], scale: LabelScale) -> NDArray[np.intp]:
    return np.array([scale.place(str(one.label)) for one in examples], dtype=np.intp)


def _splits(
    gold: NDArray[np.intp], seed: int, folds: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    count = min(folds, *Counter(gold.tolist()).values())
    splits = StratifiedKFold(max(count, 2), shuffle=True, random_state=seed)
    yield from splits.split(np.zeros((len(gold), 1)), gold)


def _held_out(
    examples: Sequence[Example],
    gold: NDArray[np.intp],
    scale: LabelScale,
    ridge: float,
    seed: int,
) -> NDArray[np.float64]:
    """Shape (examples, labels): of each what a model of the other folds says."""
    found = np.zeros((len(examples), len(scale.labels)))
    for train, test in _splits(gold, seed, FOLDS):
        model = fit_model([examples[place] for place in train], scale, ridge)
        held_out = [examples[place] for place in test]
        found[test] = model.distributions(held_out, len(scale.labels))
    return found


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
