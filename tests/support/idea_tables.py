"""Tables of ideas as people export them, written without the libraries that read them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from html import escape
from io import BytesIO
from zipfile import ZipFile

from hypothesis import strategies as st

NAMES = {
    "idea_id": ("id", "Idea ID", "ideaId", "Identifier"),
    "title": ("title", "Idea Title", "TITLE", "Title (short)"),
    "problem": ("problem", "Problem Statement", "Research Problem", "problemStatement"),
    "method": ("method", "Proposed Method", "Methods", "solution_approach", "Method [words]"),
    "experiment": ("Experiments", "experiment-design", "Experiment Plan", "Evaluation Plan"),
    "motivation": ("Motivation", "Background", "short_hypothesis", "Related Work"),
    "abstract": ("Abstract", "Description", "Summary of the idea"),
    "cutoff_date": ("cutoff_date", "Cut-off", "Cutoff (date)", "knowledgeCutoff"),
    "group": ("group", "Group"),
    "unknown": ("Grand Scheme", "Bemerkungen", "col_7"),
}
JUDGED = ("problem", "method", "experiment", "motivation", "abstract")
_DATES = (
    *("{0:%Y-%m-%d}", "{0:%d.%m.%Y}", "{0:%Y/%m/%d}", "{0:%B} {0.day}, {0.year}", "{0:%d-%b-%Y}"),
    *("{0:%d/%m/%Y}", "{0:%Y-%m-%d} 00:00:00", "{0:%Y%m%d}"),
)
_ABOVE = ([], [["Ideas of our group 2026"]], [["# exported"], []], [["Ideas", "", "Meta"]])


@dataclass(frozen=True, slots=True)
class Row:
    """One idea as it was meant: values by part, and what is wrong with how it is written."""

    values: dict[str, str]
    cutoff: date | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class IdeaTable:
    """A file of ideas, with where each row stands in it."""

    name: str
    content: bytes
    columns: dict[str, str]
    rows: tuple[Row, ...]
    locations: tuple[str, ...] = field(default=())


@st.composite
def idea_tables(draw: st.DrawFn) -> IdeaTable:
    """Tables of every delimiter, encoding and header, and workbooks."""
    parts = draw(st.sets(st.sampled_from(JUDGED), min_size=1)) | draw(
        st.sets(st.sampled_from(("idea_id", "title", "cutoff_date", "group", "unknown")))
    )
    order = draw(st.permutations(sorted(parts)))
    columns = {part: draw(st.sampled_from(NAMES[part])) for part in order}
    name = draw(st.sampled_from(("a.csv", "a.tsv", "a.xlsx")))
    count = draw(st.integers(1, 5))
    rows = tuple(draw(_rows(order, number, workbook=name == "a.xlsx")) for number in range(count))
    above = draw(st.sampled_from(_ABOVE))
    if name == "a.xlsx":
        return _workbook(draw, name, above, columns, rows)
    return _delimited(draw, name, above, columns, rows)


@st.composite
def _rows(draw: st.DrawFn, order: Sequence[str], number: int, *, workbook: bool) -> Row:
    values: dict[str, str] = {}
    cutoff = None
    for part in order:
        if part == "idea_id":
            values[part] = draw(st.sampled_from((f"i{number}", f"{number + 1}.0")))
        elif part == "cutoff_date":
            cutoff = date(2019, 1, 1) + timedelta(draw(st.integers(0, 2_000)))
            values[part] = draw(st.sampled_from(_DATES)).format(cutoff)
        elif part == "group":
            values[part] = "g"
        elif part == "title":
            values[part] = f"Idea T{number}x about bats"
        else:
            values[part] = draw(_prose(f"W{number}{part}"))
    faults = ("", "formula", "error") if workbook else ("", "", "open")
    fault = draw(st.sampled_from((*faults, "", "")))
    return Row(values, cutoff, fault)


def _prose(marker: str) -> st.SearchStrategy[str]:
    """A text of several words that holds a marker nobody else has, at its start and end."""
    filling = st.lists(
        st.sampled_from(
            (
                *("moths, bats", 'a "quoted" word', "10,000 echoes", "we compare; then stop"),
                *("first line\nsecond line", "first, one\n\nthen, another", "a | b", "ünï — 中文"),
                *("it's", "x < y", "(see 3.2)", "tab\tinside"),
            )
        ),
        max_size=4,
    )
    return filling.map(lambda words: f"{marker} we study {' and '.join(words)} of the {marker}z")


def _delimited(
    draw: st.DrawFn,
    name: str,
    above: Sequence[Sequence[str]],
    columns: dict[str, str],
    rows: tuple[Row, ...],
) -> IdeaTable:
    delimiter = "\t" if name.endswith("tsv") else draw(st.sampled_from(",;\t|"))
    ending = draw(st.sampled_from(("\n", "\r\n")))
    encoding = draw(st.sampled_from(("utf-8", "utf-8-sig", "utf-16")))
    everywhere = len(columns) == 1 or draw(st.booleans())

    def cell(text: str) -> str:
        special = any(mark in text for mark in (delimiter, '"', "\n", "\r"))
        return f'"{text.replace(chr(34), chr(34) * 2)}"' if special or everywhere else text

    lines = [delimiter.join(map(cell, row)) for row in above]
    lines += ["sep=" + delimiter] if not above and draw(st.booleans()) else []
    lines.append(delimiter.join(map(cell, columns.values())))
    broken = [part for part in columns if part in JUDGED][-1]
    locations, text = [], ending.join(lines) + ending
    for row in rows:
        locations.append(f"{name} line {text.count(chr(10)) + 1}")
        cells = [
            f'"{row.values[part].replace(chr(34), "")}'
            if row.fault == "open" and part == broken
            else cell(row.values[part])
            for part in columns
        ]
        text += delimiter.join(cells) + ending
    return IdeaTable(name, text.encode(encoding), columns, rows, tuple(locations))


def _workbook(
    draw: st.DrawFn,
    name: str,
    above: Sequence[Sequence[str]],
    columns: dict[str, str],
    rows: tuple[Row, ...],
) -> IdeaTable:
    """A workbook as XML, in which dates and groups may stand once for all rows."""
    merged = [
        part for part in ("group",) if part in columns and len(rows) > 1 and draw(st.booleans())
    ]
    hidden = draw(st.integers(0, len(rows)))
    faulty = next(part for part in columns if part in (*JUDGED, "cutoff_date", "group"))
    lines = [*(list(row) for row in above), list(columns.values())]
    start = len(lines) + 1
    body = ""
    for number, line in enumerate(lines, start=1):
        body += _row_xml(number, [_text_xml(at, number, text) for at, text in enumerate(line)])
    for number, row in enumerate(rows, start=start):
        cells = []
        for at, part in enumerate(columns):
            place = f"{chr(65 + at)}{number}"
            if part in merged and number > start:
                cells.append(f'<c r="{place}"/>')
            elif part == faulty and row.fault == "formula":
                cells.append(f'<c r="{place}"><f>CONCAT("a","b")</f></c>')
            elif part == faulty and row.fault == "error":
                cells.append(f'<c r="{place}" t="e"><v>#REF!</v></c>')
            else:
                cells.append(_text_xml(at, number, row.values[part]))
        body += _row_xml(number, cells, hidden=number - start < hidden)
    ranges = "".join(
        f'<mergeCell ref="{chr(65 + at)}{start}:{chr(65 + at)}{start + len(rows) - 1}"/>'
        for at, part in enumerate(columns)
        if part in merged
    )
    locations = tuple(f"{name} row {number}" for number in range(start, start + len(rows)))
    return IdeaTable(name, _zipped(body, ranges), columns, rows, locations)


def _row_xml(number: int, cells: Sequence[str], *, hidden: bool = False) -> str:
    return f'<row r="{number}"{" hidden=" + chr(34) + "1" + chr(34) if hidden else ""}>{"".join(cells)}</row>'


def _text_xml(at: int, number: int, text: str) -> str:
    written = escape(text.replace("\n", "_x000D_\n"))
    return f'<c r="{chr(65 + at)}{number}" t="inlineStr"><is><t xml:space="preserve">{written}</t></is></c>'


_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def _zipped(body: str, ranges: str) -> bytes:
    merges = f"<mergeCells>{ranges}</mergeCells>" if ranges else ""
    files = {
        "[Content_Types].xml": (
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels"'
            ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{_SHEET_TYPE}.sheet.main+xml"/>'
            f'<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{_SHEET_TYPE}.worksheet+xml"/>'
            "</Types>"
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1"'
            f' Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": (
            f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="Ideas"'
            ' sheetId="1" r:id="r1"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1"'
            f' Type="{_OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
        ),
        "xl/worksheets/sheet1.xml": (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{body}</sheetData>{merges}</worksheet>'
        ),
    }
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for path, content in files.items():
            archive.writestr(path, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return stream.getvalue()
