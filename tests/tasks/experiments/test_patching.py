"""A change is applied as it is written, or refused with the reason."""

from dataclasses import dataclass

import pytest

from schemas.errors import ConfigurationError
from tasks.experiments.program import (
    MOST_CHANGES,
    MOST_CHARACTERS,
    MOST_LINES,
    PatchError,
    apply_changes,
    difference,
    regions_of,
)

MARKED = """import math
LIMIT = 3

# region order
def order(items):
    return items
# endregion


def solve(given, seed):
    # region choice
    first = order(given)[0]
    # endregion
    return first
"""
PLAIN = "def solve(given, seed):\n    return 1\n"


@dataclass(frozen=True)
class Change:
    region: str
    find: str
    replace: str


def refusal(source: str, *changes: Change) -> str:
    with pytest.raises(PatchError) as refused:
        apply_changes(source, changes)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_only_what_is_marked_may_be_changed_and_without_marks_all_of_it() -> None:
    assert regions_of(MARKED, "program.py") == ("order", "choice")
    assert regions_of(PLAIN, "program.py") == ("all",)


def test_changes_meet_what_those_before_them_left() -> None:
    made = apply_changes(
        MARKED,
        [
            Change("order", "return items", "return sorted(items)"),
            Change("order", "sorted(items)", "sorted(items, reverse=True)"),
            Change("choice", "", "    first = max(given)"),
        ],
    )
    expected = MARKED.replace("return items", "return sorted(items, reverse=True)")
    assert made == expected.replace("order(given)[0]", "max(given)")
    assert regions_of(made, "program.py") == ("order", "choice")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (Change("all", "LIMIT = 3", "LIMIT = 4"), "no region that may be changed: order, choice"),
        (Change("order", "LIMIT = 3", "LIMIT = 4"), "stands nowhere in region order"),
        (Change("order", "items", "x"), "stands 2 times in region order"),
        (Change("order", " return  items", "x"), "stands nowhere"),
        (Change("order", "return items", "return items"), "changes nothing"),
        (Change("order", "return items", "x = 1\n# endregion\nLIMIT = 9"), "leaves a mark"),
        (Change("order", "return items", "x = 1\n  # region more"), "leaves a mark"),
        (Change("order", "return items", "x = 1\u2028# endregion\u2028"), "leaves a mark"),
        (Change("order", "return items", "x = '\ud800'"), "no text"),
        (Change("order", "return items", "x = '\0'"), "no text"),
        (Change("order", "return items", "x = 1\r"), "no text"),
        (Change("order", "return items", "x" * MOST_CHARACTERS), "more than 60,000 characters"),
        (Change("order", "return items", "\n" * MOST_LINES), "more than 2,000 lines"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_in_one_line(change: Change, said: str) -> None:
    assert said in refusal(MARKED, change)


@pytest.mark.parametrize(
    "beginning", ["# coding: utf-7\n", "\n# -*- coding: latin-1 -*-\n", "# vim: coding=nothing\n"]
)
def test_a_program_that_python_would_read_otherwise_than_it_is_shown_is_refused(
    beginning: str,
) -> None:
    assert "another encoding than UTF-8" in refusal(PLAIN, Change("all", "", beginning + PLAIN))
    assert apply_changes(PLAIN, [Change("all", "", "# coding: utf-8\n" + PLAIN)])


def test_changes_that_multiply_what_they_replace_end_at_the_bound() -> None:
    """Twenty doublings would make a text of a million lines."""
    doubling = [Change("all", "", PLAIN)]
    text = PLAIN
    for _ in range(MOST_CHANGES - 1):
        doubling.append(Change("all", text, text + text))
        text += text
    assert "more than 60,000 characters" in refusal(PLAIN, *doubling)
    assert "21 changes, and 20 are the most" in refusal(PLAIN, *(21 * [Change("all", "", "x")]))
    assert "changes nothing" in refusal(PLAIN)


@pytest.mark.parametrize(
    "source",
    [
        "# region a\n# region b\n# endregion\n# endregion\n",
        "# region a\nx = 1\n",
        "x = 1\n# endregion\n",
        "# region a\n# endregion\n# region a\n# endregion\n",
        "# region\nx = 1\n# endregion\n",
    ],
)
def test_marks_that_do_not_belong_together_are_named(source: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^program.py: "):
        regions_of(source, "program.py")


def test_a_change_is_shown_as_a_diff() -> None:
    told = difference(PLAIN, PLAIN.replace("1", "2"), "c001").splitlines()
    assert told[:2] == ["--- program.py", "+++ c001"]
    assert told[-2:] == ["-    return 1", "+    return 2"]
