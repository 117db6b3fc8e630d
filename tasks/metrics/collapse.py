"""Label collapse: predictions crowded into one or two labels, whatever the item (InnoEval, "Main
Results").
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tasks.metrics.classification import seen
from tasks.metrics.estimate import Estimate, undefined
from tasks.metrics.labelled import Labelled
from tasks.metrics.means import share
from tasks.metrics.ratings import Label

COLLAPSED_BELOW = 2 / 3
"""Labels in use among the predictions, over those among the gold labels, below which a reader is
told of a collapse.
"""


@dataclass(frozen=True, slots=True)
class Collapse:
    """How the predictions spread over the labels, beside how the gold labels do.

    Shares from 0 to 1, in order of `classes`.

    Attributes:
        gold_shares, predicted_shares: of the answered items.
        never_predicted: classes of the gold labels that no prediction names.
        top_label: predicted most often; None when nothing was answered.
        top_label_share: its share of the predictions; the gold share of the same label is in
            `gold_shares`.
        gold_entropy_bits, predicted_entropy_bits: of the two distributions; 0 when one label has
            everything.
        total_variation: half the sum of |predicted - gold share|: the share of predictions that
            would have to move.
        collapsed: whether the predictions use fewer than `COLLAPSED_BELOW` of the labels that the
            gold labels use.
    """

    classes: tuple[Label, ...]
    gold_shares: tuple[float, ...]
    predicted_shares: tuple[float, ...]
    never_predicted: tuple[Label, ...]
    top_label: Label | None
    top_label_share: Estimate
    gold_entropy_bits: Estimate
    predicted_entropy_bits: Estimate
    total_variation: Estimate
    collapsed: bool | None

    @property
    def labels_in_use_ratio(self) -> Estimate:
        """2^entropy of the predictions / 2^entropy of the labels: of so many labels, used alike,
        there are as many fewer or more.

        1 when predictions are as mixed as the labels; below `COLLAPSED_BELOW` they have collapsed.
        Undefined when nothing was answered.
        """
        if not self.gold_entropy_bits.defined:
            return self.gold_entropy_bits
        ratio = float(2 ** (self.predicted_entropy_bits.value - self.gold_entropy_bits.value))
        return replace(self.gold_entropy_bits, value=ratio)


def label_collapse(labelled: Labelled, classes: Sequence[Label] | None = None) -> Collapse:
    """Compare the distribution of predictions with that of the gold labels of the same items.

    Of all items with a gold label only the answered ones count. A model can be right often and
    still collapse: predicting the commonest label has a good accuracy and a poor macro F1.

    Bad input: nothing answered leaves every share undefined, with the reason, and `collapsed` None.
    """
    listed = tuple(classes) if classes is not None else seen(labelled)
    if not labelled.count:
        nothing = undefined(labelled.empty_reason, unscored_count=labelled.unscored_count)
        return Collapse(listed, (), (), (), None, nothing, nothing, nothing, nothing, None)
    gold, predicted = Counter(labelled.gold), Counter(labelled.predicted)
    ours, theirs = _shares(gold, listed, labelled.count), _shares(predicted, listed, labelled.count)
    top = listed[max(range(len(listed)), key=lambda position: theirs[position])]
    distance = 0.5 * sum(abs(one - other) for one, other in zip(ours, theirs, strict=True))
    return Collapse(
        listed,
        ours,
        theirs,
        tuple(label for label in listed if gold[label] and not predicted[label]),
        top,
        share(predicted[top], labelled.count, labelled.unscored_count),
        Estimate(_entropy(ours), labelled.count, unscored_count=labelled.unscored_count),
        Estimate(_entropy(theirs), labelled.count, unscored_count=labelled.unscored_count),
        Estimate(distance, labelled.count, unscored_count=labelled.unscored_count),
        2 ** _entropy(theirs) < COLLAPSED_BELOW * 2 ** _entropy(ours),
    )


def _shares(counts: Counter[Label], classes: tuple[Label, ...], total: int) -> tuple[float, ...]:
    return tuple(counts[label] / total for label in classes)


def _entropy(shares: tuple[float, ...]) -> float:
    return -sum(one * math.log2(one) for one in shares if one > 0) + 0.0
