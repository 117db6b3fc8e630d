"""Workbooks: cells without a value, merged and hidden ones, escapes, sheets, and their bounds."""

import zipfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import openpyxl
import pytest
from openpyxl.worksheet.worksheet import Worksheet

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas
from tests.support.idea_files import BEES, FISH, MOTHS

SHEET, STYLES = "xl/worksheets/sheet1.xml", "xl/styles.xml"
END = "</sheetData>"


def sheet_of(*rows: Sequence[object]) -> Worksheet:
    sheet = openpyxl.Workbook().active
    for row in rows:
        sheet.append(row)
    return sheet


def read(sheet: Worksheet, folder: Path) -> IdeaBatch:
    sheet.parent.save(folder / "a.xlsx")
    return read_ideas(folder / "a.xlsx", default_cutoff=None)


def read_changed(folder: Path, part: str, old: str, new: str, sheets: int = 1) -> IdeaBatch:
    """Read a workbook of one idea in which a part was changed."""
    sheet = sheet_of(["id", "text"], [1, MOTHS])
    for number in range(1, sheets):
        sheet.parent.create_sheet(f"Notes {number}").append(["nothing"])
    sheet.parent.save(folder / "plain.xlsx")
    with (
        zipfile.ZipFile(folder / "plain.xlsx") as source,
        zipfile.ZipFile(folder / "a.xlsx", "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            content = source.read(name)
            if name == part:
                assert old.encode() in content
                content = content.replace(old.encode(), new.encode())
            target.writestr(name, content)
    return read_ideas(folder / "a.xlsx", default_cutoff=None)


def test_the_first_sheet_of_a_workbook_holds_ideas(tmp_path: Path) -> None:
    cutoff = datetime(2024, 5, 17)  # noqa: DTZ001 -- as Excel has it
    rows = (["ID", "Text", "Cutoff", None], [7, MOTHS, cutoff, "x"], [], ["b", "Short"])
    batch = read(sheet_of(*rows), tmp_path)
    assert [(idea.idea_id, idea.cutoff_date) for idea in batch.ideas] == [("7", cutoff.date())]
    assert [entry.location for entry in batch.rejected] == ["a.xlsx row 4"]


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
    rows = (["id", "text", "cutoff_date"], ["a", MOTHS, cell], ["b", BEES, "2024-06-30"])
    batch = read(sheet_of(*rows), tmp_path)
    assert [(idea.idea_id, str(idea.cutoff_date)) for idea in batch.ideas] == [("b", "2024-06-30")]
    (rejected,) = batch.rejected
    assert rejected.location == "a.xlsx row 2"
    assert what in rejected.detail


def test_metadata_without_its_value_is_remarked(tmp_path: Path) -> None:
    batch = read(sheet_of(["id", "text", "score"], ["a", MOTHS, "=1+1"]), tmp_path)
    assert [idea.idea_id for idea in batch.ideas] == ["a"]
    assert batch.remarks[0].startswith("a.xlsx: cell C2 of the metadata 'score' is a formula")


def test_a_merged_range_holds_its_value_in_every_row(tmp_path: Path) -> None:
    sheet = sheet_of(
        ["id", "text", "cutoff_date", "group"],
        ["a", MOTHS, "2024-06-30", "g"],
        ["b", BEES, None, None],
        ["c", FISH, None, "h"],
    )
    sheet.merge_cells("C2:C4")
    sheet.merge_cells("D2:D3")
    ideas = read(sheet, tmp_path).ideas
    assert [str(idea.cutoff_date) for idea in ideas] == ["2024-06-30"] * 3
    assert [idea.group for idea in ideas] == ["g", "g", "h"]


def test_hidden_rows_and_columns_are_read_and_said(tmp_path: Path) -> None:
    sheet = sheet_of(["id", "text", "group"], ["a", MOTHS, "g"], ["b", BEES, "g"])
    sheet.row_dimensions[3].hidden = True
    sheet.column_dimensions["C"].hidden = True
    batch = read(sheet, tmp_path)
    assert [(idea.idea_id, idea.group) for idea in batch.ideas] == [("a", "g"), ("b", "g")]
    assert batch.remarks == tuple(
        f"a.xlsx: hidden {what} of the sheet 'Sheet' are read too: 1"
        for what in ("rows", "columns")
    )


def test_the_sheet_with_ideas_is_read_and_the_others_are_named(tmp_path: Path) -> None:
    first = sheet_of(["Read me"], ["This workbook holds the ideas of our group."])
    hidden, ideas = map(first.parent.create_sheet, ("Old", "Ideas"))
    for row in (["text"], [FISH]):
        hidden.append(row)
    hidden.sheet_state = "hidden"
    for row in (["Of 2026", None], [], ["id", "text"], ["a", MOTHS]):
        ideas.append(row)
    batch = read(first, tmp_path)
    assert [idea.text for idea in batch.ideas] == [MOTHS]
    assert batch.remarks == (
        "a.xlsx: only the sheet 'Ideas' is read, and not 'Sheet', 'Old'",
        "a.xlsx: the header is row 3, and what is above it is not read",
    )


def test_escapes_of_the_format_are_read(tmp_path: Path) -> None:
    text = f"# Moths_x000D_\n{MOTHS} _x03B1_ _xD83D__xDE00_"
    (idea,) = read(sheet_of(["id", "text"], ["a", text]), tmp_path).ideas
    assert (idea.title, idea.text) == ("Moths", f"# Moths\n{MOTHS} α 😀")


def test_numbers_of_rows_written_as_floats_are_identifiers(tmp_path: Path) -> None:
    batch = read_changed(tmp_path, SHEET, "<v>1</v>", "<v>1.0</v>")
    assert [idea.idea_id for idea in batch.ideas] == ["1"]


def row_xml(number: object) -> str:
    return f'<row r="{number}"><c r="B{number}" t="inlineStr"><is><t>{BEES}</t></is></c></row>'


@pytest.mark.parametrize("number", ["1048577", "1e9", "nan", "9" * 400])
def test_a_row_beyond_the_last_one_of_excel_is_refused(number: str, tmp_path: Path) -> None:
    changed = f'{row_xml(3)}<row r="{number}"/>{END}'
    with pytest.raises(IdeaFileError, match="and the last row of a sheet is 1,048,576"):
        read_changed(tmp_path, SHEET, END, changed)


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        (END, f"{row_xml(1048576)}{END}", [MOTHS, BEES]),
        ('ref="A1:B2"', 'ref="A1:B1"', [MOTHS]),
        (END, f'<row><c/><c t="inlineStr"><is><t>{BEES}</t></is></c></row>{END}', [MOTHS, BEES]),
    ],
    ids=["the last row of Excel", "beyond the declared size", "cells without an address"],
)
def test_every_row_of_an_odd_sheet_is_read(
    old: str, new: str, texts: list[str], tmp_path: Path
) -> None:
    assert [idea.text for idea in read_changed(tmp_path, SHEET, old, new).ideas] == texts


def test_a_formula_without_a_value_rejects_a_row_that_holds_nothing_else(tmp_path: Path) -> None:
    formula = f'<row r="5"><c r="B5"><f>A1</f></c></row>{END}'
    batch = read_changed(tmp_path, SHEET, END, formula)
    assert [rejected.location for rejected in batch.rejected] == ["a.xlsx row 5"]


_RELATIONS = "xl/_rels/workbook.xml.rels"
_FORMATS = f'<numFmts><numFmt numFmtId="164" formatCode="{"[" * 300}"/></numFmts>'


@pytest.mark.parametrize(
    ("part", "old", "new", "sheets", "message"),
    [
        (SHEET, END, f"{'<a/>' * 5_001}{END}", 1, "more than 5,000 XML elements that are no cells"),
        (STYLES, "</styleSheet>", f"{'<a/>' * 5_001}</styleSheet>", 1, "more than 5,000 XML"),
        (SHEET, END, f"<row>{'<c/>' * 5_001}", 1, "more than 5,000 XML elements that are no cells"),
        (
            SHEET,
            "<worksheet",
            '<!DOCTYPE x [<!ENTITY y "z">]><worksheet',
            1,
            "declares XML entities",
        ),
        (_RELATIONS, "sheet2.xml", "sheet1.xml", 2, r"two sheets of a\.xlsx share one content"),
        (SHEET, END, END, 101, r"a\.xlsx has 101 sheets, the limit is 100"),
        (
            STYLES,
            '<numFmts count="0"/>',
            _FORMATS,
            1,
            "a number format of more than 255 characters",
        ),
        (SHEET, END, f"{' ' * 2_000_000}{END}", 1, r"a\.xlsx, unpacked, has 2,\d{3},\d{3} bytes"),
    ],
    ids=["elements", "styles", "a row", "entities", "one part twice", "sheets", "formats", "bytes"],
)
def test_a_workbook_without_bounds_is_refused_unread(
    part: str,
    old: str,
    new: str,
    sheets: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tasks.ideas.workbook.MAXIMUM_HELD_ELEMENTS", 5_000)
    monkeypatch.setattr("tasks.ideas.workbook.MAXIMUM_DOCUMENT_BYTES", 1_000_000)
    with pytest.raises(IdeaFileError, match=message):
        read_changed(tmp_path, part, old, new, sheets)
