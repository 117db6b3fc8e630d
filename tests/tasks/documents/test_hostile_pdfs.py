"""The whole way from a link to a reason, for every kind of hostile file: what it costs in time and
in memory.
"""

import resource
from collections.abc import Callable

import pytest

from schemas.settings import DocumentSettings
from tasks.documents.full_text import FullTextLibrary
from tests.support.document_server import Reply, Web
from tests.support.papers_with_links import paper
from tests.support.small_pdf import paper_pdf, pdf_from_streams

LIMITS = DocumentSettings(
    maximum_bytes=2_000_000,
    maximum_pages=20,
    parse_seconds=2,
    parse_memory_bytes=300_000_000,
)
HURRIED = LIMITS.model_copy(update={"timeout_seconds": 1.0})
"""Only where an endless answer is to be cut off: what answers at all may take its time on a busy
machine.
"""
PDF = {"Content-Type": "application/pdf"}
HOSTILE: dict[str, tuple[Callable[[], Reply], set[str]]] = {
    "unpacks to 300 MB": (
        lambda: Reply(body=pdf_from_streams([b" " * 300_000_000])),
        {"parser_limit", "damaged", "no_text"},
    ),
    "never ends": (
        lambda: Reply(body=b"%PDF-1.4" + b"x" * 100_000, headers=PDF, endless=True),
        {"too_large"},
    ),
    "drips": (
        lambda: Reply(body=b"%PDF-1.4", headers=PDF, endless=True, trickle_seconds=0.1),
        {"timeout"},
    ),
    "is 500 MB": (
        lambda: Reply(
            body=b"%PDF-1.4", headers={**PDF, "Content-Length": "500000000"}, endless=True
        ),
        {"too_large"},
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_pdf_that_is_hostile_costs_little_and_the_abstract_stays(
    web: Web, kind: str
) -> None:
    reply, reasons = HOSTILE[kind]
    web.server.replies["/a.pdf"] = [reply()]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limits = HURRIED if kind == "drips" else LIMITS
    library = FullTextLibrary(limits, None, None, None, web.ledger, allow_private_addresses=True)
    answer = await library.sections([paper(open_access_pdf_url=f"{web.server.url}/a.pdf")])
    assert [section.text_source for section in answer.items] == ["metadata"]
    assert {failure.reason for failure in answer.failures} <= reasons
    assert len(answer.failures) == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


async def test_a_hostile_paper_does_not_hold_up_the_others(web: Web) -> None:
    web.server.replies["/slow.pdf"] = [
        Reply(body=b"%PDF-1.4", headers=PDF, endless=True, trickle_seconds=0.1)
    ]
    web.server.replies["/good.pdf"] = [Reply(body=paper_pdf())]
    papers = [
        paper(paper_id=f"p{number}", open_access_pdf_url=f"{web.server.url}/{name}.pdf")
        for number, name in enumerate(("slow", "good"))
    ]
    limits = HURRIED.model_copy(update={"timeout_seconds": 1.0})
    library = FullTextLibrary(limits, None, None, None, web.ledger, allow_private_addresses=True)
    answer = await library.sections(papers)
    assert {section.paper_id for section in answer.items if section.text_source == "pdf"} == {"p1"}
    assert [failure.reason for failure in answer.failures] == ["timeout"]
