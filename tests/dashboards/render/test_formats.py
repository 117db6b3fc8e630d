"""Reports as PDF, Word, BibTeX and JSON, read back by other readers."""

import re
import zipfile
from datetime import date
from functools import cache
from io import BytesIO

import pypdfium2
import pytest
from bibtexparser.entrypoint import parse_string
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pylatexenc.latex2text import LatexNodes2Text

from dashboards.render.formats.bib_file import bib_file
from dashboards.render.formats.html import html_page
from dashboards.render.formats.markdown import markdown_page
from dashboards.render.formats.markdown_blocks import read_blocks
from dashboards.render.formats.pandoc import pdf_file, word_file
from dashboards.render.formats.report_file import data, document
from dashboards.render.formats.report_file import published_idea as idea_of
from dashboards.render.formats.report_format import ReportFormat, format_of
from dashboards.render.page import (
    Block,
    Code,
    Figure,
    Heading,
    Listing,
    Page,
    Paragraph,
    Quote,
    Span,
    Table,
    facts,
    heading,
    line,
    link,
    report,
    strong,
    table,
    text,
)
from schemas.errors import ConfigurationError
from schemas.identifiers import IdeaId, PaperId
from schemas.literature.paper import Paper
from tests.support.report_lake import HOSTILE, RUN
from tests.support.reports import word_text
from warehouse.warehouse import Warehouse

published_idea = cache(idea_of)  # several tests read the same page

IDEA = IdeaId("idea-00003")


def pdf_text(file: bytes) -> str:
    read = pypdfium2.PdfDocument(file)
    return "\n".join(page.get_textpage().get_text_range() for page in read)


def report_of(warehouse: Warehouse, idea_id: IdeaId, output_format: ReportFormat) -> bytes:
    return document(published_idea(warehouse, RUN, idea_id, full=True), output_format)


@pytest.mark.parametrize("output_format", [ReportFormat.PDF, ReportFormat.DOCX])
def test_a_hostile_idea_is_mere_text_and_no_address_but_the_webs_is_linked(
    warehouse: Warehouse, output_format: ReportFormat
) -> None:
    file = report_of(warehouse, HOSTILE, output_format)
    if output_format is ReportFormat.PDF:
        assert "<script>alert(1)</script>" in pdf_text(file).replace("\r\n", "")
        for forbidden in (b"/JavaScript", b"/Launch", b"/EmbeddedFile"):
            assert forbidden not in file
        linked = re.findall(rb"/URI ?\(([^)]*)\)", file)
        assert linked == [], "no address of it is one of the web"
    else:
        assert "<script>alert(1)</script>" in word_text(file)
        parts = zipfile.ZipFile(BytesIO(file))
        targets = parts.read("word/_rels/document.xml.rels").decode()
        assert "javascript:" not in targets
        assert "i.png" not in targets


def page_of(*blocks: Block, title: str = "T") -> Page:
    return Page(line(title), blocks)


def test_tables_wide_and_narrow_are_kept_whole_in_a_pdf() -> None:
    words = " ".join(f"word{place}" for place in range(400))
    wide = table([f"h{place}" for place in range(30)], [[f"c{place}" for place in range(30)]])
    told = pdf_text(pdf_file(page_of(table(("a", "b"), [("x", words)]), wide)))
    assert all(f"word{place}" in told for place in range(400))
    assert all(f"c{place}" in told for place in range(30))


def test_characters_that_no_font_has_are_named_in_a_pdf() -> None:
    told = pdf_text(pdf_file(page_of(text("Élan vital – α ≥ 3 \U00013000"), title="Title")))
    assert "Élan vital – α ≥ 3" in told
    assert "appear as empty boxes: U+13000." in " ".join(told.split())
    assert "empty boxes" not in pdf_text(pdf_file(page_of(text("Known α"))))


def test_a_pdf_has_a_title_tags_bookmarks_and_links() -> None:
    blocks = (heading("First"), heading("Below", level=4), text(link("x", "https://x.example/a")))
    file = pdf_file(page_of(*blocks, title="The title"))
    read = pypdfium2.PdfDocument(file)
    assert read.get_metadata_dict()["Title"] == "The title"
    assert [(each.get_title(), each.level) for each in read.get_toc()] == [
        ("First", 0),
        ("Below", 1),
    ]
    assert b"StructTreeRoot" in file
    assert b"https://x.example/a" in file


TEXTS = st.text(max_size=200) | st.sampled_from(
    ("#set page(", "$ x $", "\\input{x}", "```{=html}\n<b>\n```", '#read("/etc/passwd")', "@a <b>")
)


@settings(max_examples=settings.default.max_examples // 5)  # each writes two documents
@given(TEXTS)
@example("a \ufffe b \uffff c")
def test_no_text_breaks_a_document_or_acts_in_it(words: str) -> None:
    page = page_of(table(("a",), [(words,)]), title=words)
    assert pdf_file(page).startswith(b"%PDF")
    (cell,) = (each[0] for each in page.blocks[0].rows)  # type: ignore[union-attr]
    assert word_text(word_file(page)).split("\n")[-1] == "".join(span.text for span in cell)


PLAIN = Figure(
    "bars-1", "Bars", '<svg viewBox="0 0 9 9"><circle r="2"/></svg>', "Few.", "a: 1", (9, 9)
)


def test_a_drawing_has_alternative_text_and_a_caption_in_every_format_that_shows_it() -> None:
    page = page_of(PLAIN)
    assert PLAIN.svg in html_page(page)
    assert "![Bars](bars-1.svg)" in markdown_page(page, pictures=True)
    assert "bars-1" not in markdown_page(page)
    assert "Few." in pdf_text(pdf_file(page))
    parts = zipfile.ZipFile(BytesIO(word_file(page)))
    assert any(name.startswith("word/media/") for name in parts.namelist())
    assert "Bars. a: 1" in parts.read("word/document.xml").decode()


def test_one_page_says_the_same_in_markdown_and_html() -> None:
    page = page_of(
        facts("1 paper", "", strong("two")),
        table(("a", "b:"), [(link("x", "https://x.example"), None)]),
        text(report("the ranking", "ranking")),
    )
    written, html = markdown_page(page), html_page(page)
    assert "1 paper · **two**" in written
    assert "1 paper · <strong>two</strong>" in html
    assert "| [x](https://x.example) | – |" in written
    assert '<td style="text-align:right">–</td>' in html
    assert "[the ranking](ranking.md)" in written
    assert '<a href="ranking.html">the ranking</a>' in html


def test_code_is_kept_whole_whatever_fences_stand_in_it() -> None:
    for fence in ("", "`", "```", "`" * 300_000):
        (shown,) = MarkdownIt().parse(
            markdown_page(Page((), (Code(f"a {fence} b\n{fence}\n```"),)))
        )
        assert (shown.type, shown.content) == ("fence", f"a {fence} b\n{fence}\n```\n")


def test_an_exclamation_mark_before_a_link_makes_no_picture_of_it() -> None:
    for linked in (link("x", "https://x.example"), report("the ranking", "ranking")):
        written = markdown_page(page_of(text("Read this!", "", linked)))
        html = MarkdownIt().render(written)
        assert "<img" not in html
        assert "Read this!<a href=" in html


def test_markdown_of_a_draft_is_read_with_lists_links_to_the_web_and_tables() -> None:
    first, numbered, cells = read_blocks(
        "# A\n\n3. *b* [c](https://x.example)\n\n| d |\n|---|\n| [e](x.md) |\n"
    )
    assert first == Heading((Span("A"),), 1)
    assert isinstance(numbered, Listing)
    assert numbered.first == 3
    assert numbered.items[0][0].line[-1] == Span("c", url="https://x.example")  # type: ignore[union-attr]
    assert isinstance(cells, Table)
    assert cells.rows == (((Span("[e](x.md)"),),),)


def test_signs_that_a_draft_spells_as_entities_are_no_structure_of_a_report() -> None:
    blocks = read_blocks("a&#10;&#10;# Heading\x1b[31m&#8238;b `c`\n\n> d&#13;e\n")
    assert blocks == (
        Paragraph((Span("a # Heading [31m b "), Span("c", code=True))),
        Quote((Paragraph((Span("d e"),)),)),
    )


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


def test_the_format_follows_the_ending_and_an_unknown_one_is_refused() -> None:
    assert format_of("r.PDF") is ReportFormat.PDF
    for name in ("r.xyz", "r"):
        with pytest.raises(ConfigurationError, match="names no format; use one of"):
            format_of(name)
