import pytest

from schemas.failure import SourceFailure
from schemas.settings import DocumentSettings
from tasks.documents.document import ParsedDocument
from tasks.documents.grobid import MAXIMUM_BUSY_ATTEMPTS, read_with_grobid
from tasks.web.retrying import RetryPolicy
from tests.support.document_server import Reply, Web
from tests.support.web_servers import bomb

PATH = "/api/processFulltextDocument"
TEI = (
    b"<TEI"
    b' xmlns="http://www.tei-c.org/ns/1.0"><text><body><div><head>Results</head><p>Good.</p></div></body></text></TEI>'
)
AT_ONCE = RetryPolicy(MAXIMUM_BUSY_ATTEMPTS, first_pause_seconds=0.01)


async def read(web: Web, url: str | None = None) -> ParsedDocument | SourceFailure:
    return await read_with_grobid(
        b"%PDF-1.4 content", "name", url or web.server.url, web.settings, web.ledger, policy=AT_ONCE
    )


async def test_the_document_is_sent_without_consolidation_and_read(web: Web) -> None:
    web.server.replies[PATH] = [Reply(body=TEI)]
    document = await read(web)
    assert isinstance(document, ParsedDocument)
    assert [(section.heading, section.text) for section in document.sections] == [
        ("Results", "Good.")
    ]
    (asked,) = web.server.asked
    assert b"%PDF-1.4 content" in asked.body
    assert b'name="consolidateHeader"\r\n\r\n0' in asked.body
    assert [(call.source, call.status) for call in web.calls()] == [("grobid", 200)]


async def test_a_busy_server_is_asked_again(web: Web) -> None:
    web.server.replies[PATH] = [Reply(503), Reply(503), Reply(body=TEI)]
    assert isinstance(await read(web), ParsedDocument)
    assert [call.status for call in web.calls()] == [503, 503, 200]
    assert web.calls()[1].wait_seconds > 0


@pytest.mark.parametrize(
    ("reply", "reason", "requests"),
    [
        (Reply(503), "rate_limited", MAXIMUM_BUSY_ATTEMPTS),
        (Reply(204), "no_text", 1),
        (Reply(500, b"[BAD_INPUT_DATA] PDF to XML conversion failed"), "damaged", 1),
        (Reply(500, b"[GENERAL] An exception occurred"), "server_error", 1),
        (Reply(400, b"bad"), "bad_request", 1),
        (Reply(200, b"<html>"), "malformed_answer", 1),
        (Reply(200, b'<!DOCTYPE x [<!ENTITY a "b">]><TEI>&a;</TEI>'), "malformed_answer", 1),
    ],
)
async def test_what_goes_wrong_has_a_reason(
    web: Web,
    reply: Reply,
    reason: str,
    requests: int,
) -> None:
    web.server.replies[PATH] = [reply]
    answer = await read(web)
    assert isinstance(answer, SourceFailure)
    assert (answer.source, answer.reason, len(web.calls())) == ("grobid", reason, requests)


async def test_an_absent_server_is_unreachable_not_a_bad_request(web: Web) -> None:
    answer = await read(web, "http://127.0.0.1:9")
    assert isinstance(answer, SourceFailure)
    assert answer.reason == "unreachable"
    assert web.calls()[0].status is None
    assert "GROBID_URL" in answer.detail


HOSTILE = {
    "nests 3,000 deep": (
        Reply(body=TEI.replace(b"Good.", b"<hi>" * 3_000 + b"Good." + b"</hi>" * 3_000)),
        None,
    ),
    "names an encoding nobody knows": (
        Reply(body=b'<?xml version="1.0" encoding="nonsense"?>' + TEI),
        "malformed_answer",
    ),
    "is a gzip bomb": (Reply(body=bomb(), headers={"Content-Encoding": "gzip"}), "too_large"),
    "is packed as nobody asked": (
        Reply(body=TEI, headers={"Content-Encoding": "br"}),
        "malformed_answer",
    ),
    "is a damaged gzip": (
        Reply(body=b"\x1f\x8bnonsense", headers={"Content-Encoding": "gzip"}),
        "malformed_answer",
    ),
    "never ends": (Reply(body=b" " * 65_536, endless=True), "too_large"),
    "drips": (Reply(body=b" ", endless=True, trickle_seconds=0.05), "timeout"),
    "redirects to no address": (
        Reply(302, headers={"Location": "http://xn--a.invalid/"}),
        "unreachable",
    ),
    "is of no charset": (
        Reply(body=TEI, headers={"Content-Type": "application/xml; charset=nonsense"}),
        None,
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_whatever_the_server_answers_is_a_document_or_a_reason(web: Web, kind: str) -> None:
    reply, expected = HOSTILE[kind]
    web.server.replies[PATH] = [reply]
    if kind == "drips":
        web.settings = DocumentSettings(timeout_seconds=0.5)
    answer = await read(web)
    if expected is None:
        assert isinstance(answer, ParsedDocument)
        assert answer.sections[0].text == "Good."
    else:
        assert isinstance(answer, SourceFailure)
        assert answer.reason == expected
