"""Markup that an editor wrote is formatting; other words in angle brackets are the idea's."""

import json
from pathlib import Path

import pytest

from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas

START = "We study how H<sub>2</sub>O moves in leaves,"
PLAIN = "We study how H2O moves in leaves,"


def read(folder: Path, *texts: str) -> IdeaBatch:
    path = folder / "a.json"
    path.write_text(json.dumps([{"text": text} for text in texts]))
    return read_ideas(path, default_cutoff=None)


@pytest.mark.parametrize(
    "rest",
    [
        "and write the result between <answer> and <final> tokens, as <image> inputs",
        "with `<div>hello</div>` and `a &lt; b` as input",
        "with\n```html\n<p>one</p>\n<!-- two -->\n```\nas input",
        "where <script>alert(1)</script> is injected",
    ],
)
def test_words_in_angle_brackets_and_code_stay_in_the_idea(rest: str, tmp_path: Path) -> None:
    batch = read(tmp_path, f"{START} {rest}.")
    assert [idea.text for idea in batch.ideas] == [f"{PLAIN} {rest}."]


def test_markup_that_is_left_out_is_named_once_for_the_file(tmp_path: Path) -> None:
    batch = read(
        tmp_path,
        f"{START} <label>often</label> and far.",
        f"{START} and <!-- not --> back, with <b>bats</b>.",
    )
    assert [idea.text for idea in batch.ideas] == [
        f"{PLAIN} \noften\n and far.",
        f"{PLAIN} and  back, with bats.",
    ]
    assert batch.remarks == (
        "a.json: markup in texts was removed as formatting: <sub>, <label>, <!-- -->,"
        " <b>; put markup that belongs to an idea between backticks",
    )
