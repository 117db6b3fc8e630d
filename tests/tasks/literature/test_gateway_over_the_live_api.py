"""The gateway in front of a server that limits, fails and truncates like the live API."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from schemas.settings import Settings
from tasks.literature.gateway.application import application
from tasks.literature.gateway.transport import Transport
from tasks.literature.gateway.upstreams import LiveUpstream
from tasks.web.shared_limits import CircuitBreaker
from tests.support.semantic_scholar_server import FAULTS, SemanticScholarServer, corpus, paper_id
from warehouse.stores.keyed_store import KeyedStore

SEARCH = "/graph/v1/paper/search"
BATCH = "/graph/v1/paper/batch"
MakeSettings = Callable[..., Settings]


@asynccontextmanager
async def gateway_to(
    settings: Settings, cache: Path, breaker: CircuitBreaker | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    upstream = LiveUpstream(settings, KeyedStore(cache), Transport(settings, breaker=breaker))
    transport = httpx.ASGITransport(application(upstream))
    async with httpx.AsyncClient(
        transport=transport, base_url="http://gateway", timeout=60
    ) as client:
        yield client
    await upstream.close()


async def batch(
    client: httpx.AsyncClient, ids: list[str], fields: str = "title,corpusId"
) -> httpx.Response:
    return await client.post(BATCH, params={"fields": fields}, json={"ids": ids})


async def test_answers_are_passed_on_and_kept_over_restarts(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(30)) as server:
        for expected in ("miss", "hit"):
            async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
                response = await client.get(
                    SEARCH, params={"query": "topic 3", "fields": "title", "limit": 5}
                )
                empty = await client.get(SEARCH, params={"query": "zeppelin"})
                unknown = await client.get("/graph/v1/paper/0000", params={"fields": "nonsense"})
            assert (
                response.headers["x-assay-cache"],
                empty.json(),
                empty.headers["x-assay-cache"],
            ) == (
                expected,
                {"total": 0, "offset": 0},
                expected,
            )
            assert response.headers["x-assay-upstream-requests"] == (
                "1" if expected == "miss" else "0"
            )
            assert len(response.json()["data"]) == 5
            assert unknown.status_code == 404
        assert server.counts["paper/search"] == 2
        assert server.keys == {"secret-key-of-tests"}


async def test_old_answers_are_asked_for_again(
    tmp_path: Path, settings_for: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.literature.gateway.upstreams.CACHED_SECONDS", 1e-4)
    with SemanticScholarServer(corpus(5)) as server:
        for _ in range(2):
            async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
                await client.get(SEARCH, params={"query": "topic 3"})
        assert server.counts["paper/search"] == 2


async def test_identical_questions_in_flight_are_asked_once(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(30), delay_seconds=0.1) as server:
        async with (
            gateway_to(settings_for(server.url), tmp_path / "cache") as client,
            asyncio.TaskGroup() as group,
        ):
            tasks = [
                group.create_task(client.get(SEARCH, params={"query": "topic 3"}))
                for _ in range(10)
            ]
        assert sorted(task.result().headers["x-assay-cache"] for task in tasks) == [
            "coalesced"
        ] * 9 + ["miss"]
        assert len({task.result().content for task in tasks}) == 1
        assert server.counts["paper/search"] == 1


async def test_look_ups_of_many_clients_leave_as_one_batch_and_keep_their_places(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    papers = corpus(200)
    with SemanticScholarServer(papers) as server:
        async with (
            gateway_to(settings_for(server.url), tmp_path / "cache") as client,
            asyncio.TaskGroup() as group,
        ):
            batches = {
                start: group.create_task(
                    batch(
                        client,
                        [f"CorpusId:{1000 + start + each}" for each in range(10)]
                        + ["CorpusId:9", "PMID:"],
                    )
                )
                for start in range(0, 150, 5)
            }
            single = group.create_task(
                client.get(f"/graph/v1/paper/{paper_id('3')}", params={"fields": "corpusId,title"})
            )
        for start, task in batches.items():
            rows = task.result().json()
            assert [row and row["corpusId"] for row in rows] == [
                1000 + start + each for each in range(10)
            ] + [None, None]
        assert single.result().json()["corpusId"] == 1003
        assert server.counts["paper/batch"] == 1
        assert len(server.batches[0]) == len(set(server.batches[0]))
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            again = await batch(client, ["CorpusId:1149", "CorpusId:9", "corpusID:1000"])
        assert again.headers["x-assay-cache"] == "hit"
        assert [row and row["corpusId"] for row in again.json()] == [1149, None, 1000]
        assert server.counts["paper/batch"] == 1


async def test_more_than_five_hundred_ids_leave_in_several_batches(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(1200)) as server:
        async with (
            gateway_to(settings_for(server.url), tmp_path / "cache") as client,
            asyncio.TaskGroup() as group,
        ):
            tasks = [
                group.create_task(
                    batch(client, [f"CorpusId:{1000 + start + each}" for each in range(400)])
                )
                for start in (0, 400, 800)
            ]
        assert [len(task.result().json()) for task in tasks] == [400] * 3
        assert sorted(map(len, server.batches)) == [200, 500, 500]


async def test_a_batch_without_known_ids_is_nulls_inside_and_the_apis_400_outside(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            none = await batch(client, ["CorpusId:1", "CorpusId:2"])
            one = await client.get(
                "/graph/v1/paper/CorpusId:1", params={"fields": "corpusId,title"}
            )
            mixed = await batch(client, ["CorpusId:1", "CorpusId:1001"])
        assert (none.status_code, none.json()) == (400, {"error": "No valid paper ids given"})
        assert (one.status_code, one.json(), one.headers["x-assay-cache"]) == (
            404,
            {"error": "Paper with id CorpusId:1 not found"},
            "hit",
        )
        assert mixed.json()[0] is None
        assert server.batches == [["CorpusId:1", "CorpusId:2"], ["CorpusId:1001"]]


async def test_unknown_fields_are_refused_with_the_apis_words_and_spoil_no_other_look_up(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        async with (
            gateway_to(settings_for(server.url), tmp_path / "cache") as client,
            asyncio.TaskGroup() as group,
        ):
            bad = group.create_task(batch(client, ["CorpusId:1001"], "title,nonsense"))
            good = group.create_task(batch(client, ["CorpusId:1001"]))
        assert (bad.result().status_code, bad.result().json()) == (
            400,
            {"error": "Unrecognized or unsupported fields: [nonsense]"},
        )
        assert good.result().json()[0]["corpusId"] == 1001


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_passing_fault_is_retried_and_never_seen(
    tmp_path: Path, settings_for: MakeSettings, fault: str
) -> None:
    with SemanticScholarServer(
        corpus(30), fault=lambda number, path: fault if number < 2 else None
    ) as server:
        async with gateway_to(
            settings_for(server.url, timeout_seconds=1.0 if fault == "slow" else 60.0),
            tmp_path / "cache",
        ) as client:
            found = await client.get(SEARCH, params={"query": "topic 3", "fields": "title"})
            rows = await batch(client, ["CorpusId:1001", "CorpusId:1002"])
        assert found.status_code == rows.status_code == 200
        assert found.headers["x-assay-upstream-requests"] == "3"
        assert len(server.arrivals) == 4


@pytest.mark.parametrize(
    ("fault", "reason", "status"),
    [
        ("429", "rate_limited", 429),
        ("500", "server_error", 500),
        ("503", "server_error", 500),
        ("504", "server_error", 500),
        ("truncated", "malformed_answer", 500),
        ("slow", "timeout", 504),
        ("dropped", "unreachable", 504),
    ],
)
async def test_a_lasting_fault_is_could_not_look_with_its_reason_and_is_not_kept(
    tmp_path: Path, settings_for: MakeSettings, fault: str, reason: str, status: int
) -> None:
    broken = True
    with SemanticScholarServer(
        corpus(30), fault=lambda number, path: fault if broken else None
    ) as server:
        hurried = settings_for(
            server.url, maximum_attempts=3, timeout_seconds=0.2 if fault == "slow" else 60.0
        )
        async with gateway_to(hurried, tmp_path / "cache") as client:
            search = await client.get(SEARCH, params={"query": "topic 3"})
            assert (search.status_code, search.json()["reason"]) == (status, reason)
            assert "secret" not in search.text
            assert search.headers["x-assay-upstream-requests"] == "3"
            rows = await batch(client, ["CorpusId:1001"])
            assert (rows.status_code, rows.json()["reason"]) == (status, reason)
        broken = False
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            assert (await client.get(SEARCH, params={"query": "topic 3"})).status_code == 200
            assert (await batch(client, ["CorpusId:1001"])).status_code == 200


async def test_a_batch_that_is_too_slow_is_halved_until_it_passes(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(100), largest_quick_batch=20) as server:
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            found = await batch(client, [f"CorpusId:{1000 + each}" for each in range(64)])
        assert [row["corpusId"] for row in found.json()] == [1000 + each for each in range(64)]
        assert [len(each) for each in server.batches] == [64, 32, 16, 16, 32, 16, 16]


async def test_a_reference_batch_cut_off_in_silence_is_asked_again_in_parts(
    tmp_path: Path, settings_for: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.literature.gateway.look_ups.MOST_NESTED_ROWS", 50)
    papers = corpus(80, references_each=10)
    with SemanticScholarServer(papers, most_nested_rows=50) as server:
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            found = await batch(
                client,
                [paper["paperId"] for paper in papers[40:60]],
                "referenceCount,references.title",
            )
        for row, paper in zip(found.json(), papers[40:60], strict=True):
            assert (
                row["references"] is None
                if paper["cited"] is None
                else len(row["references"]) == row["referenceCount"]
            )
        assert len(server.batches) > 3


async def test_a_refusal_of_the_key_is_passed_on_and_not_retried(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(5)) as server:
        server._answer = lambda *_: (403, {"message": "Forbidden"})  # type: ignore[method-assign]
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            for _ in range(2):
                found = await client.get(SEARCH, params={"query": "topic"})
                assert (found.status_code, found.json()) == (403, {"message": "Forbidden"})
        assert len(server.arrivals) == 2


async def test_the_circuit_opens_says_so_and_closes_again(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    now = [0.0]
    breaker = CircuitBreaker(None, minimum_failures=4, minimum_seconds=0, clock=lambda: now[0])
    broken = True
    with SemanticScholarServer(
        corpus(5), fault=lambda number, path: "500" if broken else None
    ) as server:
        async with gateway_to(
            settings_for(server.url, maximum_attempts=4), tmp_path / "cache", breaker
        ) as client:
            assert (await client.get(SEARCH, params={"query": "one"})).json()[
                "reason"
            ] == "server_error"
            refused = await client.get(SEARCH, params={"query": "two"})
            looked_up = await batch(client, ["CorpusId:1001"])
            assert (refused.status_code, refused.json()["reason"], looked_up.json()["reason"]) == (
                504,
                "circuit_open",
                "circuit_open",
            )
            assert len(server.arrivals) == 4
            now[0], broken = 61.0, False
            assert (await client.get(SEARCH, params={"query": "two topic"})).status_code == 200
            assert (await batch(client, ["CorpusId:1001"])).status_code == 200


async def test_a_circuit_that_is_tried_again_too_early_stays_open_and_does_not_stick(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    now, answers = [0.0], ["500"] * 4 + ["429"] + ["429"]
    breaker = CircuitBreaker(None, minimum_failures=4, minimum_seconds=0, clock=lambda: now[0])
    with SemanticScholarServer(
        corpus(5), fault=lambda number, path: answers.pop(0) if answers else None
    ) as server:
        async with gateway_to(
            settings_for(server.url, maximum_attempts=4), tmp_path / "cache", breaker
        ) as client:
            reasons = [(await client.get(SEARCH, params={"query": "one"})).json()["reason"]]
            for moment in (61.0, 122.0):
                now[0] = moment
                reasons.append((await client.get(SEARCH, params={"query": "one"})).json()["reason"])
            now[0] = 183.0
            assert (await client.get(SEARCH, params={"query": "topic"})).status_code == 200
    assert reasons == ["server_error", "circuit_open", "circuit_open"]
    assert len(server.arrivals) == 7, "one at a time while it is tried again"


async def test_an_upstream_that_refuses_everybody_opens_the_circuit(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    breaker = CircuitBreaker(minimum_failures=8, minimum_seconds=0)
    with SemanticScholarServer(corpus(5), fault=lambda number, path: "429") as server:
        async with gateway_to(
            settings_for(server.url, maximum_attempts=5), tmp_path / "cache", breaker
        ) as client:
            reasons = [
                (await client.get(SEARCH, params={"query": str(number)})).json()["reason"]
                for number in range(3)
            ]
    assert reasons == ["rate_limited", "circuit_open", "circuit_open"]
    assert len(server.arrivals) == 8


async def test_recommendations_within_dates_fill_their_places(
    tmp_path: Path, settings_for: MakeSettings
) -> None:
    with SemanticScholarServer(corpus(200)) as server:
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            path, parameters = (
                f"/recommendations/v1/papers/forpaper/{paper_id('4')}",
                {"limit": 5, "fields": "title", "from": "all-cs"},
            )
            free = (await client.get(path, params=parameters)).json()["recommendedPapers"]
            dated = (
                await client.get(
                    path, params={**parameters, "publicationDateOrYear": ":2019-12-31"}
                )
            ).json()["recommendedPapers"]
        assert len(free) == len(dated) == 5
        assert all(paper["year"] <= 2019 for paper in dated)


async def test_requests_are_logged_without_keys(
    tmp_path: Path, settings_for: MakeSettings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "assay.gateway")
    with SemanticScholarServer(corpus(5)) as server:
        async with gateway_to(settings_for(server.url), tmp_path / "cache") as client:
            await client.get(
                SEARCH, params={"query": "topic"}, headers={"x-api-key": "a-clients-own-key"}
            )
    assert "GET /graph/v1/paper/search 200 miss" in caplog.text
    assert "secret-key-of-tests" not in caplog.text
    assert "a-clients-own-key" not in caplog.text
