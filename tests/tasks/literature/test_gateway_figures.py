"""What the gateway says of its work: in rows, in its own record, at /stats,
/healthz and /metrics.
"""

import asyncio
import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from schemas.calls import ApiCall
from schemas.choices import LIVE
from schemas.identifiers import IdeaId, PaperId
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.client import LiteratureClient
from tasks.literature.gateway.messages import Attempt, attempts_in, header_of
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.snapshot.snapshot import Snapshot
from tests.support.assay_command import wait_until
from tests.support.gateways import gateway_to
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus, paper_id
from warehouse.source_states import RECORD_NAME

MakeSettings = Callable[..., Settings]
FAULTS = {0: "429", 3: "500", 4: "truncated", 6: "slow", 7: "429", 9: "dropped", 12: "504"}


@pytest.fixture
def server() -> Iterator[SemanticScholarServer]:
    with SemanticScholarServer(
        corpus(100), fault=lambda number, path: FAULTS.get(number)
    ) as running:
        yield running


@pytest.fixture
def gateway(
    server: SemanticScholarServer, tmp_path: Path, settings_for: MakeSettings
) -> Iterator[GatewayProcess]:
    with GatewayProcess(
        settings_for(server.url, requests_per_second=50), LIVE, tmp_path / "cache"
    ) as running:
        yield running


def recorded(cache: Path) -> list[tuple[str, str, int | None, str | None]]:
    with sqlite3.connect(cache / RECORD_NAME) as connection:
        return list(
            connection.execute(
                "select request_id, endpoint, status, reason from requests order by sent_at"
            )
        )


async def rows_of_three_ideas(url: str) -> list[list[ApiCall]]:
    async def look(number: int, http: httpx.AsyncClient) -> list[ApiCall]:
        ledger = Ledger(IdeaId(f"idea-{number}"))
        client = LiteratureClient(url, ledger, http, Settings().literature)
        ids = [PaperId(paper_id(str(each))) for each in range(number * 10, number * 10 + 20)]
        await asyncio.gather(
            client.papers(ids, None), client.search_papers(f"topic {number}", 20, None)
        )
        await client.search_papers("topic 9 in graphs", 20, None)
        return ledger.api_calls

    async with httpx.AsyncClient(timeout=240) as http:
        return list(await asyncio.gather(*(look(number, http) for number in range(3))))


def test_every_request_that_left_is_a_row_of_one_idea_and_shares_add_up(
    server: SemanticScholarServer, tmp_path: Path, settings_for: MakeSettings
) -> None:
    settings = settings_for(server.url, requests_per_second=50, timeout_seconds=2.0)
    with GatewayProcess(settings, LIVE, tmp_path / "cache") as hurried:
        ideas = asyncio.run(rows_of_three_ideas(hurried.url))
    rows = [call for calls in ideas for call in calls]
    left = [call for call in rows if call.upstream_requests]
    assert Counter(call.call_id for call in left) == Counter(
        name for name, *_ in recorded(tmp_path / "cache")
    )
    assert len(left) == len(server.arrivals)
    assert sum(call.request_share for call in rows) == pytest.approx(len(server.arrivals), abs=1e-4)
    assert {call.failure_reason for call in left} >= {
        "rate_limited",
        "server_error",
        "malformed_answer",
        None,
    }
    packed = [call for call in rows if call.endpoint == "paper/batch"]
    assert {call.idea_id for call in packed} == {"idea-0", "idea-1", "idea-2"}
    assert all(call.request_share > 0 for call in packed)
    assert max(call.packed for call in packed if call.upstream_requests) == 40
    assert all(call.attempt == 1 for call in packed if not call.upstream_requests)


def ask_and_lose(url: str) -> None:
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/graph/v1/paper/search", params={"query": "slow"}, timeout=600)


def _stats(gateway: GatewayProcess) -> Any:
    """The gateway's figures; None while the killed process still owns the connection."""
    try:
        return httpx.get(f"{gateway.url}/stats", timeout=60).json()
    except httpx.TransportError:
        return None


def test_the_record_outlives_a_kill_and_knows_what_was_under_way(
    gateway: GatewayProcess, server: SemanticScholarServer, tmp_path: Path
) -> None:
    server.fault, server.slow_seconds = lambda number, path: "slow" if number == 2 else None, 600.0
    for number in range(2):
        httpx.get(f"{gateway.url}/graph/v1/paper/search", params={"query": f"topic {number}"})
    asking = threading.Thread(target=ask_and_lose, args=(gateway.url,))
    asking.start()
    wait_until(lambda: len(server.arrivals) == 3, 240, "the request that is not answered")
    os.kill(gateway.process_id, signal.SIGKILL)
    asking.join()
    assert [(status, reason) for _, _, status, reason in recorded(tmp_path / "cache")] == [
        (200, None),
        (200, None),
        (None, None),
    ]
    wait_until(lambda: _stats(gateway) is not None, 240, "the gateway's new process")
    hour, *_ = _stats(gateway)["upstream"]["hours"]
    assert (hour["requests"], hour["answered"], hour["outcome_unknown"]) == (3, 2, 1)


def test_statistics_and_metrics_tell_the_same(
    gateway: GatewayProcess, server: SemanticScholarServer
) -> None:
    for number in (0, 1, 1):
        httpx.get(f"{gateway.url}/graph/v1/paper/search", params={"query": f"topic {number}"})
    httpx.post(f"{gateway.url}/graph/v1/paper/batch", json={"ids": ["CorpusId:1001"]})
    health = httpx.get(f"{gateway.url}/healthz").json()
    assert (health["status"], health["source"]) == ("ok", "semantic_scholar")
    upstream = httpx.get(f"{gateway.url}/stats").json()["upstream"]
    assert upstream["outcomes"] == {
        "paper/batch": {"500": 1, "malformed_answer": 1, "200": 1},
        "paper/search": {"429": 1, "200": 2},
    }
    (hour,) = upstream["hours"][-1:]
    names = ("requests", "rate_limited", "server_errors", "repeated")
    assert [hour[name] for name in names] == [6, 1, 2, 3]
    page = httpx.get(f"{gateway.url}/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=")
    figures = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
    }
    assert figures["assay_gateway_requests_total", "200", "hit", "paper/search"] == 1
    assert figures["assay_gateway_upstream_requests_total", "429", "paper/search"] == 1
    assert figures["assay_gateway_upstream_requests_total", "malformed_answer", "paper/batch"] == 1
    assert figures["assay_gateway_look_ups_total", "sent"] == 1
    assert figures["assay_gateway_allowed_per_second",] == 50
    assert figures["assay_gateway_circuit_open",] == 0
    assert figures["assay_gateway_wait_seconds_total",] >= 0
    assert "topic" not in page.text
    assert "secret-key" not in page.text


async def test_a_gateway_over_a_snapshot_has_metrics_without_an_upstream(
    snapshot: Snapshot,
) -> None:
    async with gateway_to(snapshot) as gateway:
        await gateway.get("/graph/v1/paper/search", params={"query": "study"})
        page = (await gateway.get("/metrics")).text
    assert "assay_gateway_requests_total{" in page
    assert "upstream" not in page


@given(
    st.lists(
        st.builds(
            Attempt,
            st.uuids().map(lambda each: each.hex),
            st.none() | st.integers(100, 599),
            st.none() | st.sampled_from(["rate_limited", "timeout"]),
            st.integers(0, 10**6).map(lambda each: each / 1000),
            st.integers(0, 10**6).map(lambda each: each / 1000),
            st.integers(1, 500),
            st.integers(0, 2**31).map(float),
        ),
        max_size=100,
    )
)
def test_attempts_come_back_out_of_their_header(attempts: list[Attempt]) -> None:
    assert attempts_in(header_of(attempts)) == tuple(attempts)


@given(st.text())
def test_a_strange_header_holds_no_attempts_and_breaks_nothing(text: str) -> None:
    assert len(attempts_in(text)) <= text.count(",") + 1


def test_of_very_many_attempts_the_latest_hundred_travel() -> None:
    attempts = [
        Attempt(f"{number:032x}", 504, "server_error", 0.5, 0.1, 9, 1.0) for number in range(500)
    ]
    assert attempts_in(header_of(attempts)) == tuple(attempts[-100:])
