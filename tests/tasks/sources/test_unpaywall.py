import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.calls import ApiCall
from schemas.failure import SourceFailure
from schemas.literature.knowledge import SourceQuery
from tasks.documents.full_text import known_links
from tasks.sources.unpaywall import UnpaywallSource, pdf_links
from tests.support.document_server import DocumentServer, Reply, document_server
from tests.support.papers_with_links import paper
from tests.support.source_contexts import keyed_settings, opened
from warehouse.stores.keyed_store import KeyedStore


class Asked(NamedTuple):
    links: tuple[str, ...] | SourceFailure
    calls: list[ApiCall]


Ask = Callable[..., Awaitable[Asked]]
SAMPLES = Path(__file__).parents[4] / "shared" / "data" / "api_samples"


ADDRESS = "/v2/10.1038/nature12373"


@pytest.fixture
def server() -> Iterator[DocumentServer]:
    with document_server() as running:
        yield running


@pytest.fixture
def ask(server: DocumentServer, tmp_path: Path) -> Ask:
    async def links_of(doi: str = "10.1038/nature12373", **changes: Any) -> Asked:
        settings = keyed_settings("unpaywall", server.url, **changes)
        async with opened(UnpaywallSource, settings, tmp_path) as context:
            assert isinstance(context.source, UnpaywallSource)
            return Asked(await context.source.pdf_links(doi), context.ledger.api_calls)

    return links_of


@pytest.mark.skipif(not SAMPLES.exists(), reason="the shared data is not here")
async def test_links_come_best_first_and_the_address_asked_with_stays_out_of_the_ledger(
    server: DocumentServer,
    ask: Ask,
) -> None:
    body = json.loads((SAMPLES / "other_unpaywall_doi.json").read_text("utf-8"))["body"]
    server.replies[ADDRESS] = [Reply(body=json.dumps(body).encode())]
    links, calls = await ask()
    assert links == (
        "https://www.nature.com/articles/nature12373.pdf",
        "https://arxiv.org/pdf/1304.1068",
    )
    assert server.asked[0].path.endswith("?email=secret.reader%40lab.example.edu")
    assert [(call.source, call.endpoint) for call in calls] == [("unpaywall", ADDRESS)]


@pytest.mark.parametrize(
    ("reply", "reason", "requests"),
    [
        (Reply(404, b'{"error": true}'), "not_found", 1),
        (Reply(422), "forbidden", 1),
        (Reply(200, b"[]"), "malformed_answer", 3),
        (Reply(200, b"[" * 100_000), "malformed_answer", 3),
        (Reply(500), "server_error", 3),
    ],
)
async def test_no_answer_is_a_reason_and_not_an_empty_list(
    server: DocumentServer, ask: Ask, reply: Reply, reason: str, requests: int
) -> None:
    server.replies[ADDRESS] = [reply]
    links, calls = await ask()
    assert isinstance(links, SourceFailure)
    assert (links.reason, len(calls)) == (reason, requests)
    assert ("UNPAYWALL_EMAIL" in links.detail) == (reason == "forbidden")


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
)
LOCATIONS = st.dictionaries(st.sampled_from(["url", "url_for_pdf"]), JSON)


@given(
    content=st.dictionaries(
        st.sampled_from(["best_oa_location", "oa_locations"]),
        JSON | LOCATIONS | st.lists(LOCATIONS, max_size=3),
    )
)
def test_any_answer_gives_addresses_only(content: dict[str, object]) -> None:
    assert all(isinstance(link, str) and link for link in pdf_links(content))


def test_the_open_access_link_comes_before_arxiv_and_an_empty_one_counts_as_none() -> None:
    both = paper(open_access_pdf_url="https://example.org/a.pdf", arxiv_id="2305.09258")
    assert known_links(both) == ("https://example.org/a.pdf", "https://arxiv.org/pdf/2305.09258")
    assert known_links(paper(open_access_pdf_url="", url="https://arxiv.org/abs/2305.09258v2")) == (
        "https://arxiv.org/pdf/2305.09258v2",
    )
    assert known_links(paper(doi="10.48550/arXiv.2305.09258")) == (
        "https://arxiv.org/pdf/2305.09258",
    )
    assert known_links(paper(arxiv_id="../../etc/passwd")) == ()


async def test_a_doi_cannot_leave_its_place(server: DocumentServer, ask: Ask) -> None:
    links, _ = await ask("10.1234/../../admin")
    assert isinstance(links, SourceFailure)
    assert (links.reason, server.asked) == ("bad_request", [])


async def test_full_texts_and_searches_share_what_is_kept(
    server: DocumentServer,
    tmp_path: Path,
) -> None:
    body = b'{"doi": "10.1234/1", "title": "T", "oa_locations": []}'
    server.replies["/v2/10.1234/1"] = [Reply(200, body)]
    settings = keyed_settings("unpaywall", server.url)
    store = KeyedStore(tmp_path / "answers.sqlite")
    async with opened(UnpaywallSource, settings, tmp_path, answers=store) as context:
        assert isinstance(context.source, UnpaywallSource)
        assert await context.source.pdf_links("10.1234/1") == ()
        found = await context.source.search(SourceQuery(dois=("10.1234/1",)))
    assert found.complete
    assert [call.cache_hit for call in context.ledger.api_calls] == [False, True]
    assert len(server.asked) == 1


async def test_what_is_kept_for_one_doi_is_not_given_for_another(
    server: DocumentServer,
    tmp_path: Path,
) -> None:
    body = b'{"best_oa_location": {"url_for_pdf": "http://host/a.pdf"}}'
    server.replies["/v2/10.1/abk"] = [Reply(200, body)]
    settings = keyed_settings("unpaywall", server.url)
    store = KeyedStore(tmp_path / "answers.sqlite")
    async with opened(UnpaywallSource, settings, tmp_path, answers=store) as context:
        assert isinstance(context.source, UnpaywallSource)
        for doi in ("10.1/abk", "10.1/ABK"):
            assert await context.source.pdf_links(doi) == ("http://host/a.pdf",)
        assert len(server.asked) == 1
        for other in ("10.1/ab\u212a", "10.1/ab\u017f", "10.1/abk\u0301"):
            assert isinstance(await context.source.pdf_links(other), SourceFailure)
