"""A report as a Word document."""

from collections.abc import Sequence
from io import BytesIO

from docx import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.text.paragraph import Paragraph as DocxParagraph

from dashboards.render.formats.blocks import (
    Heading,
    Paragraph,
    ParagraphKind,
    Run,
    Table,
    blocks_of,
)

_STYLES = {
    ParagraphKind.TEXT: None,
    ParagraphKind.QUOTE: "Quote",
    ParagraphKind.BULLET: "List Bullet",
    ParagraphKind.NUMBER: None,
}
_DEEPEST_HEADING = 9


def docx_file(markdown: str, title: str) -> bytes:
    """The document; every link leads to an http(s) address, and nothing is loaded from there."""
    document = Document()
    document.core_properties.title = title[:255]
    document.core_properties.author = "Assay"
    for block in blocks_of(markdown):
        if isinstance(block, Heading):
            _write(document.add_heading(level=min(block.level, _DEEPEST_HEADING)), block.runs)
        elif isinstance(block, Paragraph):
            paragraph = document.add_paragraph(style=_STYLES[block.kind])
            if block.kind is ParagraphKind.NUMBER:
                paragraph.add_run(f"{block.number}. ")
            _write(paragraph, block.runs)
        elif isinstance(block, Table):
            table = document.add_table(rows=0, cols=len(block.rows[0]), style="Table Grid")
            for row in block.rows:
                for cell, runs in zip(table.add_row().cells, row, strict=True):
                    _write(cell.paragraphs[0], runs)
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def _write(paragraph: DocxParagraph, runs: Sequence[Run]) -> None:
    for run in runs:
        made = paragraph.add_run(run.text)
        made.bold, made.italic = run.bold or None, run.italic or None
        if run.url:
            made.font.underline = True
            link = OxmlElement("w:hyperlink")
            target = paragraph.part.relate_to(
                run.url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True
            )
            link.set(qn("r:id"), target)
            link.append(made._r)
            paragraph._p.append(link)
