"""Reports as PDF, Word, BibTeX and JSON, read back by other readers."""

import json
import zipfile
from datetime import date
from functools import cache
from io import BytesIO

import pypdfium2
import pytest
from bibtexparser.entrypoint import parse_string
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st
from pylatexenc.latex2text import LatexNodes2Text

from dashboards.render import render
from dashboards.render.formats.any_format import data, document
from dashboards.render.formats.bib_file import bib_file
from dashboards.render.formats.blocks import Heading, Paragraph, Run, Table, blocks_of
from dashboards.render.formats.docx_file import docx_file
from dashboards.render.formats.pdf_file import pdf_file
from dashboards.render.formats.report_format import ReportFormat, format_of
from dashboards.render.safe_text import plain
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, PaperId
from schemas.literature.paper import Paper
from tests.support.report_lake import HOSTILE, HOSTILE_TEXT, RUN
from warehouse.warehouse import Warehouse

idea_report = cache(render.idea_report)  # several tests read the same page

IDEA = IdeaId("idea-00003")


def pdf_text(file: bytes) -> str:
    read = pypdfium2.PdfDocument(file)
    return "\n".join(page.get_textpage().get_text_range() for page in read)


def docx_text(file: bytes) -> str:
    read = Document(BytesIO(file))
    cells = [cell.text for table in read.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(paragraph.text for paragraph in read.paragraphs), *cells])


def report(warehouse: Warehouse, idea_id: IdeaId, output_format: ReportFormat) -> bytes:
    return document(
        lambda text: idea_report(warehouse, RUN, idea_id, text, full=True), idea_id, output_format
    )


@pytest.mark.parametrize(
    ("output_format", "text_of"), [(ReportFormat.PDF, pdf_text), (ReportFormat.DOCX, docx_text)]
)
def test_a_review_reads_in_the_same_order_whatever_its_format(
    warehouse: Warehouse, output_format: ReportFormat, text_of
) -> None:
    said = text_of(report(warehouse, IDEA, output_format))
    places = [
        said.index(heading)
        for heading in ("Not judged.", "Closest prior work", "Scores", "Bibliography")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("output_format", [ReportFormat.PDF, ReportFormat.DOCX])
def test_a_hostile_idea_is_mere_text_and_no_address_but_the_webs_is_linked(
    warehouse: Warehouse, output_format: ReportFormat
) -> None:
    file = report(warehouse, HOSTILE, output_format)
    if output_format is ReportFormat.PDF:
        assert "<script>alert(1)</script>" in pdf_text(file).replace("\r\n", "")
        for forbidden in (b"/JavaScript", b"/Launch", b"/EmbeddedFile", b"javascript:"):
            assert forbidden not in file
    else:
        assert "<script>alert(1)</script>" in docx_text(file)
        parts = zipfile.ZipFile(BytesIO(file))
        targets = parts.read("word/_rels/document.xml.rels").decode()
        assert "javascript:" not in targets
        assert "i.png" not in targets


def test_tables_wide_and_narrow_are_kept_whole_in_a_pdf() -> None:
    words = " ".join(f"word{number}" for number in range(400))
    wide = "|" + "h|" * 30 + "\n|" + "---|" * 30 + "\n|" + "".join(f"c{n}|" for n in range(30))
    said = pdf_text(pdf_file(f"# T\n\n| a | b |\n|---|---|\n| x | {words} |\n\n{wide}\n", "T"))
    assert all(f"word{number}" in said for number in range(400))
    assert all(f"c{number}" in said for number in range(30))


def test_characters_that_the_font_of_a_pdf_lacks_are_marked_and_counted() -> None:
    said = pdf_text(pdf_file("# Élan vital – α ≥ 3\n\n蛋白 known\n", "蛋白"))
    assert "Élan vital – α ≥ 3" in said
    assert "characters that the font of this file lacks" in said
    assert "font of this file lacks" not in pdf_text(pdf_file("# Known\n", "Known"))


@settings(max_examples=settings.default.max_examples // 5)  # each writes two documents
@given(st.text(max_size=200))
def test_no_text_breaks_a_document(text: str) -> None:
    markdown = f"# {plain(text)}\n\n| a |\n|---|\n| {plain(text)} |\n"
    assert pdf_file(markdown, text).startswith(b"%PDF")
    Document(BytesIO(docx_file(markdown, plain(text))))


def test_blocks_hold_headings_lists_tables_and_only_links_to_the_web() -> None:
    blocks = blocks_of("# A\n\n3. *b* [c](https://x.example)\n\n| d |\n|---|\n| [e](index.md) |\n")
    assert blocks[0] == Heading(1, (Run("A"),))
    assert isinstance(blocks[1], Paragraph)
    assert blocks[1].number == 3
    assert blocks[1].runs[-1] == Run("c", url="https://x.example")
    assert isinstance(blocks[2], Table)
    assert blocks[2].rows[1][0] == (Run("e"),)


def paper(number: int, **changes: object) -> Paper:
    fields = {
        "title": "On things",
        "authors": ("Ada Byron", "Laurens van der Maaten"),
        "venue": "Journal of Things",
        "year": 2020,
        "publication_date": date(2020, 3, 1),
        "url": "https://example.org/100%25_a",
        "doi": "10.1000/a_b",
        **changes,
    }
    return Paper(paper_id=PaperId(f"p{number}"), **fields)  # type: ignore[arg-type]


def test_every_cited_paper_has_an_entry_with_a_key_of_its_own() -> None:
    read = parse_string(bib_file([paper(1), paper(2), paper(3, authors=(), venue="")]))
    assert not read.failed_blocks
    assert [entry.key for entry in read.entries] == ["byron2020", "byron2020-2", "anonymous2020"]
    first = read.entries[0].fields_dict
    assert first["author"].value == "Ada Byron and Laurens van der Maaten"
    assert first["url"].value == "https://example.org/100%25_a"
    assert read.entries[2].entry_type == "misc"


ATTACK = "}} , note={x} @comment{ \\input{/etc/passwd} 100% $x$ #1 & _ ~ ^ \x00 \\write18{rm}"


def test_text_of_a_paper_can_neither_end_its_field_nor_act_as_latex() -> None:
    hostile = paper(
        1, title=ATTACK, authors=(ATTACK, "A and B"), venue=ATTACK, doi="10/{x}", url="javascript:x"
    )
    written = bib_file([hostile, paper(2)])
    read = parse_string(written)
    assert not read.failed_blocks
    assert len(read.entries) == 2
    fields = read.entries[0].fields_dict
    assert "note" not in fields
    assert "doi" not in fields
    assert fields["url"].value.startswith("https://doi.org/10/"), "the address of the paper is none"
    assert "\\input{" not in written
    assert "\\write18" not in written
    told = LatexNodes2Text().latex_to_text(fields["title"].value)
    assert "\\input/etc/passwd 100% $x$ #1 & _" in told  # the reader skips \\textbraceleft


@given(st.text(max_size=60), st.text(max_size=30))
def test_no_text_breaks_a_bib_file(title: str, author: str) -> None:
    read = parse_string(bib_file([paper(1, title=title, authors=(author,)), paper(2)]))
    assert not read.failed_blocks
    assert len(read.entries) == 2


def test_the_bib_of_an_idea_and_of_a_run_holds_what_is_cited(warehouse: Warehouse) -> None:
    def entries(idea_id: IdeaId | None) -> set[str]:
        read = parse_string(data(warehouse, RUN, idea_id, ReportFormat.BIB).decode())
        assert not read.failed_blocks
        return {entry.key for entry in read.entries}

    assert 0 < len(entries(IDEA)) < len(entries(None))


def test_json_holds_the_first_page_and_the_whole_review(warehouse: Warehouse) -> None:
    (found,) = json.loads(data(warehouse, RUN, IDEA, ReportFormat.JSON))
    assert found["first_page"]["verdict"] == "not judged", "it has no assessment"
    assert found["review"]["evaluation"]["idea"]["idea_id"] == IDEA
    hostile = json.loads(data(warehouse, RUN, HOSTILE, ReportFormat.JSON))
    assert hostile[0]["review"]["evaluation"]["idea"]["title"] == HOSTILE_TEXT


def test_the_format_follows_the_ending_and_an_unknown_one_is_refused() -> None:
    assert format_of("r.PDF") is ReportFormat.PDF
    for name in ("r.xyz", "r"):
        with pytest.raises(ConfigurationError, match="names no format; use one of"):
            format_of(name)
