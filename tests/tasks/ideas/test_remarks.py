"""Remarks about idea files: few, bounded, and with remedies that work."""

import json
from pathlib import Path

import openpyxl
import pytest

from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas

TEXT = "We record the echoes of moths in the field, and compare them with those of leaves."
OTHER = "Bees lose their way where landmarks are gone, and nobody has measured how far they fly."


def read(folder: Path, *rows: object, fields: tuple[str, ...] = ()) -> IdeaBatch:
    path = folder / "a.json"
    path.write_text(json.dumps(rows))
    return read_ideas(path, default_cutoff=None, fields=fields)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("forum_link", "https://openreview.net/forum?id=a-b-c-d-e"), ("primary_area", OTHER)),
        *(("Code", "https://a.org/b-c/d-e-f-g https://a.org/b/c"), ("Year", 2023)),
        *(("Timestamp", "2024/05/01 10:00:00 AM GMT+2"), ("Created", "May 3, 2024 10:00 AM")),
        *(("Team members", "Ada Lovelace, Grace Hopper and Alan van der Turing"), ("year", "2023")),
        *(("Cut-off score", 3), ("cutoff scores", "3"), ("Topics", "a/b/c/d/e/f/g; h-i-j-k-l")),
        ("title", "Echoes of moths that bats hear at night " * 4),
    ],
)
def test_ordinary_columns_are_not_remarked(name: str, value: object, tmp_path: Path) -> None:
    batch = read(tmp_path, {"text": TEXT, name: value})
    assert (len(batch.ideas), batch.remarks) == (1, ())


@pytest.mark.parametrize(
    "text",
    [
        *(OTHER, OTHER.upper(), f"https://a.org {OTHER}", "我们研究飞蛾的回声并与树叶比较"),
        *(
            "우리는 나방의 메아리를 나뭇잎의 메아리와 비교한다",
            "نقارن أصداء العث مع أصداء أوراق الشجر",
        ),
    ],
)
def test_a_column_of_sentences_is_named(text: str, tmp_path: Path) -> None:
    (line,) = read(tmp_path, {"text": TEXT, "Grand Scheme": text}).remarks
    assert "add --field text='Grand Scheme'" in line


@pytest.mark.parametrize(
    ("first", "second", "part"),
    [
        *(({"id": "a"}, {"uuid": "b"}, "idea_id"), ({"title": "A"}, {"headline": "B"}, "title")),
        ({"cutoff": "2024-01"}, {"cutoff date": "2024-02"}, "cutoff_date"),
    ],
)
def test_a_second_column_of_one_part_can_be_taken_in_its_place(
    first: dict[str, str], second: dict[str, str], part: str, tmp_path: Path
) -> None:
    row = {"text": TEXT, **first, **second}
    ((name, value),) = second.items()
    (line,) = read(tmp_path, row).remarks
    assert line.endswith(f"to take it instead, add --field {part}='{name}'")
    (idea,) = read(tmp_path, row, fields=(f"{part}={name}",)).ideas
    assert str(getattr(idea, part)).startswith(value)


def test_cells_of_a_column_without_a_value_are_counted(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "text", "note"], *([n, f"{TEXT} {n}", "#N/A"] for n in range(300))):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_ideas(tmp_path / "a.xlsx", default_cutoff=None).remarks == (
        "a.xlsx: cell C2 of the metadata 'note' is an error (#N/A): write the value; 299 more like"
        " it",
    )


def test_files_of_a_folder_are_counted(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}.md").write_text(
            f"Of Monday.\n\n## Idea 1\n{TEXT} {number}\n\n## Idea 2\n{OTHER} {number}\n"
        )
    assert read_ideas(tmp_path, default_cutoff=None).remarks == (
        f"{tmp_path.name}: what is above the first idea of 00.md is not read; 29 more like it",
    )


def test_remarks_have_a_bound(tmp_path: Path) -> None:
    names = (f"Scheme {number}" for number in range(500))
    batch = read(tmp_path, {"text": TEXT, **dict.fromkeys(names, OTHER)})
    assert len(batch.remarks) == 101
    assert batch.remarks[-1] == "a.json: 400 more lines of this kind"
