"""The attacker's list: none of it gets anywhere at the HTTP API."""

import socket
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import orjson
import pytest
from starlette.types import Message

from flows.api.gate import Gate
from schemas.people.decisions import Request
from schemas.people.job import EvaluateJob
from schemas.people.role import Role
from schemas.settings import ApiSettings
from tests.support.api_server import api_server, bearing, make_token
from tests.support.jobs import sent_paper
from tests.support.report_lake import publish_report_lake
from warehouse.app.accounts import revoke
from warehouse.app.database import ServiceDatabase, services_file
from warehouse.app.decisions import request_all
from warehouse.app.jobs import job_ids, read_job
from warehouse.app.people import add_participant
from warehouse.ledger import parts_of
from warehouse.warehouse import Warehouse

IDEA = "We train a graph network on protein pairs and repeat every measurement five times."
MOST_BYTES = 20_000
LIMITS = {
    "ASSAY_API__MAXIMUM_BODY_BYTES": str(MOST_BYTES),
    "ASSAY_API__TIMEOUT_SECONDS": "1",
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Warehouse:
    return publish_report_lake(tmp_path_factory.mktemp("attacked") / "warehouse")


@pytest.fixture(scope="module")
def url(warehouse: Warehouse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with api_server(warehouse, tmp_path_factory.mktemp("home"), **LIMITS) as (address, _):
        yield address


def submit(url: str, token: str, idea: str = IDEA, **headers: str) -> httpx.Response:
    body = {"ideas": [idea], "options": {"modules": "soundness"}}
    return httpx.post(f"{url}/v1/jobs/evaluate", json=body, headers=bearing(token) | headers)


def job_of(answer: httpx.Response) -> str:
    assert answer.status_code == 202, answer.text
    return str(answer.json()["rows"][0]["job_id"])


def test_without_one_valid_token_nothing_is_answered(url: str, warehouse: Warehouse) -> None:
    token = make_token(warehouse, Role.OWNER)
    given = ("Authorization", f"Bearer {token}")
    for path in ("/v1/runs", "/v1/jobs", "/v1/literature?query=x", "/elsewhere"):
        for headers in (
            [],
            [("Authorization", "Bearer")],
            [("Authorization", "Bearer assay_000000000000_" + "A" * 43)],
            [("Authorization", "Bearer assay_' or 1=1 --_" + "A" * 43)],
            [("Authorization", "Basic YTpi")],
            [("Cookie", f"token={token}")],
            [("X-Api-Key", token)],
            [given, given],
        ):
            answer = httpx.get(f"{url}{path}", headers=headers)
            assert (answer.status_code, answer.json()["state"]) == (401, "error"), (path, headers)
    assert httpx.get(f"{url}/v1/runs?token={token}").status_code == 401


def test_an_expired_or_revoked_token_is_none(url: str, warehouse: Warehouse) -> None:
    past = datetime.now(UTC) - timedelta(seconds=1)
    assert submit(url, make_token(warehouse, expires_at=past)).status_code == 401
    token = make_token(warehouse)
    assert httpx.get(f"{url}/v1/runs", headers=bearing(token)).status_code == 200
    with ServiceDatabase(warehouse) as database:
        revoke(database, token.split("_")[1])
    assert httpx.get(f"{url}/v1/runs", headers=bearing(token)).status_code == 401


def test_no_file_of_the_warehouse_holds_a_token(url: str, warehouse: Warehouse) -> None:
    token = make_token(warehouse)
    job_of(submit(url, token))
    secret = token.split("_", 2)[2].encode()
    files = [path for path in warehouse.root.rglob("*") if path.is_file()]
    assert services_file(warehouse) in files
    assert [path for path in files if secret in path.read_bytes()] == []


def test_a_reader_neither_submits_nor_sees_jobs(url: str, warehouse: Warehouse) -> None:
    before = job_ids(warehouse)
    headers = bearing(make_token(warehouse, Role.READER)) | {"X-HTTP-Method-Override": "GET"}
    for method, path in (("POST", "/evaluate"), ("POST", "/plan"), ("GET", "")):
        address = f"{url}/v1/jobs{path}"
        answer = httpx.request(method, address, headers=headers, json={"ideas": [IDEA]})
        assert (answer.status_code, answer.json()["state"]) == (403, "error")
    assert job_ids(warehouse) == before


def test_a_voter_reaches_no_route_that_could_show_scores(url: str, warehouse: Warehouse) -> None:
    voter, reader = (bearing(make_token(warehouse, role)) for role in (Role.VOTER, Role.READER))
    routes = httpx.get(f"{url}/openapi.json").json()["paths"]
    reads = [
        path.format(run_id="run-a", job_id="none", request_id="none")
        for path, methods in routes.items()
        if "get" in methods
    ]
    assert any(path.endswith("/ranking") for path in reads)
    for path in (*reads, "/mcp"):
        answer = httpx.get(f"{url}{path}?idea=idea-00000", headers=voter)
        assert (answer.status_code, answer.json()["state"]) == (403, "error"), path
        assert "a voter may not read results" in answer.json()["error"]
    assert httpx.get(f"{url}/v1/runs/run-a", headers=reader).status_code == 200


def decider(warehouse: Warehouse, scope: Role = Role.DECIDER) -> tuple[dict[str, str], str]:
    """Headers of somebody who may decide, and their pseudonym."""
    token = make_token(warehouse, scope)
    with ServiceDatabase(warehouse) as database:
        who = add_participant(database, "a decider", key=token.split("_")[1])
    return bearing(token), who.participant_id


def asked_of(warehouse: Warehouse, participant_id: str) -> Request:
    with warehouse.queries() as queries:
        run_id = queries.latest_run().run_id
        idea_id = queries.idea_scores(run_id)[0].idea_id
        parts = parts_of(queries.connection, run_id, idea_id)
    request = Request(
        request_id=uuid4().hex,
        run_id=run_id,
        unit_id=idea_id,
        stage=None,
        parts=parts,
        asked_by=None,
        asked_of=(participant_id,),
        requested_at=datetime.now(UTC),
    )
    with ServiceDatabase(warehouse) as database:
        request_all(database, [request])
    return request


def decide(url: str, request: Request, headers: dict[str, str], **answer: object) -> httpx.Response:
    body = {"verdict": "approved"} | answer
    return httpx.post(f"{url}/v1/inbox/{request.request_id}", json=body, headers=headers)


def test_a_decision_is_taken_once_from_whom_it_is_asked(url: str, warehouse: Warehouse) -> None:
    headers, who = decider(warehouse)
    request = asked_of(warehouse, who)
    (waiting,) = httpx.get(f"{url}/v1/inbox", headers=headers).json()["rows"]
    assert waiting["request_id"] == request.request_id
    markup = "<script>alert(1)</script>"
    answer = decide(
        url,
        request,
        headers,
        verdict="rejected",
        reason=markup,
        version_sha256=waiting["version_sha256"],
    )
    assert (answer.status_code, answer.json()["state"]) == (200, "rejected")
    assert answer.headers["content-type"] == "application/json"
    assert markup not in answer.text
    for again in ("rejected", "approved"):
        assert decide(url, request, headers, verdict=again).status_code == 409
    assert httpx.get(f"{url}/v1/inbox", headers=headers).json()["rows"] == []


def test_nobody_else_decides(url: str, warehouse: Warehouse) -> None:
    headers, who = decider(warehouse)
    request = asked_of(warehouse, who)
    for scope in (Role.READER, Role.SUBMITTER, Role.VOTER):
        lower, _ = decider(warehouse, scope)
        assert decide(url, request, lower).status_code == 403
        assert httpx.get(f"{url}/v1/inbox", headers=lower).status_code == 403
    other, _ = decider(warehouse)
    owner, _ = decider(warehouse, Role.OWNER)
    nobody = bearing(make_token(warehouse, Role.DECIDER))
    for stranger in (other, owner, nobody):
        assert decide(url, request, stranger).status_code == 403
    assert httpx.get(f"{url}/v1/inbox", headers=other).json()["rows"] == []
    assert decide(url, request, headers, participant_id=who, role="supervision").status_code == 422
    assert decide(url, request, headers, verdict="forgotten").status_code == 422
    assert decide(url, request, headers, version_sha256="ab" * 32).status_code == 409
    assert decide(url, request, headers, reason="x" * 2_001).status_code == 422
    half = '{"verdict": "approved", "reason": "\\ud800"}'
    as_json = headers | {"Content-Type": "application/json"}
    assert httpx.post(f"{url}/v1/inbox/none", content=half, headers=as_json).status_code == 422
    assert decide(url, request, headers).status_code == 200


def test_the_job_of_another_is_no_job_and_an_owner_sees_it(url: str, warehouse: Warehouse) -> None:
    job_id = job_of(submit(url, make_token(warehouse)))
    other, owner = bearing(make_token(warehouse)), bearing(make_token(warehouse, Role.OWNER))
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/events")):
        answer = httpx.request(method, f"{url}/v1/jobs/{job_id}{path}", headers=other)
        assert answer.status_code == 404
    assert httpx.get(f"{url}/v1/jobs", headers=other).json()["rows"] == []
    job = read_job(warehouse, job_id)
    assert job is not None
    assert not job.stop_requested
    assert httpx.get(f"{url}/v1/jobs/{job_id}", headers=owner).status_code == 200


def test_a_replay_with_the_same_key_is_the_same_job(url: str, warehouse: Warehouse) -> None:
    token, key = make_token(warehouse), {"Idempotency-Key": "once"}
    first = job_of(submit(url, token, **key))
    assert {job_of(submit(url, token, **key)) for _ in range(5)} == {first}
    assert submit(url, token, "Another idea about bats and moths.", **key).status_code == 409
    assert job_of(submit(url, make_token(warehouse), **key)) != first
    listed = httpx.get(f"{url}/v1/jobs", headers=bearing(token)).json()["rows"]
    assert [row["job_id"] for row in listed] == [first]


def test_a_token_has_no_more_open_jobs_than_it_may(url: str, warehouse: Warehouse) -> None:
    token = make_token(warehouse, maximum_open_jobs=2)
    first = job_of(submit(url, token))
    job_of(submit(url, token))
    answer = submit(url, token)
    assert (answer.status_code, "2 jobs of this token" in answer.json()["error"]) == (429, True)
    assert httpx.delete(f"{url}/v1/jobs/{first}", headers=bearing(token)).status_code == 200


def check_refused(answer: httpx.Response, status: int = 422) -> None:
    assert (answer.status_code, answer.json()["state"]) == (status, "error"), answer.text
    assert "\n" not in answer.json()["error"]


def test_what_is_not_offered_is_refused_in_one_line(url: str, warehouse: Warehouse) -> None:
    before, headers = job_ids(warehouse), bearing(make_token(warehouse))
    for name, value in (
        ("engine", "litellm:openai/gpt-5"),
        ("api_base", "https://evil.example/v1"),
        ("literature", "snapshot:/etc/passwd"),
        ("literature", "http://169.254.169.254"),
        ("profile", "/etc/passwd"),
        ("warehouse", "/tmp"),
        ("scheduler", "tcp://evil.example:8786"),
        ("workers", 200),
        ("workers", None),
        ("nonsense", 1),
        ("self", 1),
        ("modules", "none"),
        ("max_cost_usd", -1),
    ):
        body = {"ideas": [IDEA], "options": {name: value}}
        check_refused(httpx.post(f"{url}/v1/jobs/evaluate", json=body, headers=headers))
        sent = httpx.post(
            f"{url}/v1/jobs/evaluate/file",
            params={"filename": "ideas.jsonl", name: "" if value is None else str(value)},
            content=f'{{"text": "{IDEA}"}}',
            headers=headers,
        )
        check_refused(sent)
    assert job_ids(warehouse) == before


def test_a_ranking_that_is_not_offered_is_refused_in_one_line(
    url: str, warehouse: Warehouse
) -> None:
    before, headers = job_ids(warehouse), bearing(make_token(warehouse))
    reader = bearing(make_token(warehouse, Role.READER))
    not_offered: list[dict[str, Any]] = [
        {"scores": True},
        {"votes": "/etc/passwd"},
        {"project": "/etc/passwd"},
        {"profile": "/etc/passwd"},
        {"warehouse": "/tmp"},
        {"literature": "live"},
    ]
    for body, status in (
        ({"run_id": "../../etc"}, 404),
        ({"run_id": ""}, 422),
        ({"run_id": "run-a"}, 422),  # its engine is a model that is not offered
        *(
            ({"run_id": "run-a", "options": {"engine": "extractive"} | each}, 422)
            for each in not_offered
        ),
    ):
        check_refused(httpx.post(f"{url}/v1/jobs/rank", json=body, headers=headers), status)
        answer = httpx.post(f"{url}/v1/jobs/rank", json=body, headers=reader)
        assert answer.status_code in (403, 422)
    assert job_ids(warehouse) == before


@pytest.mark.parametrize(
    ("filename", "content", "status"),
    [
        ("ideas.parquet", b"PAR1 and whatever stands behind it", 202),
        ("ideas.xlsx", b"PK\x03\x04 and whatever stands behind it", 202),
        ("ideas.parquet", b"PK\x03\x04", 422),
        ("ideas.xlsx", b"a,b\n1,2", 422),
        ("ideas.xlsm", b"PK\x03\x04", 422),
        ("ideas.csv", b"PAR1\x00", 422),
    ],
)
def test_a_file_that_is_no_text_is_taken_by_its_first_bytes_and_opened_by_the_job_alone(
    url: str, warehouse: Warehouse, filename: str, content: bytes, status: int
) -> None:
    answer = httpx.post(
        f"{url}/v1/jobs/evaluate/file",
        params={"filename": filename},
        content=content,
        headers=bearing(make_token(warehouse)),
    )
    assert answer.status_code == status, answer.text
    if status == 202:
        job = read_job(warehouse, job_of(answer))
        assert job is not None
        assert isinstance(job.request, EvaluateJob)
        assert job.request.idea_file == content
        assert job.ideas.suffix == Path(filename).suffix


PAPER = sent_paper().model_dump(mode="json")
NO_REQUESTS = {
    "evaluate": (
        b"",
        b"{",
        b"[" * 10_000,
        b'{"ideas": []}',
        b'{"ideas": [7]}',
        b'{"ideas": ["\\ud800"]}',
        b'{"ideas": [{"text": "x", "notes": [{"deep": "\\udfff"}]}]}',
        b'{"ideas": ["x"], "name": "\\ud800"}',
        b'{"ideas": ["x"], "options": {"label": "\\ud800"}}',
        b'{"ideas": ["x"], "options": {"experiment": ["run-a", "\\ud800"]}}',
        b'{"ideas": ["x"], "options": {"label": "' + b"l" * 201 + b'"}}',
        b'{"ideas": ["x"], "options": {"experiment": -1}}',
        b'{"ideas": ["x"], "options": {"field": [["text"]]}}',
        b'{"ideas": ["x"], "options": {"max_cost_usd": NaN}}',
        b'{"ideas": [{"text": ' + b"[" * 500 + b"]" * 500 + b"}]}",
        b'{"ideas": ["x"], "name": "' + b"n" * 81 + b'"}',
        b'{"ideas": ["x"], "token_id": "another"}',
    ),
    "ask": (
        b'{"question": "\\ud800"}',
        b'{"question": "Why?", "options": {"engine": "\\ud800"}}',
    ),
    "rank": (
        b'{"run_id": "\\ud800"}',
        b'{"run_id": "run-a", "options": {"label": "\\ud800"}}',
    ),
    "curate": (
        b'{"papers": [{"paper_id": "a", "text": "\\ud800", "reviews": []}]}',
        *(
            orjson.dumps({"papers": [PAPER | wrong]})
            for wrong in (
                *({"paper_id": name} for name in ("../../etc/passwd", "a/b", "..", "")),
                *({"text": ""}, {"reviews": []}, {"cutoff_date": "soon"}, {"path": "/etc/passwd"}),
            )
        ),
        *(
            orjson.dumps({"papers": [PAPER], "options": options})
            for options in (
                {"warehouse": "/tmp"},
                {"engine": "litellm:openai/gpt-5"},
                {"profile": "/etc/passwd"},
            )
        ),
    ),
}


@pytest.mark.parametrize("command", NO_REQUESTS)
def test_a_body_that_is_no_request_is_refused_in_one_line(
    url: str, warehouse: Warehouse, command: str
) -> None:
    before = job_ids(warehouse)
    headers = bearing(make_token(warehouse)) | {"Content-Type": "application/json"}
    for body in NO_REQUESTS[command]:
        check_refused(httpx.post(f"{url}/v1/jobs/{command}", content=body, headers=headers))
    assert job_ids(warehouse) == before


def test_a_run_that_nobody_published_is_not_found(url: str, warehouse: Warehouse) -> None:
    headers = bearing(make_token(warehouse, Role.READER))
    for rest in ("", "/report", "/ranking", "/review?idea=idea-00000", "/closest?idea=idea-00000"):
        check_refused(httpx.get(f"{url}/v1/runs/NOSUCH{rest}", headers=headers), 404)


def raw(url: str, head: str, *pieces: bytes, pause_seconds: float = 0.0) -> bytes:
    """What the server says to a request written by hand."""
    at = urlsplit(url)
    said = b""
    with closing(socket.create_connection((at.hostname, at.port), timeout=60)) as connection:
        connection.sendall(head.format(host=at.netloc).replace("\n", "\r\n").encode())
        with suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause_seconds)
            while part := connection.recv(65_536):
                said += part
    return said


def head_of(token: str, *lines: str) -> str:
    first = ("POST /v1/jobs/evaluate HTTP/1.1", "Host: {host}", f"Authorization: Bearer {token}")
    return "\n".join((*first, "Content-Type: application/json", *lines, "", ""))


def test_an_oversized_body_is_refused_before_it_is_read(url: str, warehouse: Warehouse) -> None:
    token = make_token(warehouse)
    announced = raw(url, head_of(token, f"Content-Length: {MOST_BYTES + 1}"))
    assert announced.startswith(b"HTTP/1.1 413 ")
    chunk = b"%x\r\n%s\r\n" % (MOST_BYTES, b" " * MOST_BYTES)
    chunked = raw(url, head_of(token, "Transfer-Encoding: chunked"), chunk, chunk, b"0\r\n\r\n")
    assert chunked.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("how", ["Content-Length: 160000", "Transfer-Encoding: chunked"])
def test_who_is_still_sending_too_much_reads_the_refusal(
    how: str, url: str, warehouse: Warehouse
) -> None:
    piece = b" " * 10_000
    if "chunked" in how:
        piece = b"%x\r\n%s\r\n" % (len(piece), piece)
    end = b"0\r\n\r\n" if "chunked" in how else b""
    said = raw(url, head_of(make_token(warehouse), how), *[piece] * 16, end, pause_seconds=0.02)
    assert said.startswith(b"HTTP/1.1 413 ")
    assert f"more than {MOST_BYTES:,} bytes".encode() in said


def test_a_body_that_never_ends_is_not_read_for_ever(url: str, warehouse: Warehouse) -> None:
    def pieces() -> Iterator[bytes]:
        while True:
            yield b" " * 100_000

    headers = bearing(make_token(warehouse))
    with suppress(httpx.TransportError):
        answer = httpx.post(f"{url}/v1/jobs/evaluate", content=pieces(), headers=headers)
        assert answer.status_code == 413


def test_a_body_that_trickles_is_not_waited_for(url: str, warehouse: Warehouse) -> None:
    said = raw(url, head_of(make_token(warehouse), "Content-Length: 1000"), b'{"ideas"')
    assert said.startswith(b"HTTP/1.1 408 ")
    assert httpx.get(f"{url}/health").status_code == 200


async def test_half_a_body_of_who_went_away_is_no_body(warehouse: Warehouse) -> None:
    reached: list[object] = []
    told: list[Message] = []
    coming: list[Message] = [
        {"type": "http.request", "body": b"half of", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def application(*scope: object) -> None:
        reached.append(scope)

    async def receive() -> Message:
        return coming.pop(0)

    async def send(message: Message) -> None:
        told.append(message)

    authorization = (b"authorization", f"Bearer {make_token(warehouse)}".encode())
    path = "/v1/jobs/evaluate/file"
    scope = {"type": "http", "method": "POST", "path": path, "headers": [authorization]}
    with ServiceDatabase(warehouse) as database:
        await Gate(application, database, ApiSettings())(scope, receive, send)
    assert reached == []
    assert told[0]["status"] == 400


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: -1",),
        ("Content-Length: 1e3",),
        ("X-Long: " + "a" * 100_000,),
    ],
    ids=lambda lines: " ".join(lines)[:40],
)
def test_heads_that_mean_two_things_are_not_taken_for_requests(
    url: str, warehouse: Warehouse, lines: tuple[str, ...]
) -> None:
    before = job_ids(warehouse)
    said = raw(url, head_of(make_token(warehouse), *lines), b"0\r\n\r\n")
    assert not said.startswith(b"HTTP/1.1 2")
    assert job_ids(warehouse) == before


def test_a_path_leads_nowhere_but_to_what_it_names(url: str, warehouse: Warehouse) -> None:
    token = make_token(warehouse, Role.OWNER)
    for path in (
        "/v1/jobs/..%2f..%2fstate",
        "/v1/jobs/../../../etc/passwd",
        "/v1/jobs/%00",
        "/v1/runs/%00/closest?idea=x",
        "/v1/runs/..%2f..%2fetc/report",
        "/v1/runs/x%27%20or%201=1/report",
        "/v1/runs/%ff%fe/review?idea=..%2f..",
        "/v1/runs/x/review?idea=" + "a" * 5_000,
        "//v1/runs",
        "/v1/runs/",
        "/docs",
        "/V1/runs",
    ):
        head = f"GET {path} HTTP/1.1\nHost: {{host}}\nAuthorization: Bearer {token}\n"
        said = raw(url, head + "Connection: close\n\n")
        assert said.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 ", b"HTTP/1.1 422 ")), said[:200]
        assert b"root:" not in said


def test_a_page_of_another_site_is_not_answered(url: str, warehouse: Warehouse) -> None:
    token = bearing(make_token(warehouse, Role.OWNER))
    for name, value in (
        ("Host", "evil.example"),
        ("Origin", "https://evil.example"),
        ("Origin", "null"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ):
        for method in ("GET", "POST", "OPTIONS"):
            answer = httpx.request(method, f"{url}/v1/jobs", headers=token | {name: value})
            assert answer.status_code in (400, 403), (method, name, value)
            assert "access-control-allow-origin" not in answer.headers
            assert "set-cookie" not in answer.headers


def test_markup_of_an_idea_is_text_and_no_browser_runs_it(url: str, warehouse: Warehouse) -> None:
    token = make_token(warehouse)
    job = job_of(submit(url, token, "<script>alert(1)</script> We train a network on proteins."))
    told = httpx.get(f"{url}/v1/jobs/{job}", headers=bearing(token))
    assert told.headers["content-type"] == "application/json"
    (run,) = httpx.get(f"{url}/v1/runs", headers=bearing(token)).json()["rows"]
    page = httpx.get(
        f"{url}/v1/runs/{run['run_id']}/report?format=html", headers=bearing(token), timeout=60
    )
    assert page.status_code == 200
    assert page.headers["content-disposition"].startswith("attachment")
    for answer in (told, page, httpx.get(url)):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "<script" not in page.text


def test_the_page_of_the_api_loads_nothing(url: str) -> None:
    page = httpx.get(url).text
    assert "/v1/jobs/evaluate" in page
    assert "Idempotency-Key".lower() in page.lower()
    for mark in ("<script", "<link", "<img", "src=", "@import", "http://", "https://"):
        assert mark not in page
