import asyncio
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.failure import SourceFailure
from schemas.literature.paper import SectionKind
from schemas.reasons import Reason
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.full_text import FullTextLibrary
from tests.support.document_server import DocumentServer, Reply
from tests.support.papers_with_links import paper
from tests.support.small_pdf import paper_pdf, pdf_of
from warehouse.stores.keyed_store import KeyedStore

GROBID = "/api/processFulltextDocument"
TEI = (
    b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><div><head>Methods</head><p>By'
    b" GROBID.</p></div><div><head>Results</head><p>Good.</p></div></body></text></TEI>"
)


def library(
    settings: DocumentSettings,
    ledger: Ledger,
    *,
    grobid: str | None = None,
    store: Path | None = None,
    links: tuple[str, ...] | SourceFailure | None = None,
) -> FullTextLibrary:
    async def open_copies(_: str) -> tuple[str, ...] | SourceFailure:
        assert links is not None
        return links

    return FullTextLibrary(
        settings=settings,
        grobid_url=grobid,
        open_copies=None if links is None else open_copies,
        store=KeyedStore(store) if store else None,
        ledger=ledger,
        allow_private_addresses=True,
    )


async def test_a_paper_with_an_open_copy_gives_its_sections(
    server: DocumentServer, settings: DocumentSettings, ledger: Ledger
) -> None:
    server.replies["/a.pdf"] = [Reply(body=paper_pdf())]
    answer = await library(settings, ledger).sections(
        [paper(open_access_pdf_url=f"{server.url}/a.pdf")]
    )
    assert answer.failures == ()
    assert [(section.section, section.text_source) for section in answer.items] == [
        (kind, "pdf") for kind in (SectionKind.ABSTRACT, SectionKind.METHODS, SectionKind.RESULTS)
    ]


async def test_a_paper_without_open_copy_keeps_its_abstract_and_says_why(
    settings: DocumentSettings, ledger: Ledger
) -> None:
    answer = await library(settings, ledger).sections(
        [paper(), paper(paper_id="p2", abstract=None)]
    )
    assert [(section.paper_id, section.text, section.text_source) for section in answer.items] == [
        ("p1", "What the source says.", "metadata")
    ]
    assert [failure.reason for failure in answer.failures] == [
        "no_open_access",
        "no_open_access",
        "no_abstract",
    ]


async def test_without_downloads_only_what_is_stored_is_read(
    server: DocumentServer, settings: DocumentSettings, ledger: Ledger, tmp_path: Path
) -> None:
    server.replies["/a.pdf"] = [Reply(body=paper_pdf())]
    known, other = (paper(open_access_pdf_url=f"{server.url}/{name}.pdf") for name in "ab")
    store = tmp_path / "documents.sqlite"
    fetched = await library(settings, ledger, store=store).document(known)
    asked = len(server.asked)
    stored = library(settings, ledger, store=store)
    stored.downloads = False
    assert await stored.document(known) == fetched
    lost = await stored.document(other)
    assert isinstance(lost, SourceFailure)
    assert lost.reason is Reason.NOT_LOOKED_FOR
    assert len(server.asked) == asked


async def test_further_copies_are_asked_for_when_the_link_leads_to_a_web_page(
    server: DocumentServer, settings: DocumentSettings, ledger: Ledger
) -> None:
    server.replies["/landing"] = [Reply(body=b"<html>", headers={"Content-Type": "text/html"})]
    server.replies["/a.pdf"] = [Reply(body=paper_pdf())]
    further = library(settings, ledger, links=(f"{server.url}/a.pdf",))
    landing = f"{server.url}/landing"
    answer = await further.sections([paper(doi="10.1/x", open_access_pdf_url=landing)])
    assert answer.failures == ()
    assert [(call.source, call.failure_reason) for call in ledger.api_calls] == [
        ("download", "not_a_pdf"),
        ("download", None),
    ]


@pytest.mark.parametrize(
    ("content", "source", "reason"),
    [
        (pdf_of([[("x", 9.0, False)]], encrypted=True), "pdf", "encrypted"),
        (pdf_of([[("An essay without any headings at all.", 10.0, False)]]), "pdf", "no_sections"),
    ],
)
async def test_text_without_sections_is_a_failure_beside_the_abstract(
    server: DocumentServer,
    settings: DocumentSettings,
    ledger: Ledger,
    content: bytes,
    source: str,
    reason: str,
) -> None:
    server.replies["/a.pdf"] = [Reply(body=content)]
    one = paper(open_access_pdf_url=f"{server.url}/a.pdf")
    answer = await library(settings, ledger).sections([one])
    assert [section.text_source for section in answer.items] == ["metadata"]
    assert [(failure.source, failure.reason) for failure in answer.failures] == [(source, reason)]


async def test_grobid_is_preferred_and_its_absence_is_recorded(
    server: DocumentServer, settings: DocumentSettings, ledger: Ledger
) -> None:
    server.replies["/a.pdf"] = [Reply(body=paper_pdf())]
    server.replies[GROBID] = [Reply(body=TEI)]
    one = paper(open_access_pdf_url=f"{server.url}/a.pdf")
    answer = await library(settings, ledger, grobid=server.url).sections([one])
    assert {section.text_source for section in answer.items} == {"grobid", "metadata"}

    papers = [
        paper(paper_id=f"p{number}", open_access_pdf_url=f"{server.url}/a.pdf")
        for number in range(3)
    ]
    one_by_one = library(settings, ledger, grobid="http://127.0.0.1:9")
    one_by_one.slots = asyncio.Semaphore(1)
    absent = await one_by_one.sections(papers)
    assert {section.text_source for section in absent.items} == {"pdf"}
    assert [(failure.source, failure.reason) for failure in absent.failures] == [
        ("grobid", "unreachable")
    ] * 3
    assert sum(call.source == "grobid" and call.status is None for call in ledger.api_calls) == 1


async def test_further_copies_that_cannot_be_asked_for_are_why_there_is_no_text(
    settings: DocumentSettings,
    ledger: Ledger,
) -> None:
    gone = SourceFailure(source="unpaywall", endpoint="/v2", reason=Reason.TIMEOUT, detail="gone")
    answer = await library(settings, ledger, links=gone).sections([paper(doi="10.1/x")])
    assert answer.failures == (gone,)


async def test_a_document_read_once_is_neither_fetched_nor_parsed_again(
    server: DocumentServer, settings: DocumentSettings, ledger: Ledger, tmp_path: Path
) -> None:
    server.replies["/a.pdf"] = [Reply(body=paper_pdf())]
    server.replies["/bad.pdf"] = [Reply(body=b"%PDF-1.4 broken")]
    links = (f"{server.url}/a.pdf",)
    papers = [
        paper(doi="10.1/x"),
        paper(paper_id="p2", open_access_pdf_url=f"{server.url}/bad.pdf"),
    ]
    first = await library(settings, ledger, links=links, store=tmp_path / "store").sections(papers)
    requests = len(server.asked)
    second = await library(settings, ledger, links=links, store=tmp_path / "store").sections(papers)
    assert second == first
    assert len(server.asked) == requests
    again = sorted(
        (call.source, call.cache_hit, call.upstream_requests)
        for call in ledger.api_calls[requests:]
    )
    assert again == [("download", True, 0), ("download", True, 0)]


async def test_a_document_beyond_a_limit_is_tried_again_under_a_higher_one_and_not_before(
    server: DocumentServer, settings: DocumentSettings, ledger: Ledger, tmp_path: Path
) -> None:
    server.replies["/a.pdf"] = [Reply(body=paper_pdf())]
    papers = [paper(open_access_pdf_url=f"{server.url}/a.pdf")]

    async def reasons(maximum_pages: int) -> list[str]:
        limits = replace(settings, maximum_pages=maximum_pages)
        answer = await library(limits, ledger, store=tmp_path / "store").sections(papers)
        return [failure.reason for failure in answer.failures]

    assert await reasons(1) == await reasons(1) == ["too_many_pages"]
    assert len(server.asked) == 1, "under the same limit the failure is remembered"
    assert await reasons(2) == []
    assert await reasons(1) == [], "what was read once is known whatever the limit"
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/a.pdf", "unsafe_address"),
        ("file:///etc/passwd", "no_open_access"),  # a paper has addresses of the web alone
    ],
)
async def test_a_link_into_the_own_network_is_refused(
    settings: DocumentSettings, ledger: Ledger, url: str, reason: str
) -> None:
    guarded = library(settings, ledger)
    guarded.allow_private_addresses = False
    answer = await guarded.sections([paper(open_access_pdf_url=url)])
    assert [failure.reason for failure in answer.failures] == [reason]
    assert ledger.api_calls == []
