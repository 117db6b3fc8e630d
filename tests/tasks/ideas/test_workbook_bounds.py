"""Workbooks that would take too much time or memory: refused in one line, or read fast."""

import zipfile
from pathlib import Path

import openpyxl
import pytest

from schemas.errors import IdeaFileError
from schemas.idea import IdeaBatch
from tasks.ideas.read import read_ideas

MOTHS = "Problem: moths are heard by bats. Method: we record echoes of moths and of leaves."
BEES = "Problem: bees lose their way. Method: we track bees with radar around the hive."
SHEET = "xl/worksheets/sheet1.xml"


def read_changed(folder: Path, part: str, old: str, new: str, sheets: int = 1) -> IdeaBatch:
    """Read a workbook of one idea in which a part was changed."""
    book = openpyxl.Workbook()
    for row in (["id", "text"], ["a", MOTHS]):
        book.active.append(row)
    for number in range(1, sheets):
        book.create_sheet(f"Notes {number}").append(["nothing"])
    book.save(folder / "plain.xlsx")
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


def row_xml(number: object, column: str = "B") -> str:
    return (
        f'<row r="{number}"><c r="{column}{number}" t="inlineStr"><is><t>{BEES}</t></is></c></row>'
    )


@pytest.mark.parametrize("number", ["1048577", "1000000000", "1e9", "nan", "9" * 400])
def test_a_row_beyond_the_last_one_of_excel_is_refused(number: str, tmp_path: Path) -> None:
    changed = f'{row_xml(3)}<row r="{number}"/></sheetData>'
    with pytest.raises(IdeaFileError, match="and the last row of a sheet is 1,048,576"):
        read_changed(tmp_path, SHEET, "</sheetData>", changed)


def test_a_cell_in_the_last_row_of_excel_is_read_without_the_rows_between(tmp_path: Path) -> None:
    batch = read_changed(tmp_path, SHEET, "</sheetData>", f"{row_xml(1048576)}</sheetData>")
    assert [idea.text for idea in batch.ideas] == [MOTHS, BEES]


def test_rows_beyond_the_declared_size_of_a_sheet_are_read(tmp_path: Path) -> None:
    batch = read_changed(tmp_path, SHEET, 'ref="A1:B2"', 'ref="A1:B1"')
    assert [idea.text for idea in batch.ideas] == [MOTHS]


def test_a_formula_without_a_value_rejects_a_row_that_holds_nothing_else(tmp_path: Path) -> None:
    formula = '<row r="5"><c r="B5"><f>A1</f></c></row></sheetData>'
    batch = read_changed(tmp_path, SHEET, "</sheetData>", formula)
    assert [rejected.location for rejected in batch.rejected] == ["a.xlsx row 5"]


def test_cells_without_an_address_are_read(tmp_path: Path) -> None:
    cells = f'<row><c/><c t="inlineStr"><is><t>{BEES}</t></is></c></row></sheetData>'
    batch = read_changed(tmp_path, SHEET, "</sheetData>", cells)
    assert [idea.text for idea in batch.ideas] == [MOTHS, BEES]


@pytest.mark.parametrize(
    ("part", "end"), [(SHEET, "</sheetData>"), ("xl/styles.xml", "</styleSheet>")]
)
def test_elements_without_end_are_refused(part: str, end: str, tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match="more than 500,000 XML elements that are no cells"):
        read_changed(tmp_path, part, end, f"{'<a/>' * 500_001}{end}")


def test_a_row_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match="more than 500,000 XML elements that are no cells"):
        read_changed(tmp_path, SHEET, "</sheetData>", f"<row>{'<c/>' * 500_001}")


def test_entities_are_refused(tmp_path: Path) -> None:
    entity = '<!DOCTYPE x [<!ENTITY y "z">]><worksheet'
    with pytest.raises(IdeaFileError, match="declares XML entities"):
        read_changed(tmp_path, SHEET, "<worksheet", entity)


def test_sheets_that_share_one_part_are_refused(tmp_path: Path) -> None:
    relations = "xl/_rels/workbook.xml.rels"
    with pytest.raises(IdeaFileError, match=r"two sheets of a\.xlsx share one content"):
        read_changed(tmp_path, relations, "sheet2.xml", "sheet1.xml", sheets=2)


def test_more_than_a_hundred_sheets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(IdeaFileError, match=r"a\.xlsx has 101 sheets, the limit is 100"):
        read_changed(tmp_path, SHEET, "</sheetData>", "</sheetData>", sheets=101)


def test_a_number_format_without_end_is_refused(tmp_path: Path) -> None:
    formats = f'<numFmt numFmtId="164" formatCode="{"[" * 300}"/></numFmts>'
    with pytest.raises(IdeaFileError, match="a number format of more than 255 characters"):
        read_changed(tmp_path, "xl/styles.xml", '<numFmts count="0"/>', f"<numFmts>{formats}")
