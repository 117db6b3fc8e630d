import asyncio
from unittest.mock import AsyncMock, patch

import pytest
from hypothesis import given
from hypothesis import settings as settings_of_hypothesis
from hypothesis import strategies as st

from schemas.failure import SourceFailure
from schemas.identifiers import IdeaId
from schemas.settings import DocumentSettings
from tasks.accounting.ledger import Ledger
from tasks.documents.download import MAXIMUM_REDIRECTS, Downloader
from tasks.web import guard
from tasks.web.client import web_address
from tasks.web.guard import Refused, checked_address, is_public, resolve
from tests.support.document_server import Reply, Web

PDF = b"%PDF-1.4 " + b"x" * 2000


async def fetch(web: Web, url: str, *, private: bool = True) -> bytes | SourceFailure:
    return await Downloader(web.settings, web.ledger, allow_private_addresses=private).fetch(url)


def reason(answer: bytes | SourceFailure) -> str:
    assert isinstance(answer, SourceFailure)
    assert "\n" not in answer.detail
    return answer.reason


async def test_a_pdf_is_fetched_and_the_request_recorded_without_its_query(web: Web) -> None:
    web.server.replies["/a.pdf"] = [Reply(body=PDF, headers={"Content-Type": "application/pdf"})]
    assert await fetch(web, f"{web.server.url}/a.pdf?token=secret") == PDF
    (call,) = web.calls()
    assert (call.source, call.status, call.failure_reason, call.upstream_requests) == (
        "download",
        200,
        None,
        1,
    )
    assert "secret" not in call.endpoint


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(body=b"<html>", headers={"Content-Type": "text/html; charset=utf-8"}), "not_a_pdf"),
        (Reply(body=b"<html>" * 500, headers={"Content-Type": "application/pdf"}), "not_a_pdf"),
        (Reply(body=b"PK", headers={}), "not_a_pdf"),
        (Reply(body=b"%PDF-" + b"x" * 300_000), "too_large"),
        (Reply(body=b"%PDF-" + b"x" * 60_000, endless=True), "too_large"),
        (Reply(403), "forbidden"),
        (Reply(404), "not_found"),
        (Reply(429), "rate_limited"),
        (Reply(500), "server_error"),
        (Reply(418), "bad_request"),
    ],
)
async def test_what_is_no_pdf_is_a_reason(web: Web, reply: Reply, expected: str) -> None:
    web.server.replies["/a"] = [reply]
    assert reason(await fetch(web, f"{web.server.url}/a")) == expected
    assert all(call.failure_reason == expected for call in web.calls())


async def test_what_may_pass_is_tried_once_more(web: Web) -> None:
    web.server.replies["/a"] = [Reply(503), Reply(body=PDF)]
    assert await fetch(web, f"{web.server.url}/a") == PDF
    assert [call.status for call in web.calls()] == [503, 200]


async def test_a_trickling_server_costs_no_more_than_the_time_limit(web: Web) -> None:
    web.server.replies["/a"] = [Reply(body=b"%PDF-", endless=True, trickle_seconds=0.05)]
    web.settings = DocumentSettings(timeout_seconds=0.7)
    assert reason(await fetch(web, f"{web.server.url}/a")) == "timeout"
    assert web.calls()[-1].failure_reason == "timeout"


async def test_redirects_are_followed_to_a_limit(web: Web) -> None:
    web.server.replies["/1"] = [Reply(302, headers={"Location": "/2"})]
    web.server.replies["/2"] = [Reply(body=PDF)]
    web.server.replies["/loop"] = [Reply(301, headers={"Location": "/loop"})]
    assert await fetch(web, f"{web.server.url}/1") == PDF
    assert reason(await fetch(web, f"{web.server.url}/loop")) == "too_many_redirects"
    assert len(web.calls()) == 2 + MAXIMUM_REDIRECTS + 1


NO_WEB = """
file:///etc/passwd ftp://example.org/a.pdf http:// gopher://x // javascript:1 http://[::1
data:application/pdf,x
"""


@pytest.mark.parametrize("target", ["", *NO_WEB.split()])
async def test_only_http_links_are_followed(web: Web, target: str) -> None:
    assert reason(await fetch(web, target)) in ("unsafe_address", "bad_request")
    assert web.calls() == []


async def test_a_redirect_to_another_scheme_is_refused(web: Web) -> None:
    web.server.replies["/1"] = [Reply(302, headers={"Location": "file:///etc/passwd"})]
    assert reason(await fetch(web, f"{web.server.url}/1")) == "unsafe_address"


NOT_PUBLIC = """
127.0.0.1 localhost 10.1.2.3 192.168.0.1 169.254.169.254 0.0.0.0 2130706433 127.1 224.0.0.1
100.64.0.1 [::1] [::ffff:127.0.0.1] [fe80::1] [fc00::1] [64:ff9b::7f00:1] [2002:7f00:1::]
[fec0::1] [3fff::1] [5f00::1] [4000::1] [2001:db8::1] [2001:20::1] [::10.0.0.1]
[::ffff:0:10.0.0.1] [64:ff9b::192.168.0.1] [64:ff9b:1::8.8.8.8] [2002:a00:1::1]
[2a00::5efe:10.0.0.1] [2a00::200:5efe:10.0.0.1] 192.0.0.8 192.0.0.170 192.88.99.1 168.63.129.16
198.18.0.1 203.0.113.9 255.255.255.255
"""


@pytest.mark.parametrize("host", NOT_PUBLIC.split())
async def test_hosts_that_are_not_public_are_never_connected_to(web: Web, host: str) -> None:
    assert reason(await fetch(web, f"http://{host}/a.pdf", private=False)) in (
        "unsafe_address",
        "unreachable",
    )
    assert web.calls() == []


async def test_the_connection_goes_to_the_checked_address_and_every_redirect_is_checked_again(
    web: Web,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[str] = []

    async def names(host: str, port: int, *, allow_private_addresses: bool) -> str | Refused:
        checked.append(host)
        return "127.0.0.1" if host == "public.test" else Refused("not public", resolved=True)

    monkeypatch.setattr(guard, "resolve", names)
    web.server.replies["/a.pdf"] = [
        Reply(302, headers={"Location": f"http://internal.test:{web.server.port}/b.pdf"})
    ]
    assert (
        reason(await fetch(web, f"http://public.test:{web.server.port}/a.pdf", private=False))
        == "unsafe_address"
    )
    assert checked == ["public.test", "internal.test"]
    assert [asked.headers["Host"] for asked in web.server.asked] == [
        f"public.test:{web.server.port}"
    ]


def test_public_addresses_are_public() -> None:
    direct = ["151.101.3.42", "2a04:4e42::1", "2620:4f:8000::1"]
    mapped = ["64:ff9b::9765:32a", "::ffff:151.101.3.42", "2002:9765:32a::1"]
    assert all(map(is_public, [*direct, *mapped]))
    assert not is_public("not an address")


@settings_of_hypothesis(max_examples=25)
@given(
    url=st.text(max_size=60)
    | st.text(max_size=40).map("http://".__add__)
    | st.text(max_size=20).map("http://127.0.0.1/".__add__)
)
async def test_any_link_gives_bytes_or_a_reason(url: str) -> None:
    ledger = Ledger(idea_id=IdeaId("i"))
    refused = AsyncMock(return_value=Refused("nothing is reached", resolved=True))
    with patch.object(guard, "resolve", refused):
        answer = await Downloader(DocumentSettings(), ledger).fetch(url)
        assert isinstance(answer, SourceFailure)
    assert ledger.api_calls == []


async def test_every_address_of_a_name_must_be_public(monkeypatch: pytest.MonkeyPatch) -> None:
    async def both(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", ("151.101.3.42", 80)), (0, 0, 0, "", ("127.0.0.1", 80))]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", both)
    assert isinstance(await resolve("rebinding.test", 80, allow_private_addresses=False), Refused)


@pytest.mark.parametrize(
    ("host", "known_addresses", "target"),
    [
        ("papers.example.org", [], "papers.example.org"),
        ("papers.example.org", ["151.101.3.42"], "papers.example.org"),
        ("rebinding.example.org", ["151.101.3.42", "10.0.0.1"], None),
        ("127.0.0.1", ["127.0.0.1"], None),
        ("intranet", [], None),
        ("printer.local", [], None),
    ],
)
async def test_a_proxy_resolves_public_names_alone(
    monkeypatch: pytest.MonkeyPatch, host: str, known_addresses: list[str], target: str | None
) -> None:
    async def look_up(*_: object, **__: object) -> list[tuple[object, ...]]:
        return [(0, 0, 0, "", (address, 443)) for address in known_addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    for variable in ("https_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(variable, "http://proxy.example.org:3128")
    monkeypatch.setenv("no_proxy", "")
    url = web_address(f"https://{host}/paper.pdf")
    address = await checked_address(url, allow_private_addresses=False, at_proxy=True)
    assert isinstance(address, Refused) if target is None else address == target
    monkeypatch.setenv("no_proxy", host)
    address = await checked_address(url, allow_private_addresses=False, at_proxy=True)
    assert isinstance(address, Refused) or address in known_addresses, "no proxy: resolved here"


NO_HOSTS = (
    "http://no-such-host.invalid/a.pdf",
    "http://xn--a.invalid/a.pdf",
    "http://xn--/a.pdf",
    "http://\x80.invalid/",
    f"http://{'a' * 300}.invalid/",
    f"http://{'a.' * 200}invalid/",
    "http://a..b.invalid/",
    "http://\u2488.invalid/",
    "http://h:99999999/",
    "http://[::1%25eth0]/",
    "http://[v1.x]/",
)


@pytest.mark.parametrize("url", NO_HOSTS)
async def test_a_link_whose_host_can_be_none_is_a_reason(web: Web, url: str) -> None:
    assert reason(await fetch(web, url, private=False)) in (
        "bad_request",
        "unreachable",
        "unsafe_address",
    )
    if not url.isascii():
        return
    web.server.replies["/a.pdf"] = [Reply(302, headers={"Location": url})]
    assert reason(await fetch(web, f"{web.server.url}/a.pdf")) in (
        "unreachable",
        "bad_request",
    )
