"""Comments on a PDF's pages: at the quote where the page has it, else at its top, and bounded."""

import ctypes
import io

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from schemas.failure import SourceFailure
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from tasks.documents.pdf import CommentedPdf, PdfComment, with_comments
from tests.support.small_pdf import pdf_of

SETTINGS = DocumentSettings()
PAPER = pdf_of(
    [
        [
            ("On pebbles", 18.0, True),
            ("We found that twelve of the forty smo-", 10.0, False),
            ("oth pebbles had been washed twice.", 10.0, False),
        ],
        [("Nothing more was weighed on this page.", 10.0, False)],
    ]
)
QUOTE = "We found that twelve of the forty smooth pebbles had been washed twice."


def comment(quote: str, page: int = 1, said: str = "Twelve are not thirteen – √2.") -> PdfComment:
    return PdfComment(text=said, elsewhere=f"Not found: {said}", quote=quote, page=page)


async def commented(*comments: PdfComment, content: bytes = PAPER) -> CommentedPdf:
    written = await with_comments(content, "paper.pdf", comments, SETTINGS)
    assert isinstance(written, CommentedPdf), written
    return written


def annotations(content: bytes, page: int) -> list[tuple[int, str, int]]:
    """Kind, text and count of marked stretches of each annotation of a page."""
    opened = pdfium.PdfDocument(io.BytesIO(content))[page]
    found = []
    for number in range(raw.FPDFPage_GetAnnotCount(opened)):
        one = raw.FPDFPage_GetAnnot(opened, number)
        length = raw.FPDFAnnot_GetStringValue(one, b"Contents", None, 0)
        text = (ctypes.c_ushort * (length // 2))()
        raw.FPDFAnnot_GetStringValue(one, b"Contents", text, length)
        found.append(
            (
                raw.FPDFAnnot_GetSubtype(one),
                bytes(text).decode("utf-16-le").rstrip("\0"),
                raw.FPDFAnnot_CountAttachmentPoints(one),
            )
        )
    return found


async def test_a_comment_marks_its_quote_over_line_ends_and_hyphens() -> None:
    written = await commented(comment(QUOTE))
    assert written.at_quote == (True,)
    assert annotations(written.content, 0) == [
        (raw.FPDF_ANNOT_HIGHLIGHT, "Twelve are not thirteen – √2.", 2)
    ]
    assert annotations(written.content, 1) == []


async def test_a_quote_that_no_page_has_stands_at_the_top_of_its_page_and_says_so() -> None:
    written = await commented(
        comment("This sentence is on none of the pages.", page=2), comment("", page=99)
    )
    assert written.at_quote == (False, False)
    assert annotations(written.content, 0) == []
    notes = annotations(written.content, 1)
    assert [kind for kind, _, _ in notes] == [raw.FPDF_ANNOT_TEXT] * 2
    assert notes[0][1].startswith("Not found: ")


async def test_a_quote_with_a_footer_within_is_marked_as_far_as_it_is_whole() -> None:
    split = "oth pebbles had been washed twice. And then all were weighed once."
    written = await commented(comment(split))
    assert written.at_quote == (True,)


async def test_comments_that_a_pdf_has_already_stay() -> None:
    once = await commented(comment(QUOTE, said="First."))
    twice = await commented(comment(QUOTE, said="Second."), content=once.content)
    assert [text for _, text, _ in annotations(twice.content, 0)] == ["First.", "Second."]


async def test_what_cannot_be_read_gets_no_comments_and_a_reason() -> None:
    locked = pdf_of([[("Nobody reads this.", 10.0, False)]], encrypted=True)
    long = pdf_of([[("Page.", 10.0, False)]] * 3)
    for content, settings, reason in (
        (locked, SETTINGS, Reason.ENCRYPTED),
        (b"%PDF-1.4 and nothing more", SETTINGS, Reason.DAMAGED),
        (long, DocumentSettings(maximum_pages=2), Reason.TOO_MANY_PAGES),
    ):
        answer = await with_comments(content, "paper.pdf", [comment(QUOTE)], settings)
        assert isinstance(answer, SourceFailure)
        assert answer.reason is reason
