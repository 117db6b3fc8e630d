"""Requests, model calls and prompt tokens of three bundled ideas stay at the committed numbers."""

from pathlib import Path

import pytest

from tests.cost_of_an_idea import COMMAND, COMMITTED, changes, committed, measured


@pytest.mark.parametrize("profile", ["economy", pytest.param("faithful", marks=pytest.mark.long)])
def test_three_ideas_cost_the_committed_requests_calls_and_tokens(
    profile: str, tmp_path: Path
) -> None:
    differences = changes(committed(), measured(tmp_path, [profile]))
    assert not differences, (
        f"An idea no longer costs what is committed in {COMMITTED.name}.\n{differences}\n"
        f"Undo what costs more, or commit the new numbers: {COMMAND}"
    )
