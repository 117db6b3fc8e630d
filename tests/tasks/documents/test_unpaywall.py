import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.retrieval import SourceFailure
from tasks.accounting.ledger import Ledger
from tasks.documents.http import document_client
from tasks.documents.links import known_links
from tasks.documents.unpaywall import pdf_links, unpaywall_links
from tests.support.document_server import DocumentServer, Reply
from tests.support.papers_with_links import paper
from tests.support.web_servers import bomb

SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "api_samples"


async def ask(server: DocumentServer, ledger: Ledger) -> tuple[str, ...] | SourceFailure:
    async with document_client(5) as client:
        return await unpaywall_links("10.1038/nature12373", "lab@university.edu", client, ledger, server.url)


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared data is not here")
async def test_links_come_best_first_and_the_address_asked_with_stays_out_of_the_ledger(server: DocumentServer, ledger: Ledger) -> None:
    body = json.loads((SAMPLES / "other_unpaywall_doi.json").read_text("utf-8"))["body"]
    server.replies["/v2/10.1038/nature12373"] = [Reply(body=json.dumps(body).encode())]
    assert await ask(server, ledger) == ("https://www.nature.com/articles/nature12373.pdf", "https://arxiv.org/pdf/1304.1068")
    assert server.asked[0].path.endswith("?email=lab%40university.edu")
    assert (ledger.api_calls[0].source, ledger.api_calls[0].endpoint) == ("unpaywall", "/v2/10.1038/nature12373")


@pytest.mark.parametrize(
    ("reply", "reason", "requests"),
    [
        (Reply(404, b'{"error": true}'), "not_found", 1),
        (Reply(422), "forbidden", 1),
        (Reply(200, b"<html>"), "malformed_answer", 3),
        (Reply(200, b"[]"), "malformed_answer", 3),
        (Reply(500), "server_error", 3),
        (Reply(429), "rate_limited", 3),
    ],
)
async def test_no_answer_is_a_reason_and_not_an_empty_list(
    server: DocumentServer, ledger: Ledger, reply: Reply, reason: str, requests: int
) -> None:
    server.replies["/v2/10.1038/nature12373"] = [reply]
    answer = await ask(server, ledger)
    assert isinstance(answer, SourceFailure)
    assert answer.reason == reason
    assert len(ledger.api_calls) == requests


async def test_what_passes_is_asked_again(server: DocumentServer, ledger: Ledger) -> None:
    server.replies["/v2/10.1038/nature12373"] = [Reply(503), Reply(200, b'{"best_oa_location": null, "oa_locations": []}')]
    assert await ask(server, ledger) == ()


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)
LOCATIONS = st.dictionaries(st.sampled_from(["url", "url_for_pdf"]), JSON)


@given(content=st.dictionaries(st.sampled_from(["best_oa_location", "oa_locations"]), JSON | LOCATIONS | st.lists(LOCATIONS, max_size=3)))
def test_any_answer_gives_addresses_only(content: dict[str, object]) -> None:
    assert all(isinstance(link, str) and link for link in pdf_links(content))


def test_the_open_access_link_comes_before_arxiv_and_an_empty_one_counts_as_none() -> None:
    both = paper(open_access_pdf_url="https://example.org/a.pdf", arxiv_id="2305.09258")
    assert known_links(both) == ("https://example.org/a.pdf", "https://arxiv.org/pdf/2305.09258")
    assert known_links(paper(open_access_pdf_url="", url="https://arxiv.org/abs/2305.09258v2")) == ("https://arxiv.org/pdf/2305.09258v2",)
    assert known_links(paper(doi="10.48550/arXiv.2305.09258")) == ("https://arxiv.org/pdf/2305.09258",)
    assert known_links(paper(arxiv_id="../../etc/passwd")) == ()


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(body=bomb(), headers={"Content-Encoding": "gzip"}), "too_large"),
        (Reply(body=b" " * 65_536, endless=True), "too_large"),
        (Reply(body=b" ", endless=True, trickle_seconds=0.05), "timeout"),
        (Reply(body=b"{}", headers={"Content-Encoding": "br"}), "malformed_answer"),
        (Reply(body=b"[" * 100_000), "malformed_answer"),
        (Reply(302, headers={"Location": "http://xn--a.invalid/"}), "unreachable"),
    ],
)
async def test_an_answer_is_bounded_in_size_and_time(
    server: DocumentServer, ledger: Ledger, monkeypatch: pytest.MonkeyPatch, reply: Reply, reason: str
) -> None:
    monkeypatch.setattr("tasks.documents.unpaywall.TIMEOUT_SECONDS", 1.0 if reason == "timeout" else 60.0)
    server.replies["/v2/10.1038/nature12373"] = [reply]
    answer = await ask(server, ledger)
    assert isinstance(answer, SourceFailure)
    assert answer.reason == reason


async def test_a_doi_cannot_leave_its_place(server: DocumentServer, ledger: Ledger) -> None:
    async with document_client(5) as client:
        answer = await unpaywall_links("10.1/../../admin", "lab@university.edu", client, ledger, server.url)
    assert isinstance(answer, SourceFailure)
    assert (answer.reason, server.asked) == ("bad_request", [])
