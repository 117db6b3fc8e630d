"""Addresses a review cites, and what they answer."""

import asyncio
from collections.abc import Iterator

import pytest

from tasks.benchmarks.links import LinkStatus, cited_links, link_answers, link_status
from tests.support.web_servers import SHAPES, ShapedServer, shaped_server


@pytest.fixture
def server() -> Iterator[ShapedServer]:
    with shaped_server(next(iter(SHAPES.values()))) as running:
        yield running


def asked(url: str, *, private: bool = True) -> LinkStatus:
    async def run() -> LinkStatus:
        return await link_status(url, 5.0, allow_private_addresses=private)

    return asyncio.run(run())


def test_links_are_found_in_order_with_repetitions_and_round_brackets() -> None:
    text = (
        "As [(Doe, 2020)](https://a.org/x) and [(Roe, 2021)](https://b.org/p_(1)) say"
        " [again](https://a.org/x); see www.c.org."
    )
    assert cited_links(text) == ["https://a.org/x", "https://b.org/p_(1)", "https://a.org/x"]


@pytest.mark.parametrize("status", ["404", "410", "503", "403"])
def test_the_status_is_what_the_server_says(server: ShapedServer, status: str) -> None:
    server.script = [status]
    assert asked(f"http://127.0.0.1:{server.port}/paper").status in (int(status), 501)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/x",
        "http://[::1]/x",
        "http://10.0.0.1/x",
        "ftp://a.org/x",
        "http:///x",
        "http://%zz/",
    ],
)
def test_an_address_that_may_not_be_asked_has_no_status_and_a_reason(url: str) -> None:
    found = asked(url, private=False)
    assert found.status is None
    assert found.detail


def test_every_citation_counts_and_one_never_asked_has_no_answer() -> None:
    answers = link_answers(["u", "v", "u"], {"u": LinkStatus(status=404)})
    assert [(one.url, one.status) for one in answers] == [("u", 404), ("v", None), ("u", 404)]
