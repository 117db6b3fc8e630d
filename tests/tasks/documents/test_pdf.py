import os
import random
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from schemas.failure import SourceFailure
from schemas.identifiers import PaperId
from schemas.literature.paper import SectionKind
from schemas.reasons import Passes, Reason
from schemas.settings import DocumentSettings
from tasks.documents import pdf
from tasks.documents.child import ChildEnd
from tasks.documents.document import PagedText, ParsedDocument, paper_sections
from tasks.documents.pdf import Line, OutlineEntry, read_pages, read_pdf
from tests.support.small_pdf import outlined, paper_pdf, pdf_from_objects, pdf_from_streams, pdf_of

REAL = Path(__file__).parents[4] / "shared" / "data" / "pdf"


async def parsed(content: bytes, settings: DocumentSettings) -> ParsedDocument:
    document = await read_pdf(content, "name", settings)
    assert isinstance(document, ParsedDocument), document
    return document


async def refused(content: bytes, settings: DocumentSettings) -> str:
    answer = await read_pdf(content, "name", settings)
    assert isinstance(answer, SourceFailure)
    assert (answer.source, answer.endpoint) == ("pdf", "name")
    return answer.reason


async def test_headings_are_found_by_size_weight_and_number(settings: DocumentSettings) -> None:
    document = await parsed(paper_pdf(), settings)
    assert document.title == "A Small Paper About Headings"
    assert document.abstract == "We abstract what we did."
    assert [(section.level, section.heading) for section in document.sections] == [
        (0, "1 Introduction"),
        (0, "2 Materials and Methods"),
        (1, "2.1 Cohort"),
        (0, "3 Results"),
        (0, "4 Conclusion"),
    ]
    sections = {section.section: section for section in paper_sections(PaperId("p"), document)}
    assert "forty people" in sections[SectionKind.METHODS].text
    assert "ten percent" in sections[SectionKind.RESULTS].text
    assert all(section.text_source == "pdf" for section in sections.values())


@pytest.mark.parametrize(
    ("name", "methods", "results", "related"),
    [
        ("MirrorMind.pdf", "MirrorMind Implementation", "Results and Analysis", "Related Work"),
        ("HybridQuestion.pdf", "Methodology", "Results", None),
        ("grobid_sample.pdf", "Methods", "Results", None),
    ],
)
async def test_the_sections_of_real_papers_are_found(
    name: str, methods: str, results: str, related: str | None
) -> None:
    if not (REAL / name).exists():
        pytest.skip("the shared data is not here")
    document = await parsed((REAL / name).read_bytes(), DocumentSettings())
    sections = {section.section: section for section in paper_sections(PaperId("p"), document)}
    assert document.title is not None
    assert 1000 < len(sections[SectionKind.ABSTRACT].text) < 3000
    assert (sections[SectionKind.METHODS].heading, sections[SectionKind.RESULTS].heading) == (
        methods,
        results,
    )
    found = sections.get(SectionKind.RELATED_WORK)
    assert (found.heading if found else None) == related
    assert all(
        len(sections[kind].text) > 3000 for kind in (SectionKind.METHODS, SectionKind.RESULTS)
    )
    assert "\ufffe" not in sections[SectionKind.METHODS].text
    assert ". . . ." not in sections[SectionKind.METHODS].text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "damaged"),
        (b"%PDF-1.7 nothing behind it", "damaged"),
        (random.Random(1).randbytes(50_000), "damaged"),
        (paper_pdf()[:400], "damaged"),
        (pdf_of([[("secret", 10.0, False)]], encrypted=True), "encrypted"),
        (pdf_of([[("x", 10.0, False)]] * 21), "too_many_pages"),
        (pdf_of([[]]), "no_text"),
    ],
)
async def test_what_cannot_be_read_has_a_reason(
    settings: DocumentSettings, content: bytes, reason: str
) -> None:
    assert await refused(content, settings) == reason


async def test_a_page_count_that_lies_costs_nothing(settings: DocumentSettings) -> None:
    answer = await read_pdf(
        pdf_of([[("One line of text", 10.0, False)]], page_count=2_000_000_000), "name", settings
    )
    assert isinstance(answer, ParsedDocument) or answer.reason in ("too_many_pages", "damaged")


async def test_a_page_that_takes_forever_is_stopped() -> None:
    slow = pdf_from_streams([b"BT /F1 9 Tf " + b"(abc) Tj 1 0 Td " * 2_000_000 + b" ET"])
    assert await refused(
        slow, DocumentSettings(parse_seconds=1, parse_memory_bytes=1_000_000_000)
    ) in (
        "parser_limit",
        "damaged",
        "too_large",
    )


async def test_a_reader_that_writes_without_end_is_stopped(
    settings: DocumentSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spy = tmp_path / "spy.py"
    spy.write_text("import sys\nwhile True: sys.stdout.write('x' * 1_000_000)", "utf-8")
    monkeypatch.setattr("tasks.documents.pdf._CHILD", spy)
    assert await refused(b"%PDF-", settings) == "parser_limit"


async def test_the_reader_gets_no_secrets(
    settings: DocumentSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    spy = tmp_path / "spy.py"
    spy.write_text(
        "import os, sys, json; sys.stdin.buffer.read()\n"
        "line = [0, ' '.join(os.environ), 9, False, 1]\n"
        "json.dump({'lines': [line], 'outline': [], 'title': '', 'page_count': 1}, sys.stdout)",
        "utf-8",
    )
    monkeypatch.setattr("tasks.documents.pdf._CHILD", spy)
    monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", "secret")
    document = await parsed(b"%PDF-", settings)
    assert "SEMANTIC_SCHOLAR_API_KEY" in os.environ
    assert "SEMANTIC" not in str(document)


LINE = '[0, "words", 9.0, false, 700.0]'
NONSENSE = (
    "",
    "[]",
    "null",
    '{"page_count": 1, "title": "", "lines": []}',
    f'{{"page_count": 0, "title": "", "outline": [], "lines": [{LINE}]}}',
    f'{{"page_count": 1, "title": "", "outline": [["x", -1, 0, null]], "lines": [{LINE}]}}',
    f'{{"page_count": 1, "title": "", "outline": [["x"]], "lines": [{LINE}]}}',
    '{"page_count": 1, "title": "", "outline": [], "lines": [[-1, "words", 9.0, false, 1.0]]}',
    '{"page_count": 1, "title": "", "outline": [], "lines": [[0, "words", NaN, false, 1.0]]}',
    '{"page_count": 1, "title": "", "outline": [], "lines": [[0, "words", 9.0, false, Infinity]]}',
    '{"page_count": 1, "title": "\\ud800", "outline": [], "lines": []}',
    '{"page_count": 1, "title": "", "outline": [], "lines": [[0, ["x"], 9.0, false, 1.0]]}',
    "[" * 100_000,
)


@pytest.mark.parametrize("answer", NONSENSE)
async def test_reply_of_a_hijacked_reader_is_validated(
    settings: DocumentSettings, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    ended = ChildEnd(0, answer.encode(), "", 1)
    monkeypatch.setattr("tasks.documents.pdf.run_child", AsyncMock(return_value=ended))
    assert await refused(b"%PDF-", settings) == "damaged"
    assert isinstance(await read_pages(b"%PDF-", "name", settings), SourceFailure)


HOSTILE = {
    "an outline that leads back to itself": outlined(
        b"<< /Title (a) /Next 7 0 R /First 7 0 R /Dest [3 0 R /Fit] >>"
    ),
    "two bookmarks that lead to each other": outlined(
        b"<< /Title (a) /Next 8 0 R /Dest [3 0 R /Fit] >>",
        b"<< /Title (b) /Next 7 0 R /First 7 0 R /Dest [3 0 R /Fit] >>",
    ),
    "bookmarks 20,000 deep": outlined(
        *(b"<< /Title (a) /First %d 0 R >>" % (number + 1) for number in range(7, 20_007))
    ),
    "a bookmark of half a letter": outlined(
        b"<< /Title <FEFFD800D800> /Dest [3 0 R /XYZ 0 1e39 0] >>"
    ),
    "arrays 200,000 deep": outlined(extra=b"/Z " + b"[" * 200_000),
    "a page of no measure": outlined(extra=b"/MediaBox [0 0 1e38 1e38] /UserUnit 1e30"),
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_structure_costs_no_text(settings: DocumentSettings, kind: str) -> None:
    pages = await read_pages(HOSTILE[kind], "name", settings)
    assert isinstance(pages, PagedText), pages
    assert pages.pages == ("Hello there world",)
    await parsed(HOSTILE[kind], settings)


@pytest.mark.parametrize(
    "content",
    [
        pdf_from_objects(
            b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R] /Count 5 >>"
        ),
        pdf_from_objects(
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [1 0 R 2 0 R 3 0 R] /Count 1 >>",
        ),
        pdf_from_objects(b"<< /Type /Catalog /Pages 1 0 R >>"),
    ],
)
async def test_pages_that_lead_back_to_themselves_are_a_reason(
    settings: DocumentSettings, content: bytes
) -> None:
    assert await refused(content, settings) in ("no_text", "damaged")


def test_the_letters_of_a_line_are_made_once_however_many_bookmarks_look_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [Line(0, f"ab cd {number}", 9.0, False, 700.0) for number in range(5_000)]
    outline = [OutlineEntry(f"x {number}", 0, 0, None) for number in range(500)]
    made: list[str] = []
    letters = pdf._letters
    monkeypatch.setattr(pdf, "_letters", lambda text: made.append(text) or letters(text))
    pdf.document_of(lines, outline, "")
    assert len(made) < 10 * len(lines)


async def test_a_reader_that_a_busy_machine_holds_up_may_be_tried_again(
    settings: DocumentSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What depends on the machine is no lasting failure of the document: what passes by itself is
    not kept.
    """
    spy = tmp_path / "spy.py"
    spy.write_text("import time; time.sleep(600)", "utf-8")
    monkeypatch.setattr("tasks.documents.pdf._CHILD", spy)
    monkeypatch.setattr("tasks.documents.child._WALL_SECONDS_PER_CPU_SECOND", 1)
    reason = await refused(b"%PDF-", settings.model_copy(update={"parse_seconds": 1.0}))
    assert Reason(reason).passes is Passes.BY_ITSELF
