import asyncio
from pathlib import Path

import pytest

from schemas.base import replace
from schemas.failure import Answer, SourceFailure
from schemas.literature.paper import Paper, PaperSection, SectionKind
from schemas.reasons import Reason
from tasks.documents.full_text import FullTextLibrary
from tests.support.document_server import Reply, Web
from tests.support.papers_with_links import paper
from tests.support.small_pdf import paper_pdf, pdf_of
from warehouse.stores.keyed_store import KeyedStore

TEI = (
    b'<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><div><head>Methods</head><p>By'
    b" GROBID.</p></div><div><head>Results</head><p>Good.</p></div></body></text></TEI>"
)
GOOD = Reply(body=paper_pdf())


def library(
    web: Web,
    *,
    grobid: str | None = None,
    store: Path | None = None,
    links: tuple[str, ...] | SourceFailure | None = None,
    private: bool = True,
) -> FullTextLibrary:
    async def open_copies(_: str) -> tuple[str, ...] | SourceFailure:
        assert links is not None
        return links

    return FullTextLibrary(
        settings=web.settings,
        grobid_url=grobid,
        open_copies=None if links is None else open_copies,
        store=KeyedStore(store) if store else None,
        ledger=web.ledger,
        allow_private_addresses=private,
    )


def at(url: str, name: str = "p1") -> Paper:
    return paper(paper_id=name, open_access_pdf_url=url)


def sources(answer: Answer[PaperSection]) -> set[str]:
    return {section.text_source for section in answer.items}


def reasons(answer: Answer[PaperSection]) -> list[tuple[str, str]]:
    return [(failure.source, failure.reason) for failure in answer.failures]


async def test_open_copy_gives_its_sections(web: Web) -> None:
    answer = await library(web).sections([at(web.serve("/a.pdf", GOOD))])
    assert answer.failures == ()
    assert [(section.section, section.text_source) for section in answer.items] == [
        (kind, "pdf") for kind in (SectionKind.ABSTRACT, SectionKind.METHODS, SectionKind.RESULTS)
    ]


async def test_paper_without_open_copy_keeps_its_abstract_and_a_reason(web: Web) -> None:
    answer = await library(web).sections([paper(), paper(paper_id="p2", abstract=None)])
    assert [(section.paper_id, section.text, section.text_source) for section in answer.items] == [
        ("p1", "What the source says.", "metadata")
    ]
    assert [reason for _, reason in reasons(answer)] == [
        *("no_open_access", "no_open_access", "no_abstract")
    ]


async def test_only_stored_copies_are_read_without_downloads(web: Web, tmp_path: Path) -> None:
    known, other = at(web.serve("/a.pdf", GOOD)), at(f"{web.server.url}/b.pdf")
    store = tmp_path / "documents.sqlite"
    fetched = await library(web, store=store).document(known)
    request_count = len(web.server.asked)
    stored = library(web, store=store)
    stored.downloads = False
    assert await stored.document(known) == fetched
    lost = await stored.document(other)
    assert isinstance(lost, SourceFailure)
    assert lost.reason is Reason.NOT_LOOKED_FOR
    assert len(web.server.asked) == request_count


async def test_further_copies_are_read_if_the_link_leads_to_a_web_page(web: Web) -> None:
    landing = web.serve("/page", Reply(body=b"<html>", headers={"Content-Type": "text/html"}))
    further = library(web, links=(web.serve("/a.pdf", GOOD),))
    answer = await further.sections([paper(doi="10.1/x", open_access_pdf_url=landing)])
    assert answer.failures == ()
    assert [call.failure_reason for call in web.calls("download")] == ["not_a_pdf", None]


async def test_failed_search_for_copies_is_the_reason(web: Web) -> None:
    gone = SourceFailure(source="unpaywall", endpoint="/v2", reason=Reason.TIMEOUT, detail="gone")
    answer = await library(web, links=gone).sections([paper(doi="10.1/x")])
    assert answer.failures == (gone,)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pdf_of([[("x", 9.0, False)]], encrypted=True), "encrypted"),
        (pdf_of([[("An essay without any headings at all.", 10.0, False)]]), "no_sections"),
    ],
)
async def test_text_without_sections_is_a_failure_beside_the_abstract(
    web: Web, content: bytes, reason: str
) -> None:
    answer = await library(web).sections([at(web.serve("/a.pdf", Reply(body=content)))])
    assert (sources(answer), reasons(answer)) == ({"metadata"}, [("pdf", reason)])


async def test_grobid_is_preferred_and_asked_once_if_it_is_unreachable(web: Web) -> None:
    web.serve("/api/processFulltextDocument", Reply(body=TEI))
    url = web.serve("/a.pdf", GOOD)
    answer = await library(web, grobid=web.server.url).sections([at(url)])
    assert sources(answer) == {"grobid", "metadata"}
    one_by_one = library(web, grobid="http://127.0.0.1:9")
    one_by_one.slots = asyncio.Semaphore(1)
    absent = await one_by_one.sections([at(url, f"p{number}") for number in range(3)])
    assert (sources(absent), reasons(absent)) == ({"pdf"}, [("grobid", "unreachable")] * 3)
    assert [call.status for call in web.calls("grobid")] == [200, None]


async def test_document_read_once_is_neither_fetched_nor_parsed_again(
    web: Web, tmp_path: Path
) -> None:
    links = (web.serve("/a.pdf", GOOD),)
    bad = web.serve("/bad.pdf", Reply(body=b"%PDF-1.4 broken"))
    papers = [paper(doi="10.1/x"), at(bad, "p2")]
    store = tmp_path / "store"
    first = await library(web, links=links, store=store).sections(papers)
    count = len(web.server.asked)
    assert await library(web, links=links, store=store).sections(papers) == first
    assert len(web.server.asked) == count
    again = [(call.source, call.cache_hit, call.upstream_requests) for call in web.calls()[count:]]
    assert again == [("download", True, 0), ("download", True, 0)]


async def test_failure_at_a_limit_is_cached_for_that_limit(web: Web, tmp_path: Path) -> None:
    papers, settings = [at(web.serve("/a.pdf", GOOD))], web.settings

    async def found(maximum_pages: int) -> list[tuple[str, str]]:
        web.settings = replace(settings, maximum_pages=maximum_pages)
        return reasons(await library(web, store=tmp_path / "store").sections(papers))

    assert await found(1) == await found(1) == [("pdf", "too_many_pages")]
    assert len(web.server.asked) == 1, "under the same limit the failure is remembered"
    assert await found(2) == []
    assert await found(1) == [], "what was read once is known whatever the limit"
    assert len(web.server.asked) == 2


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/a.pdf", "unsafe_address"),
        ("file:///etc/passwd", "no_open_access"),  # a paper has addresses of the web alone
    ],
)
async def test_link_into_the_own_network_is_refused(web: Web, url: str, reason: str) -> None:
    answer = await library(web, private=False).sections([at(url)])
    assert [each for _, each in reasons(answer)] == [reason]
    assert web.calls() == []
