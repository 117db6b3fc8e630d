"""Decisions of a conference as grades, and merged into fewer classes (InnoEval)."""

from typing import Literal

GRADES: dict[str, int] = {"reject": 0, "poster": 1, "spotlight": 2, "oral": 3}
ClassCount = Literal[2, 3, 4]
_THREE = ("reject", "poster", "highlight")


def decision_of(text: str) -> str | None:
    """`reject`, `poster`, `spotlight` or `oral` from what a file says ("Accept (Oral)"); None when it says none of them or several."""
    words = text.casefold()
    found = [name for name in GRADES if name in words]
    return found[0] if len(found) == 1 else None


def merged(decision: str, class_count: ClassCount) -> str:
    """The class of a decision among `class_count`.

    Two: reject, accept. Three: reject, poster, highlight (spotlight and oral). Four: as decided. InnoEval reports F1 and
    accuracy for two and three classes and does not print which decisions its three classes merge; this is the merge that
    keeps them in order and leaves no class with a handful of items.

    Raises:
        KeyError: not one of the four decisions; see `decision_of`.
    """
    grade = GRADES[decision]
    if class_count == 2:
        return "accept" if grade else "reject"
    return _THREE[min(grade, 2)] if class_count == 3 else decision
