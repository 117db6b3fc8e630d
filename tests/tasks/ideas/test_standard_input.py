"""Ideas on standard input are read as what they look like."""

import io
from pathlib import Path

import pytest

from schemas.errors import IdeaFileError
from tasks.ideas.limits import keep_standard_input
from tasks.ideas.read import read_ideas

GOOD = "Train a small model on curated data and compare it with a large one."


@pytest.mark.parametrize(
    ("content", "count"),
    [
        (f'{{"text": "{GOOD}"}}\n', 1),
        (f'\ufeff[{{"text": "{GOOD}"}},\n {{"text": "{GOOD} And more."}}]', 2),
        (f'id,text\n1,"{GOOD}"\n2,"{GOOD}"\n', 2),
        (f"id\tidea\n1\t{GOOD}\n", 1),
        (f"# A title\n\n{GOOD}\n", 1),
        (f"An idea, in prose: {GOOD}", 1),
    ],
)
def test_json_tables_and_prose_are_told_apart(content: str, count: int, tmp_path: Path) -> None:
    path = keep_standard_input(io.BytesIO(content.encode()), tmp_path)
    assert len(read_ideas(path, default_cutoff=None).ideas) == count


def test_nothing_on_standard_input_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match="standard input is empty"):
        keep_standard_input(io.BytesIO(b" \n"), tmp_path)
