"""Requests, model calls and prompt tokens of three bundled ideas stay at the committed numbers."""

from pathlib import Path

import pytest

from tests.cost_of_an_idea import COMMAND, COMMITTED, changes, committed, measured

BEFORE = {
    "economy": {"requests": {"batch": 20, "paper/search": 5}, "model_calls": {"relevance": 9}}
}


@pytest.mark.parametrize("profile", ["economy", pytest.param("faithful", marks=pytest.mark.long)])
def test_three_ideas_cost_the_committed_requests_calls_and_tokens(
    profile: str, tmp_path: Path
) -> None:
    differences = changes(committed(), measured(tmp_path, [profile]))
    assert not differences, (
        f"An idea no longer costs what is committed in {COMMITTED.name}.\n{differences}\n"
        f"Undo what costs more, or commit the new numbers: {COMMAND}"
    )


def test_equal_costs_are_no_change() -> None:
    assert changes(BEFORE, BEFORE) == ""


def test_a_higher_cost_names_what_grew_and_by_how_much() -> None:
    after = {"economy": BEFORE["economy"] | {"requests": {"batch": 26, "snippet/search": 5}}}
    assert changes(BEFORE, after) == (
        "economy: requests: 25 → 31 (+6), more:"
        " batch 20 → 26, paper/search 5 → 0, snippet/search 0 → 5"
    )


def test_a_lower_cost_is_a_change_too() -> None:
    after = {"economy": BEFORE["economy"] | {"model_calls": {"relevance": 8}}}
    assert changes(BEFORE, after) == "economy: model calls: 9 → 8 (-1), less: relevance 9 → 8"
