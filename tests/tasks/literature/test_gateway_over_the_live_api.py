"""The gateway in front of a server that limits, fails and truncates like the live API."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.settings import Settings
from tasks.literature.gateway import live_requests
from tasks.literature.gateway.messages import REFUSED_HEADER
from tasks.web.shared_limits import CircuitBreaker
from tests.support.gateways import BATCH, SEARCH, live_gateway
from tests.support.semantic_scholar_server import FAULTS, SemanticScholarServer, corpus, paper_id

Opens = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def opens(tmp_path: Path, settings_for: Callable[..., Settings]) -> Opens:
    """Gateways one after the other with one cache; keyword arguments are settings."""

    def open_(
        server: SemanticScholarServer, breaker: CircuitBreaker | None = None, **changes: Any
    ) -> AbstractAsyncContextManager[httpx.AsyncClient]:
        return live_gateway(settings_for(server.url, **changes), tmp_path / "cache", breaker)

    return open_


async def batch(client: httpx.AsyncClient, ids: list[str], fields: str = "title,corpusId") -> Any:
    return await client.post(BATCH, params={"fields": fields}, json={"ids": ids})


async def reason(client: httpx.AsyncClient, query: str = "one") -> Any:
    return (await client.get(SEARCH, params={"query": query})).json().get("reason")


def numbered(start: int, count: int) -> list[str]:
    return [f"CorpusId:{1000 + start + each}" for each in range(count)]


async def test_answers_are_passed_on_and_kept_over_restarts(opens: Opens) -> None:
    asked = {"query": "topic 3", "fields": "title", "limit": 5}
    with SemanticScholarServer(corpus(30)) as server:
        for use, sent in (("miss", "1"), ("hit", "0")):
            async with opens(server) as client:
                response = await client.get(SEARCH, params=asked)
                empty = await client.get(SEARCH, params={"query": "zeppelin"})
                unknown = await client.get("/graph/v1/paper/0000", params={"fields": "nonsense"})
            assert [each.headers["x-assay-cache"] for each in (response, empty)] == [use] * 2
            assert response.headers["x-assay-upstream-requests"] == sent
            assert len(response.json()["data"]) == 5
            assert empty.json() == {"total": 0, "offset": 0}
            assert unknown.status_code == 404
        assert server.counts["paper/search"] == 2
        assert server.keys == {"secret-key-of-tests"}


async def test_old_answers_are_asked_for_again(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.literature.gateway.upstreams.CACHED_SECONDS", 1e-4)
    with SemanticScholarServer(corpus(5)) as server:
        for _ in range(2):
            async with opens(server) as client:
                await client.get(SEARCH, params={"query": "topic 3"})
        assert server.counts["paper/search"] == 2


async def test_identical_questions_in_flight_are_asked_once(opens: Opens) -> None:
    with SemanticScholarServer(corpus(30), delay_seconds=0.1) as server:
        async with opens(server) as client:
            asked = (client.get(SEARCH, params={"query": "topic 3"}) for _ in range(10))
            answers = await asyncio.gather(*asked)
        uses = sorted(each.headers["x-assay-cache"] for each in answers)
        assert uses == ["coalesced"] * 9 + ["miss"]
        assert len({each.content for each in answers}) == 1
        assert server.counts["paper/search"] == 1


async def test_look_ups_of_many_clients_leave_as_one_batch_and_keep_their_places(
    opens: Opens,
) -> None:
    starts = range(0, 150, 5)
    with SemanticScholarServer(corpus(200)) as server:
        async with opens(server) as client:
            asked = (batch(client, [*numbered(each, 10), "CorpusId:9", "PMID:"]) for each in starts)
            path, fields = f"/graph/v1/paper/{paper_id('3')}", {"fields": "corpusId,title"}
            single, *answers = await asyncio.gather(client.get(path, params=fields), *asked)
        for start, answer in zip(starts, answers, strict=True):
            known = [1000 + start + each for each in range(10)]
            assert [row and row["corpusId"] for row in answer.json()] == [*known, None, None]
        assert single.json()["corpusId"] == 1003
        assert server.counts["paper/batch"] == 1
        assert len(server.batches[0]) == len(set(server.batches[0]))
        async with opens(server) as client:
            again = await batch(client, ["CorpusId:1149", "CorpusId:9", "corpusID:1000"])
        assert again.headers["x-assay-cache"] == "hit"
        assert [row and row["corpusId"] for row in again.json()] == [1149, None, 1000]
        assert server.counts["paper/batch"] == 1


async def test_more_than_five_hundred_ids_leave_in_several_batches(opens: Opens) -> None:
    with SemanticScholarServer(corpus(1200)) as server:
        async with opens(server) as client:
            asked = (batch(client, numbered(start, 400)) for start in (0, 400, 800))
            answers = await asyncio.gather(*asked)
        assert [len(each.json()) for each in answers] == [400] * 3
        assert sorted(map(len, server.batches)) == [200, 500, 500]


async def test_a_batch_without_known_ids_is_nulls_inside_and_the_apis_400_outside(
    opens: Opens,
) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        async with opens(server) as client:
            none = await batch(client, ["CorpusId:1", "CorpusId:2"])
            fields = {"fields": "corpusId,title"}
            one = await client.get("/graph/v1/paper/CorpusId:1", params=fields)
            mixed = await batch(client, ["CorpusId:1", "CorpusId:1001"])
        assert (none.status_code, none.json()) == (400, {"error": "No valid paper ids given"})
        assert (one.status_code, one.headers["x-assay-cache"]) == (404, "hit")
        assert one.json() == {"error": "Paper with id CorpusId:1 not found"}
        assert mixed.json()[0] is None
        assert server.batches == [["CorpusId:1", "CorpusId:2"], ["CorpusId:1001"]]


async def test_unknown_fields_are_refused_with_the_apis_words_and_spoil_no_other_look_up(
    opens: Opens,
) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        async with opens(server) as client:
            bad, good = await asyncio.gather(
                batch(client, ["CorpusId:1001"], "title,nonsense"), batch(client, ["CorpusId:1001"])
            )
    error = "Unrecognized or unsupported fields: [nonsense]"
    assert (bad.status_code, bad.json()) == (400, {"error": error})
    assert good.json()[0]["corpusId"] == 1001


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_passing_fault_is_retried_and_never_seen(opens: Opens, fault: str) -> None:
    passing = lambda number, path: fault if number < 2 else None  # noqa: E731
    seconds = 1.0 if fault == "slow" else 60.0
    with SemanticScholarServer(corpus(30), fault=passing) as server:
        async with opens(server, timeout_seconds=seconds) as client:
            found = await client.get(SEARCH, params={"query": "topic 3", "fields": "title"})
            rows = await batch(client, ["CorpusId:1001", "CorpusId:1002"])
        assert found.status_code == rows.status_code == 200
        assert found.headers["x-assay-upstream-requests"] == "3"
        assert len(server.arrivals) == 4


@pytest.mark.parametrize(
    ("fault", "reason", "status"),
    [
        ("503", "server_error", 500),
        ("truncated", "malformed_answer", 500),
        ("slow", "timeout", 504),
        ("dropped", "unreachable", 504),
    ],
)
async def test_a_lasting_fault_is_could_not_look_with_its_reason_and_is_not_kept(
    opens: Opens, fault: str, reason: str, status: int
) -> None:
    with SemanticScholarServer(corpus(30), fault=lambda number, path: fault) as server:
        seconds = 0.2 if fault == "slow" else 60.0
        async with opens(server, maximum_attempts=3, timeout_seconds=seconds) as client:
            search = await client.get(SEARCH, params={"query": "topic 3"})
            rows = await batch(client, ["CorpusId:1001"])
        for answer in (search, rows):
            assert (answer.status_code, answer.json()["reason"]) == (status, reason)
        assert "secret" not in search.text
        assert search.headers["x-assay-upstream-requests"] == "3"
        server.fault = lambda number, path: None
        async with opens(server) as client:
            assert (await client.get(SEARCH, params={"query": "topic 3"})).status_code == 200
            assert (await batch(client, ["CorpusId:1001"])).status_code == 200


async def test_a_limit_is_waited_for_beyond_the_attempts_of_other_faults(opens: Opens) -> None:
    faults = ["429"] * 9
    fault = lambda number, path: faults.pop() if faults else None  # noqa: E731
    breaker = CircuitBreaker(minimum_failures=2, minimum_seconds=0)
    with SemanticScholarServer(corpus(30), fault=fault) as server:
        async with opens(server, breaker, maximum_attempts=2) as client:
            found = await client.get(SEARCH, params={"query": "topic 3"})
    assert (found.status_code, found.headers["x-assay-upstream-requests"]) == (200, "10")


async def test_a_limit_that_lasts_is_could_not_look_and_opens_no_circuit(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_requests, "MAXIMUM_TOTAL_SECONDS", 0.5)
    breaker = CircuitBreaker(minimum_failures=2, minimum_seconds=0)
    with SemanticScholarServer(corpus(5), fault=lambda number, path: "429") as server:
        async with opens(server, breaker) as client:
            reasons = [await reason(client, str(number)) for number in range(3)]
    assert reasons == ["rate_limited"] * 3


async def test_a_web_page_instead_of_data_is_named_after_two_tries(opens: Opens) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        server._answer = lambda *_: (200, b"<!DOCTYPE html><p>Please sign in")  # type: ignore[method-assign]
        async with opens(server) as client:
            found = await client.get(SEARCH, params={"query": "topic"})
        assert found.json()["reason"] == "malformed_answer"
        assert "a web page instead of data" in found.json()["error"]
        assert len(server.arrivals) == 2


async def test_a_key_that_is_refused_again_and_again_is_asked_no_more(opens: Opens) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        server._answer = lambda *_: (403, {"message": "Forbidden"})  # type: ignore[method-assign]
        async with opens(server) as client:
            answers = [
                await client.get(SEARCH, params={"query": f"topic {number}"}) for number in range(9)
            ]
        assert len(server.arrivals) == 5, "none is retried"
        assert (answers[4].status_code, answers[4].json()) == (403, {"message": "Forbidden"})
        assert REFUSED_HEADER not in answers[4].headers
        assert REFUSED_HEADER in answers[5].headers
        assert answers[5].json()["reason"] == "forbidden"


async def test_a_batch_that_is_too_slow_is_halved_until_it_passes(opens: Opens) -> None:
    with SemanticScholarServer(corpus(100), largest_quick_batch=20) as server:
        async with opens(server) as client:
            found = await batch(client, numbered(0, 64))
        assert [row["corpusId"] for row in found.json()] == [1000 + each for each in range(64)]
        assert [len(each) for each in server.batches] == [64, 32, 16, 16, 32, 16, 16]


async def test_a_reference_batch_cut_off_in_silence_is_asked_again_in_parts(
    opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.literature.gateway.look_ups.MOST_NESTED_ROWS", 50)
    papers = corpus(80, references_each=10)
    with SemanticScholarServer(papers, most_nested_rows=50) as server:
        async with opens(server) as client:
            asked = [paper["paperId"] for paper in papers[40:60]]
            found = await batch(client, asked, "referenceCount,references.title")
        for row, paper in zip(found.json(), papers[40:60], strict=True):
            known = None if paper["cited"] is None else row["referenceCount"]
            assert (row["references"] and len(row["references"])) == known
        assert len(server.batches) > 3


async def test_the_circuit_opens_says_so_and_closes_again(opens: Opens) -> None:
    now = [0.0]
    breaker = CircuitBreaker(None, minimum_failures=4, minimum_seconds=0, clock=lambda: now[0])
    with SemanticScholarServer(corpus(5), fault=lambda number, path: "500") as server:
        async with opens(server, breaker, maximum_attempts=4) as client:
            assert await reason(client) == "server_error"
            refused = await client.get(SEARCH, params={"query": "two"})
            looked_up = await batch(client, ["CorpusId:1001"])
            assert (refused.status_code, refused.json()["reason"]) == (504, "circuit_open")
            assert looked_up.json()["reason"] == "circuit_open"
            assert len(server.arrivals) == 4
            now[0], server.fault = 61.0, lambda number, path: None
            assert (await client.get(SEARCH, params={"query": "two topic"})).status_code == 200
            assert (await batch(client, ["CorpusId:1001"])).status_code == 200


async def test_a_circuit_that_is_tried_again_too_early_stays_open_and_does_not_stick(
    opens: Opens,
) -> None:
    now, faults = [0.0], ["500"] * 4 + ["503"] * 2
    breaker = CircuitBreaker(None, minimum_failures=4, minimum_seconds=0, clock=lambda: now[0])
    fault = lambda number, path: faults.pop(0) if faults else None  # noqa: E731
    with SemanticScholarServer(corpus(5), fault=fault) as server:
        async with opens(server, breaker, maximum_attempts=4) as client:
            reasons = []
            for now[0] in (0.0, 61.0, 122.0):
                reasons.append(await reason(client))
            now[0] = 183.0
            assert (await client.get(SEARCH, params={"query": "topic"})).status_code == 200
    assert reasons == ["server_error", "circuit_open", "circuit_open"]
    assert len(server.arrivals) == 7, "one at a time while it is tried again"


async def test_recommendations_within_dates_fill_their_places(opens: Opens) -> None:
    path = f"/recommendations/v1/papers/forpaper/{paper_id('4')}"
    asked = {"limit": 5, "fields": "title", "from": "all-cs"}
    with SemanticScholarServer(corpus(200)) as server:
        async with opens(server) as client:
            free, dated = [
                (await client.get(path, params=asked | within)).json()["recommendedPapers"]
                for within in ({}, {"publicationDateOrYear": ":2019-12-31"})
            ]
    assert len(free) == len(dated) == 5
    assert all(paper["year"] <= 2019 for paper in dated)


async def test_requests_are_logged_without_keys(
    opens: Opens, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "assay.gateway")
    with SemanticScholarServer(corpus(5)) as server:
        async with opens(server) as client:
            headers = {"x-api-key": "a-clients-own-key"}
            await client.get(SEARCH, params={"query": "topic"}, headers=headers)
    assert "GET /graph/v1/paper/search 200 miss" in caplog.text
    assert "secret-key-of-tests" not in caplog.text
    assert "a-clients-own-key" not in caplog.text
