"""What a calibrator says of items it was not fitted on: every item is predicted by a model of the
other folds.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import StratifiedKFold

from tasks.novelty.calibration.examples import Example, LabelScale, usable
from tasks.novelty.calibration.fitting import fit_model
from tasks.novelty.calibration.ordinal import quantile_place

FOLDS = 5


@dataclass(frozen=True, slots=True)
class Prediction:
    """One item, predicted from the others. Places are positions on the scale.

    Attributes:
        item_sha256: of the idea.
        gold: what experts say.
        raw: what the judge says.
        distribution: the calibrator's, over the labels of the scale; sums to 1.
        constant: median label of the items it was fitted on: the best guess that looks at nothing,
            by absolute error.
        shares: of the labels among those items: the best distribution that looks at nothing.
    """

    item_sha256: str
    gold: int
    raw: int
    distribution: tuple[float, ...]
    constant: int
    shares: tuple[float, ...]

    @property
    def median(self) -> int:
        """The calibrated label: by absolute error the best one."""
        return quantile_place(self.distribution, 0.5)

    @property
    def likeliest(self) -> int:
        """The most probable label: by accuracy the best one."""
        return int(np.argmax(self.distribution))


def cross_validate(
    examples: Sequence[Example], scale: LabelScale, seed: int, folds: int = FOLDS
) -> tuple[Prediction, ...]:
    """Stratified folds drawn by the seed, as many as the rarest label has items where that is
    fewer; predictions in order of hashes.

    Raises:
        ConfigurationError: no labels, one class only, too few items, or nothing that varies.
    """
    kept = usable(examples, scale)
    gold = np.array([scale.place(str(one.label)) for one in kept])
    splits = StratifiedKFold(
        min(folds, *Counter(gold.tolist()).values()), shuffle=True, random_state=seed
    )
    found: dict[int, Prediction] = {}
    for train, test in splits.split(np.zeros((len(kept), 1)), gold):
        model = fit_model([kept[place] for place in train], scale)
        distributions = model.distributions([kept[place] for place in test], len(scale.labels))
        shares = np.bincount(gold[train], minlength=len(scale.labels)) / len(train)
        for place, distribution in zip(test.tolist(), distributions, strict=True):
            found[place] = Prediction(
                item_sha256=kept[place].item_sha256,
                gold=int(gold[place]),
                raw=scale.place(str(kept[place].raw_label)),
                distribution=tuple(float(chance) for chance in distribution),
                constant=quantile_place(shares.tolist(), 0.5),
                shares=tuple(float(share) for share in shares),
            )
    return tuple(found[place] for place in range(len(kept)))
