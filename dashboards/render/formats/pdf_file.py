"""A report as a PDF, in a font that comes with a package: no system font is needed."""

from collections.abc import Sequence
from importlib import resources

from fpdf import FPDF, FontFace
from fpdf.fonts import TTFFont

from dashboards.render.formats.blocks import (
    Block,
    Heading,
    Paragraph,
    ParagraphKind,
    Run,
    Table,
    blocks_of,
    plain_text,
)

_FONT = "Roboto"
_FACES = {"": "Regular", "B": "Bold", "I": "Italic", "BI": "BoldItalic"}
_TEXT_POINTS, _TABLE_POINTS, _LINE_MILLIMETRES = 10, 7.5, 5.2
_HEADING_POINTS = {1: 18, 2: 14, 3: 11.5}
_INDENT_MILLIMETRES = 6
_TEXT_COLOUR, _LINK_COLOUR = (0, 0, 0), (11, 92, 173)
_MOST_COLUMNS, _LONGEST_CELL_CHARACTERS = 8, 240
_UNKNOWN = "\ufffd"


def pdf_file(markdown: str, title: str) -> bytes:
    """The document. What its font cannot show is marked, and counted on the last line; nothing is
    loaded from anywhere.
    """
    writer = _Writer(title)
    for block in blocks_of(markdown):
        writer.add(block)
    writer.add_note()
    return bytes(writer.pdf.output())


class _Writer:
    """Puts blocks on pages."""

    def __init__(self, title: str) -> None:
        self.pdf = FPDF(format="A4")
        self.pdf.set_creator("Assay")
        for style, face in _FACES.items():
            with resources.as_file(
                resources.files("font_roboto") / "files" / f"Roboto-{face}.ttf"
            ) as path:
                self.pdf.add_font(_FONT, style, path)
        font = self.pdf.fonts[_FONT.lower()]
        assert isinstance(font, TTFFont)
        self._known = frozenset(font.cmap)
        self._unknown_count = 0
        self.pdf.set_title(self._shown(title))
        self.pdf.set_auto_page_break(auto=True, margin=18)
        self.pdf.add_page()

    def add(self, block: Block) -> None:
        if isinstance(block, Heading):
            points = _HEADING_POINTS.get(block.level, _TEXT_POINTS)
            self.pdf.ln(_LINE_MILLIMETRES / 2)
            self._write([Run(run.text, bold=True, url=run.url) for run in block.runs], points)
        elif isinstance(block, Paragraph):
            self._paragraph(block)
        elif _fits(block):
            self._table(block)
        else:
            for paragraph in _stacked(block):
                self._paragraph(paragraph)

    def add_note(self) -> None:
        if self._unknown_count:
            told = (
                f"{self._unknown_count:,} characters that the font of this file lacks are shown as"
                f" {_UNKNOWN}; the other formats have them."
            )
            self._paragraph(Paragraph(ParagraphKind.TEXT, (Run(told, italic=True),)))

    def _paragraph(self, block: Paragraph) -> None:
        marks = {ParagraphKind.BULLET: "• ", ParagraphKind.NUMBER: f"{block.number}. "}
        indent = 0 if block.kind is ParagraphKind.TEXT else _INDENT_MILLIMETRES
        margin = self.pdf.l_margin
        self.pdf.set_left_margin(margin + indent)
        self.pdf.set_x(margin + indent)
        self._write([Run(marks.get(block.kind, "")), *block.runs], _TEXT_POINTS)
        self.pdf.set_left_margin(margin)
        self.pdf.set_x(margin)

    def _write(self, runs: Sequence[Run], points: float) -> None:
        height = _LINE_MILLIMETRES * points / _TEXT_POINTS
        for run in runs:
            style = f"{'B' * run.bold}{'I' * run.italic}"
            self.pdf.set_font(_FONT, style, points)
            self.pdf.set_text_color(*(_LINK_COLOUR if run.url else _TEXT_COLOUR))
            if run.text:
                self.pdf.write(height, self._shown(run.text), run.url)
        self.pdf.set_text_color(*_TEXT_COLOUR)
        self.pdf.ln(height + 1)

    def _table(self, block: Table) -> None:
        self.pdf.set_font(_FONT, "", _TABLE_POINTS)
        headings = FontFace(emphasis="BOLD", fill_color=(235, 238, 241))
        with self.pdf.table(headings_style=headings, text_align="LEFT") as table:
            for cells in block.rows:
                row = table.row()
                for runs in cells:
                    url = next((run.url for run in runs if run.url), None)
                    row.cell(self._shown(plain_text(runs)), link=url)
        self.pdf.ln(2)

    def _shown(self, text: str) -> str:
        """`text` with a mark for every character that the font lacks."""
        known = [sign if ord(sign) in self._known or sign == "\n" else _UNKNOWN for sign in text]
        self._unknown_count += sum(a != b for a, b in zip(text, known, strict=True))
        return "".join(known)


def _fits(table: Table) -> bool:
    """Whether every row of it surely finds room on a page."""
    longest = max((len(plain_text(cell)) for row in table.rows for cell in row), default=0)
    return len(table.rows[0]) <= _MOST_COLUMNS and longest <= _LONGEST_CELL_CHARACTERS


def _stacked(table: Table) -> list[Paragraph]:
    """A paragraph per row: its first cell, then each other one behind its heading."""
    headings, *rows = table.rows
    found = []
    for first, *rest in rows:
        runs = [*first]
        for heading, cell in zip(headings[1:], rest, strict=True):
            if plain_text(cell).strip():
                runs += [Run(f"; {plain_text(heading)}: ", italic=True), *cell]
        found.append(Paragraph(ParagraphKind.BULLET, tuple(runs)))
    return found
