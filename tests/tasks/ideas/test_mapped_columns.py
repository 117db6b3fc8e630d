"""`--field PART=COLUMN` maps the column of that name, and no other."""

import json
from pathlib import Path

import pytest

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas

LONG = "We record the echoes of moths in the field, and compare them with those of leaves."
PUBLIC = "Bees lose their way where landmarks are gone, and nobody has measured how far they fly."
INTERNAL = "Our rivals work on this too, so that we should hurry and tell nobody before June."


def read(folder: Path, name: str, *fields: str) -> IdeaBatch:
    row = {"id": "a", "text": LONG, "Notes (internal)": INTERNAL, "Notes (public)": PUBLIC}
    path = folder / name
    if name.endswith(".csv"):
        path.write_text(",".join(row) + "\n" + ",".join(f'"{cell}"' for cell in row.values()))
    else:
        path.write_text(json.dumps(row) + "\n")
    return read_ideas(path, default_cutoff=None, fields=fields)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_an_exact_name_maps_its_column_alone(name: str, tmp_path: Path) -> None:
    (idea,) = read(tmp_path, name, "text=Notes (public)").ideas
    assert idea.text == f"{PUBLIC}\n\n{LONG}"
    assert idea.metadata == {"Notes (internal)": INTERNAL}


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_name_that_fits_several_columns_is_refused(name: str, tmp_path: Path) -> None:
    names = r"fits several columns: 'Notes \(internal\)', 'Notes \(public\)'"
    with pytest.raises(IdeaFileError, match=names):
        read(tmp_path, name, "text=notes")
    (idea,) = read(tmp_path, name, "text=notes", "metadata=Notes (internal)").ideas
    assert INTERNAL not in idea.text
    assert PUBLIC in idea.text


def test_an_exact_name_that_appears_after_a_similar_one_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = ({"Notes (internal)": INTERNAL, "text": LONG}, {"Notes (public)": PUBLIC})
    path.write_text("\n".join(map(json.dumps, rows)))
    with pytest.raises(IdeaFileError, match="fits several columns"):
        read_ideas(path, default_cutoff=None, fields=("text=Notes (public)",))
