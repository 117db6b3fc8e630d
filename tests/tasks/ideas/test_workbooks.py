"""Workbooks: cells without a value, merged and hidden ones, escapes, and sheets."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas

MOTHS = "Problem: moths are heard by bats. Method: we record echoes of moths and of leaves."
BEES = "Problem: bees lose their way. Method: we track bees with radar around the hive."
FISH = "Problem: fish hear boats. Method: we play boat noise to fish in tanks."


def book_of(*rows: Sequence[object]) -> tuple[openpyxl.Workbook, Any]:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    return book, book.active


def read(book: openpyxl.Workbook, folder: Path) -> IdeaBatch:
    book.save(folder / "a.xlsx")
    return read_ideas(folder / "a.xlsx", default_cutoff=None)


@pytest.mark.parametrize(
    ("cell", "what"),
    [
        ("=DATE(2024,9,24)", "cell C2 (cutoff_date) is a formula without a value: open the file"),
        ("#REF!", "cell C2 (cutoff_date) is an error (#REF!)"),
    ],
)
def test_a_cell_without_its_value_rejects_its_row_by_name(
    cell: str, what: str, tmp_path: Path
) -> None:
    book, _ = book_of(["id", "text", "cutoff_date"], ["a", MOTHS, cell], ["b", BEES, "2024-06-30"])
    batch = read(book, tmp_path)
    assert [(idea.idea_id, str(idea.cutoff_date)) for idea in batch.ideas] == [("b", "2024-06-30")]
    (rejected,) = batch.rejected
    assert rejected.location == "a.xlsx row 2"
    assert what in rejected.detail


def test_metadata_without_its_value_is_remarked(tmp_path: Path) -> None:
    book, _ = book_of(["id", "text", "score"], ["a", MOTHS, "=1+1"])
    batch = read(book, tmp_path)
    assert [idea.idea_id for idea in batch.ideas] == ["a"]
    assert batch.remarks[0].startswith("a.xlsx: cell C2 of the metadata 'score' is a formula")


def test_a_merged_range_holds_its_value_in_every_row(tmp_path: Path) -> None:
    book, sheet = book_of(
        ["id", "text", "cutoff_date", "group"],
        ["a", MOTHS, "2024-06-30", "g"],
        ["b", BEES, None, None],
        ["c", FISH, None, "h"],
    )
    sheet.merge_cells("C2:C4")
    sheet.merge_cells("D2:D3")
    batch = read(book, tmp_path)
    assert [(str(idea.cutoff_date), idea.group) for idea in batch.ideas] == [
        ("2024-06-30", "g"),
        ("2024-06-30", "g"),
        ("2024-06-30", "h"),
    ]


def test_hidden_rows_and_columns_are_read_and_said(tmp_path: Path) -> None:
    book, sheet = book_of(["id", "text", "group"], ["a", MOTHS, "g"], ["b", BEES, "g"])
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    batch = read(book, tmp_path)
    assert [(idea.idea_id, idea.group) for idea in batch.ideas] == [("a", "g"), ("b", "g")]
    assert batch.remarks == (
        "a.xlsx: hidden rows of the sheet 'Sheet' are read too: 1",
        "a.xlsx: hidden columns of the sheet 'Sheet' are read too: 1",
    )


def test_the_sheet_with_ideas_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    book, _ = book_of(["Read me"], ["This workbook holds the ideas of our group."])
    hidden = book.create_sheet("Old")
    hidden.append(["text"])
    hidden.append([FISH])
    hidden.sheet_state = "hidden"
    ideas = book.create_sheet("Ideas")
    for row in (["Of 2026", None], [], ["id", "text"], ["a", MOTHS]):
        ideas.append(row)
    batch = read(book, tmp_path)
    assert [idea.text for idea in batch.ideas] == [MOTHS]
    assert batch.remarks == (
        "a.xlsx: only the sheet 'Ideas' is read, and not 'Sheet', 'Old'",
        "a.xlsx: the header is row 3, and what is above it is not read",
    )


def test_escapes_of_the_format_are_read(tmp_path: Path) -> None:
    book, _ = book_of(["id", "text"], ["a", f"# Moths_x000D_\n{MOTHS} _x03B1_ _xD83D__xDE00_"])
    (idea,) = read(book, tmp_path).ideas
    assert (idea.title, idea.text) == ("Moths", f"# Moths\n{MOTHS} α 😀")


def test_numbers_of_rows_written_as_floats_are_identifiers(tmp_path: Path) -> None:
    book, _ = book_of(["id", "text"], [1, MOTHS], [2, BEES])
    book.save(tmp_path / "whole.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as source,
        zipfile.ZipFile(tmp_path / "a.xlsx", "w") as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(b"<v>1</v>", b"<v>1.0</v>")
                content = content.replace(b"<v>2</v>", b"<v>2.0</v>")
            target.writestr(name, content)
    batch = read_ideas(tmp_path / "a.xlsx", default_cutoff=None)
    assert [idea.idea_id for idea in batch.ideas] == ["1", "2"]
