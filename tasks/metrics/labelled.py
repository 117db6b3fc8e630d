"""Gold labels beside predictions: what has both, and what has not."""

from collections.abc import Mapping
from dataclasses import dataclass

from tasks.metrics.ratings import Label


@dataclass(frozen=True, slots=True)
class Labelled:
    """Items with a gold label and a prediction, in order of their ids.

    Attributes:
        ids, gold, predicted: one entry per item that has both.
        unanswered: ids with a gold label and no prediction: the system was asked and gave no answer.
        without_gold: ids predicted that have no gold label; nothing can be said about them.
    """

    ids: tuple[str, ...]
    gold: tuple[Label, ...]
    predicted: tuple[Label, ...]
    unanswered: tuple[str, ...] = ()
    without_gold: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return len(self.ids)

    @property
    def unscored_count(self) -> int:
        return len(self.unanswered)

    @property
    def empty_reason(self) -> str:
        """Why no item has both; to be asked only then."""
        if self.unanswered:
            return f"none of the {len(self.unanswered)} items was answered"
        return (
            f"none of the {len(self.without_gold)} predictions has a gold label"
            if self.without_gold
            else "there is no item"
        )


def pair_up(gold: Mapping[str, Label | None], predicted: Mapping[str, Label | None]) -> Labelled:
    """Pair predictions with gold labels by id; a label that is None counts as not there."""
    known = {name: label for name, label in gold.items() if label is not None}
    given = {name: label for name, label in predicted.items() if label is not None}
    both = sorted(known.keys() & given.keys())
    return Labelled(
        tuple(both),
        tuple(known[name] for name in both),
        tuple(given[name] for name in both),
        tuple(sorted(known.keys() - given.keys())),
        tuple(sorted(given.keys() - known.keys())),
    )
