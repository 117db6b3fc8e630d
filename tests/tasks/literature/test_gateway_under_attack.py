"""What a hostile client or a hostile upstream can do to the gateway: nothing to the key, and little
to anybody else.
"""

import asyncio
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from schemas.choices import LIVE
from schemas.settings import Settings
from tasks.literature.gateway import live_requests
from tasks.literature.gateway.application import LARGEST_BODY_BYTES
from tasks.literature.gateway.live_requests import Transport
from tasks.literature.gateway.messages import ENDPOINTS, Reply, Request
from tasks.literature.gateway.process import GatewayProcess, environment_of
from tasks.literature.gateway.upstreams import LiveUpstream
from tests.support.gateways import SEARCH, live_gateway
from tests.support.web_servers import GOOD, ShapedServer, shaped_server
from warehouse.stores.keyed_store import KeyedStore

MakeSettings = Callable[..., Settings]
GUARD_SECONDS = 60.0


def anything(_: object) -> str:
    return json.dumps({"data": [], "recommendedPapers": []})


@pytest.fixture(scope="module")
def one_upstream() -> Iterator[ShapedServer]:
    with shaped_server(anything) as running:
        yield running


@pytest.fixture
def upstream(one_upstream: ShapedServer) -> ShapedServer:
    """Answers anything, and remembers the paths as they came."""
    one_upstream.asked.clear()
    one_upstream.script = [GOOD]
    one_upstream.shape = anything
    return one_upstream


@pytest.fixture(scope="module")
def gateway(
    tmp_path_factory: pytest.TempPathFactory,
    one_upstream: ShapedServer,
    settings_of: MakeSettings,
) -> Iterator[GatewayProcess]:
    folder = tmp_path_factory.mktemp("gateway")
    with GatewayProcess(settings_of(folder, one_upstream.url), LIVE, folder / "cache") as running:
        yield running


def connected(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection(
        (str(parts.hostname), int(parts.port or 0)), timeout=GUARD_SECONDS
    )


def head_of(url: str, method: str, target: str, *headers: str) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", f"Host: {urlsplit(url).netloc}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def raw(url: str, target: str, method: str = "GET") -> int:
    """Status of a request whose target goes over the wire as it stands."""
    with closing(connected(url)) as connection:
        connection.sendall(head_of(url, method, target, "Connection: close", "Content-Length: 0"))
        return int(connection.makefile("rb").readline().split()[1])


ATTACKS = (
    "/graph/v1/../../admin",
    "/graph/v1/paper/../../../admin",
    "/graph/v1/%2e%2e/%2e%2e/admin",
    "/graph/v1/..%2f..%2fadmin",
    "/graph/v1/paper/..%2f..%2f..%2fadmin",
    "/graph/v1/paper/DOI:10.1/..%2f..%2f..%2f..%2fadmin",
    "/graph/v1/paper/%2e%2e/references",
    "/graph/v1/paper/a%5c..%5cb/references",
    "/graph/v1/paper/a%0d%0aX-Evil:%201/references",
    "/graph/v1/author/..%2f..%2fadmin",
    "/recommendations/v1/papers/forpaper/..%2f..%2fadmin",
    "/recommendations/v1/%2e%2e/%2e%2e/datasets/v1/release",
    "/graph/v1/",
    "/graph/v1/org/secrets",
    "/graph/v1//paper/search",
    "/datasets/v1/release/latest",
)


def test_only_routes_of_the_api_reach_the_upstream_with_the_key(
    gateway: GatewayProcess, upstream: ShapedServer
) -> None:
    assert {target: raw(gateway.url, target) for target in ATTACKS} == dict.fromkeys(ATTACKS, 404)
    assert raw(gateway.url, SEARCH, "HEAD") == 404
    assert raw(gateway.url, SEARCH, "POST") == 404
    assert upstream.asked == []
    metrics = httpx.get(f"{gateway.url}/metrics").text
    counted = {
        line.split('endpoint="')[1].split('"')[0]
        for line in metrics.splitlines()
        if 'endpoint="' in line
    }
    assert counted <= ENDPOINTS | {"unknown"}


def test_an_identifier_stays_in_its_segment(
    gateway: GatewayProcess, upstream: ShapedServer
) -> None:
    wanted = {
        "/graph/v1/paper/DOI:10.1000/5/references": "/graph/v1/paper/DOI:10.1000%2F5/references",
        "/graph/v1/paper/ARXIV:1%3Fx=1%23y/citations": (
            "/graph/v1/paper/ARXIV:1%3Fx%3D1%23y/citations"
        ),
        "/graph/v1/paper/%252e%252e/authors": "/graph/v1/paper/%252e%252e/authors",
        "/graph/v1/author/1741101/papers": "/graph/v1/author/1741101/papers",
        "/graph/v1/author/1741101": "/graph/v1/author/1741101",
        "/recommendations/v1/papers/forpaper/10.1/a%2fb": (
            "/recommendations/v1/papers/forpaper/10.1%2Fa%2Fb"
        ),
        "/graph/v1/paper/autocomplete?query=x": "/graph/v1/paper/autocomplete",
    }
    assert {raw(gateway.url, target) for target in wanted} == {200}
    assert [request.path for request in upstream.asked] == list(wanted.values())
    assert {request.headers.get("x-api-key") for request in upstream.asked} == {
        "secret-key-of-tests"
    }


def test_the_counted_endpoints_are_a_closed_list() -> None:
    paths = [
        f"/graph/v1/{place}/{number}{rest}"
        for number in range(50)
        for place in ("author", "paper", "x")
        for rest in ("", "/papers", "/y")
    ]
    endpoints = {Request(method, path).endpoint for path in paths for method in ("GET", "BREW")}
    assert endpoints <= ENDPOINTS | {"unknown"}


def peak_kilobytes(process_id: int) -> int:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


@pytest.mark.parametrize("announced", ["Content-Length: 600000000", "Transfer-Encoding: chunked"])
def test_a_body_is_counted_while_it_comes(
    gateway: GatewayProcess, upstream: ShapedServer, announced: str
) -> None:
    before = peak_kilobytes(gateway.process_id)
    piece = b"x" * 65_536
    piece = b"%x\r\n%s\r\n" % (len(piece), piece) if "chunked" in announced else piece
    sent = 0
    with closing(connected(gateway.url)) as connection:
        connection.sendall(head_of(gateway.url, "POST", "/graph/v1/paper/batch", announced))
        with suppress(ConnectionError):
            while sent < 200_000_000:
                connection.sendall(piece)
                sent += len(piece)
    assert sent < 100_000_000, "the connection is closed, not read to its end"
    assert peak_kilobytes(gateway.process_id) - before < 50_000
    assert upstream.asked == []
    allowed = httpx.post(
        f"{gateway.url}/graph/v1/paper/batch", content=b" " * (LARGEST_BODY_BYTES + 1)
    )
    assert (allowed.status_code, "too large" in allowed.json()["error"]) == (400, True)


LOWERED = (
    "import sys; from pathlib import Path; import tasks.web.serving as connections;"
    "connections.IDLE_SECONDS, connections._MOST_CONNECTIONS = 0.5, 20;"
    "import tasks.literature.gateway.application as application; application.BODY_SECONDS = 0.5;"
    "from schemas.choices import LIVE; from schemas.settings import Settings;"
    "from tasks.literature.gateway.application import serve;"
    "serve(Settings(), LIVE, '127.0.0.1', 0, Path(sys.argv[1]), Path(sys.argv[1]) / 'port')"
)
"""The same service with shorter patience."""


@pytest.fixture(scope="module")
def impatient(
    tmp_path_factory: pytest.TempPathFactory,
    one_upstream: ShapedServer,
    settings_of: Callable[..., Settings],
) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("impatient")
    process = subprocess.Popen(
        [sys.executable, "-c", LOWERED, str(folder)],
        env=environment_of(settings_of(folder, one_upstream.url)),
    )
    deadline = time.monotonic() + GUARD_SECONDS
    while not (folder / "port").exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield f"http://127.0.0.1:{(folder / 'port').read_text()}"
    process.terminate()
    process.wait(30)


@pytest.mark.parametrize(
    "beginning", [b"", b"GET /graph/v1/pap", b"GET /healthz HTTP/1.1\r\nX-A: 1\r\n"]
)
def test_a_half_open_connection_is_closed(impatient: str, beginning: bytes) -> None:
    with closing(connected(impatient)) as connection:
        connection.sendall(beginning)
        assert connection.recv(1000) == b""


def test_a_head_that_drips_is_not_waited_for(impatient: str) -> None:
    with closing(connected(impatient)) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        deadline = time.monotonic() + GUARD_SECONDS
        with suppress(ConnectionError):
            while time.monotonic() < deadline:
                connection.sendall(b"X-A: 1\r\n")
                time.sleep(0.1)
        assert time.monotonic() < deadline


def test_a_body_that_drips_is_refused(impatient: str, upstream: ShapedServer) -> None:
    with closing(connected(impatient)) as connection:
        connection.sendall(
            head_of(impatient, "POST", "/graph/v1/paper/batch", "Content-Length: 1000") + b"{"
        )
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    assert upstream.asked == []


def test_connections_over_the_bound_are_turned_away_and_the_others_answered(impatient: str) -> None:
    client = httpx.Client(base_url=impatient, timeout=GUARD_SECONDS)
    assert client.get("/healthz").status_code == 200
    idle = []
    for _ in range(40):
        with suppress(ConnectionError):
            idle.append(connected(impatient))
    for each in idle:
        with suppress(ConnectionError):
            assert each.recv(10) == b""
        each.close()
    deadline = time.monotonic() + GUARD_SECONDS
    while True:
        try:
            assert client.get("/healthz").status_code == 200
            break
        except httpx.HTTPError:
            assert time.monotonic() < deadline


ASKED = Request("GET", SEARCH, (("query", "x"),))


async def answered(settings: Settings, folder: Path) -> Reply:
    live = LiveUpstream(settings, KeyedStore(folder / "cache"))
    reply = await live.answer(ASKED)
    await live.close()
    return reply


@pytest.mark.parametrize(
    ("word", "reason", "words"),
    [
        ("bomb", "malformed_answer", "exceeds 32,000,000 bytes"),
        ("endless", "malformed_answer", "exceeds 32,000,000 bytes"),
        ("packed_oddly", "malformed_answer", "packed as br"),
        ("drips", "timeout", "no whole answer within"),
    ],
)
async def test_an_upstream_answer_is_bounded_in_size_and_time(
    tmp_path: Path,
    upstream: ShapedServer,
    settings_for: MakeSettings,
    word: str,
    reason: str,
    words: str,
) -> None:
    upstream.script = [word]
    seconds = 0.5 if word == "drips" else 60.0
    settings = settings_for(upstream.url, timeout_seconds=seconds, maximum_attempts=1)
    async with asyncio.timeout(GUARD_SECONDS):
        reply = await answered(settings, tmp_path)
    assert reply.reason == reason
    assert words in reply.body.decode()


async def test_half_a_character_in_an_upstream_answer_reads_as_the_replacement_character(
    tmp_path: Path, upstream: ShapedServer, settings_for: MakeSettings
) -> None:
    upstream.shape = lambda _: (
        r'{"data": [{"paperId": "a", "title": "half \ud800", "authors": [{"name": "\udfff"}]}]}'
    )
    reply = await answered(settings_for(upstream.url, maximum_attempts=1), tmp_path)
    assert reply.status == 200
    assert json.loads(reply.body)["data"] == [
        {"paperId": "a", "title": "half \ufffd", "authors": [{"name": "\ufffd"}]}
    ]


@pytest.mark.parametrize("asked_to_wait", ["nan", "inf", "-1", "1e308", "9" * 300])
async def test_no_retry_after_stops_the_limiter(
    upstream: ShapedServer,
    settings_for: MakeSettings,
    asked_to_wait: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    upstream.script = [f"429:{asked_to_wait}", "good"]
    monkeypatch.setattr(live_requests, "MAXIMUM_TOTAL_SECONDS", 0.001)
    transport = Transport(settings_for(upstream.url))
    held_back: list[float] = []
    transport.limiter.hold_back = held_back.append  # type: ignore[method-assign]
    reply = await transport.ask(lambda: ASKED)
    await transport.close()
    assert reply.status == 429
    assert all(0 <= seconds <= 60 for seconds in held_back)


async def test_one_questions_answer_is_never_kept_under_another(
    tmp_path: Path, upstream: ShapedServer, settings_for: MakeSettings
) -> None:
    bodies = (b"\xff", b"\xfe", "\ufffd".encode())
    queries = ("a&limit=1", "caf\u00e9", "cafe\u0301", "A", "a")
    different = [
        *(Request("POST", "/recommendations/v1/papers", (), each) for each in bodies),
        *(Request("GET", SEARCH, (("query", each),)) for each in queries),
        Request("GET", SEARCH, (("limit", "1"), ("query", "a"))),
        Request("GET", f"{SEARCH}/match", (("query", "a"),)),
    ]
    assert len({request.key() for request in different}) == len(different)
    async with live_gateway(settings_for(upstream.url), tmp_path / "cache") as client:
        first = await client.get(f"{SEARCH}?query=a&limit=1")
        swapped = await client.get(f"{SEARCH}?limit=1&query=a")
        twice = await client.get(f"{SEARCH}?query=a&limit=1&limit=2")
    assert [each.headers["x-assay-cache"] for each in (first, swapped)] == ["miss", "hit"]
    assert twice.status_code == 400
    assert twice.json() == {"error": "Unacceptable query params: [limit] is given twice"}
    assert len(upstream.asked) == 1


def test_what_is_being_answered_is_not_idle(impatient: str, upstream: ShapedServer) -> None:
    upstream.shape = slowly

    def ask(number: int) -> int:
        url = f"{impatient}{SEARCH}?query={number}"
        return httpx.get(url, timeout=GUARD_SECONDS).status_code

    with ThreadPoolExecutor(10) as clients:
        statuses = list(clients.map(ask, range(10)))
    assert statuses == [200] * 10


def slowly(_: object) -> str:
    time.sleep(1.0)  # twice what an idle connection may stay
    return json.dumps({"data": []})
