"""Gold labels beside predictions: what has both, and what has not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tasks.metrics.ratings import Label

# Decisions of a conference as grades, and merged into fewer classes (InnoEval).

GRADES: dict[str, int] = {"reject": 0, "poster": 1, "spotlight": 2, "oral": 3}
ClassCount = Literal[2, 3, 4]
_THREE = ("reject", "poster", "highlight")


def decision_of(text: str) -> str | None:
    """`reject`, `poster`, `spotlight` or `oral` from what a file says ("Accept (Oral)"); None when
    it says none of them or several.
    """
    words = text.casefold()
    found = [name for name in GRADES if name in words]
    return found[0] if len(found) == 1 else None


def merged(decision: str, class_count: ClassCount) -> str:
    """The class of a decision among `class_count`.

    Two: reject, accept. Three: reject, poster, highlight (spotlight and oral). Four: as decided.
        InnoEval reports F1 and
    accuracy for two and three classes and does not print which decisions its three classes merge;
    this is the merge that
    keeps them in order and leaves no class with a handful of items.

    Raises:
        KeyError: not one of the four decisions; see `decision_of`.
    """
    grade = GRADES[decision]
    if class_count == 2:
        return "accept" if grade else "reject"
    return _THREE[min(grade, 2)] if class_count == 3 else decision


@dataclass(frozen=True, slots=True)
class Labelled:
    """Items with a gold label and a prediction, in order of their ids.

    Attributes:
        ids, gold, predicted: one entry per item that has both.
        unanswered: ids with a gold label and no prediction: the system was asked and gave no
            answer.
        without_gold: ids predicted that have no gold label; nothing can be said about them.
        clusters: of each item; None: items are independent of each other.
    """

    ids: tuple[str, ...]
    gold: tuple[Label, ...]
    predicted: tuple[Label, ...]
    unanswered: tuple[str, ...] = ()
    without_gold: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None

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


def pair_up(
    gold: Mapping[str, Label | None],
    predicted: Mapping[str, Label | None],
    clusters: Mapping[str, str] | None = None,
) -> Labelled:
    """Pair predictions with gold labels by id; a label that is None counts as not there.

    `clusters`: by id, of items that are not independent; intervals then draw whole clusters.
    """
    known = {name: label for name, label in gold.items() if label is not None}
    given = {name: label for name, label in predicted.items() if label is not None}
    both = sorted(known.keys() & given.keys())
    return Labelled(
        tuple(both),
        tuple(known[name] for name in both),
        tuple(given[name] for name in both),
        tuple(sorted(known.keys() - given.keys())),
        tuple(sorted(given.keys() - known.keys())),
        tuple(clusters[name] for name in both) if clusters is not None else None,
    )
