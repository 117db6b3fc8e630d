"""One idea's client, through a gateway, over a snapshot and over the test server."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import date
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.choices import LIVE
from schemas.errors import BudgetExhaustedError, RequestRejectedError
from schemas.identifiers import IdeaId, PaperId
from schemas.reasons import Reason
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.api_shapes import plain_query
from tasks.literature.client import LiteratureClient
from tasks.literature.gateway.application import application
from tasks.literature.gateway.process import GatewayProcess
from tasks.literature.gateway.upstreams import LiveUpstream
from tasks.literature.gateway_requests import GatewayRequests
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tests.support.gateways import GATEWAY, gateway_to
from tests.support.paper_files import paper_rows, write_parquet
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus, paper_id
from tests.support.web_servers import shaped_server
from warehouse.stores.keyed_store import KeyedStore

MakeSettings = Callable[..., Settings]
CUTOFF = date(2019, 6, 30)


@pytest.fixture
def server() -> Iterator[SemanticScholarServer]:
    with SemanticScholarServer(corpus(120)) as running:
        yield running


@pytest.fixture
async def http(
    server: SemanticScholarServer, tmp_path: Path, settings_for: MakeSettings
) -> AsyncIterator[httpx.AsyncClient]:
    """Reaches a gateway in this process by its name, and whatever else over the network."""
    settings = settings_for(server.url, maximum_attempts=2)
    upstream = LiveUpstream(settings, KeyedStore(tmp_path / "cache"))
    mounts = {GATEWAY: httpx.ASGITransport(application(upstream))}
    async with httpx.AsyncClient(mounts=mounts) as client:
        yield client
    await upstream.close()


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(IdeaId("idea"))


@pytest.fixture
def client(ledger: Ledger, http: httpx.AsyncClient) -> LiteratureClient:
    return LiteratureClient(GATEWAY, ledger, http, Settings().literature)


async def test_a_search_respects_the_cutoff_twice_and_counts_what_it_removed(
    client: LiteratureClient, ledger: Ledger
) -> None:
    answer = await client.search_papers("study of topic-4 graphs: a survey", 100, CUTOFF)
    assert answer.complete
    assert answer.items
    assert all(paper.admissible(CUTOFF) for paper in answer.items)
    assert answer.inadmissible_count > 0, (
        "the source lets papers of 2019 without a day pass; they may be from December"
    )
    call = ledger.api_calls[0]
    assert (call.source, call.endpoint, call.status) == ("semantic_scholar", "paper/search", 200)
    assert (call.cache_hit, call.upstream_requests) == (False, 1)


async def test_a_search_beyond_one_page_goes_on(client: LiteratureClient, ledger: Ledger) -> None:
    answer = await client.search_papers("study", 110, None)
    assert len({paper.paper_id for paper in answer.items}) == 110
    assert len(ledger.api_calls) == 2
    nothing = await client.search_papers("zeppelin xylophone", 20, CUTOFF)
    assert (nothing.items, nothing.failures, nothing.inadmissible_count) == ((), (), 0)


async def test_passages_name_papers_and_the_papers_they_mention(
    client: LiteratureClient, ledger: Ledger
) -> None:
    answer = await client.search_snippets("study of topic 4", 20, CUTOFF)
    assert answer.complete
    assert len(ledger.api_calls) == 2, "one search, and one batch for all papers it speaks of"
    named = [
        each for passage in answer.items for each in (passage.paper_id, *passage.cited_paper_ids)
    ]
    papers = await client.papers(named, CUTOFF)
    assert {paper.paper_id for paper in papers.items} == set(named)
    assert len(ledger.api_calls) == 2, "papers seen in an answer are not asked for again"
    assert any(passage.cited_paper_ids for passage in answer.items)
    assert {passage.kind for passage in answer.items} == {"body"}
    assert len({passage.passage_id for passage in answer.items}) == len(answer.items)


async def test_the_same_question_is_asked_once_even_at_the_same_time(
    client: LiteratureClient, ledger: Ledger
) -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(client.search_papers("topic 3", 10, CUTOFF)) for _ in range(5)]
        ids = [PaperId(paper_id(each)) for each in ("77", "78")]
        looked_up = [group.create_task(client.papers(ids, None)) for _ in range(5)]
    assert len({task.result().items for task in tasks}) == 1
    assert all(len(task.result().items) == 2 for task in looked_up)
    assert sorted(call.endpoint for call in ledger.api_calls) == ["paper/batch", "paper/search"]


async def test_unknown_papers_are_left_out_and_remembered_as_unknown(
    client: LiteratureClient, ledger: Ledger
) -> None:
    unknown = [PaperId("0" * 40), PaperId("1" * 40)]
    for _ in range(2):
        answer = await client.papers(unknown, None)
        assert (answer.items, answer.failures) == ((), ())
    mixed = await client.papers([*unknown, PaperId(paper_id("5"))], None)
    assert [paper.title for paper in mixed.items] == ["Study 5 of topic 5 in graphs"]
    assert [call.packed for call in ledger.api_calls] == [2, 1]


async def test_papers_after_the_cutoff_are_removed_and_counted(client: LiteratureClient) -> None:
    answer = await client.papers([PaperId(paper_id(str(each))) for each in range(10)], CUTOFF)
    assert all(paper.admissible(CUTOFF) for paper in answer.items)
    assert answer.inadmissible_count > 0
    assert len(answer.items) + answer.inadmissible_count == 10


async def test_recommendations_are_admissible_and_never_the_seed(
    client: LiteratureClient,
) -> None:
    seed = PaperId(paper_id("4"))
    answer = await client.recommendations(seed, 8, CUTOFF)
    assert answer.complete
    assert 0 < len(answer.items) <= 8
    assert seed not in {paper.paper_id for paper in answer.items}
    assert all(paper.admissible(CUTOFF) for paper in answer.items)
    unknown = await client.recommendations(PaperId("0" * 40), 8, CUTOFF)
    assert [failure.reason for failure in unknown.failures] == ["not_found"]


async def test_references_of_many_seeds_take_one_batch_and_one_for_missing_abstracts(
    client: LiteratureClient, ledger: Ledger
) -> None:
    seeds = [PaperId(paper_id(str(number))) for number in range(10, 40)]
    answer = await client.references(seeds, 2, None)
    assert ledger.api_calls[0].packed == 30
    assert len(ledger.api_calls) == 2
    by_seed = {
        seed: [paper for edge, paper in answer.items if edge.citing_paper_id == seed]
        for seed in seeds
    }
    withheld = [seed for number, seed in enumerate(seeds, start=10) if number % 7 == 6]
    assert all(len(papers) == (0 if seed in withheld else 2) for seed, papers in by_seed.items())
    assert all(paper.abstract for _, paper in answer.items)
    (failure,) = answer.failures
    assert (failure.reason, failure.detail.split(" of ")[1]) == ("withheld", str(len(withheld)))
    await client.references(seeds, 3, None)
    assert [call.endpoint for call in ledger.api_calls].count("paper/batch") <= 3, (
        "the lists themselves are not asked for again"
    )


async def test_an_upstream_that_fails_is_a_failure_and_not_an_empty_answer(
    server: SemanticScholarServer, client: LiteratureClient, ledger: Ledger
) -> None:
    server.fault, seed = lambda number, path: "500", PaperId(paper_id("3"))
    for answer in (
        await client.search_papers("topic 3", 5, None),
        await client.search_snippets("topic 3", 5, None),
        await client.papers([seed], None),
        await client.recommendations(seed, 5, None),
        await client.references([seed], 5, None),
    ):
        assert [failure.reason for failure in answer.failures] == ["server_error"]
    attempts = [call.attempt for call in ledger.api_calls]
    assert attempts == [1, 2] * 5, "every request that left is a row"
    for call in ledger.api_calls:
        assert (call.failure_reason, call.status) == ("server_error", 500)
        assert (call.upstream_requests, call.request_share) == (1, 1.0)
    server.fault = lambda number, path: None
    assert (await client.search_papers("topic 3", 5, None)).complete, "a failure is not remembered"


async def test_passages_whose_papers_cannot_be_looked_up_come_with_the_failure(
    server: SemanticScholarServer, client: LiteratureClient
) -> None:
    server.fault = lambda number, path: "500" if path.endswith("batch") else None
    answer = await client.search_snippets("topic 3", 5, None)
    assert (answer.items, [failure.reason for failure in answer.failures]) == ((), ["server_error"])


async def test_a_spent_budget_is_a_failure_without_a_request(
    ledger: Ledger, http: httpx.AsyncClient
) -> None:
    left = [1]

    def spend() -> None:
        if not left:
            raise BudgetExhaustedError("the budget of 1 literature request is spent")
        left.pop()

    client = LiteratureClient(GATEWAY, ledger, http, Settings().literature, on_request=spend)
    assert (await client.search_papers("topic 3", 5, None)).complete
    refused = await client.search_papers("topic 4", 5, None)
    assert [failure.reason for failure in refused.failures] == ["budget_exhausted"]
    assert len(ledger.api_calls) == 1


async def test_a_gateway_killed_and_restarted_costs_time_not_answers(
    server: SemanticScholarServer,
    tmp_path: Path,
    settings_for: MakeSettings,
    ledger: Ledger,
    http: httpx.AsyncClient,
) -> None:
    with GatewayProcess(settings_for(server.url), LIVE, tmp_path / "kept") as gateway:
        client = LiteratureClient(gateway.url, ledger, http, Settings().literature)
        await client.search_papers("topic 3", 5, None)
        os.kill(gateway.process_id, signal.SIGKILL)
        answer = await client.search_papers("topic 4", 5, None)
    assert answer.complete
    assert answer.items


async def test_no_gateway_at_all_is_a_typed_failure(
    ledger: Ledger, http: httpx.AsyncClient
) -> None:
    requests = GatewayRequests("http://127.0.0.1:9", ledger, http, restart_seconds=0.2)
    fetched = await requests.get("/graph/v1/paper/search", {"query": "x"})
    assert fetched.failure is not None
    assert (fetched.failure.reason, fetched.status) == ("unreachable", None)
    assert ledger.api_calls[0].failure_reason == "unreachable"


async def test_an_answer_without_end_is_a_failure(
    ledger: Ledger,
    http: httpx.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tasks.literature.gateway_requests._LARGEST_ANSWER_BYTES", 100_000)
    with shaped_server(lambda _: "") as server:
        server.script = ["endless"]
        requests = GatewayRequests(server.url, ledger, http, restart_seconds=60.0)
        fetched = await requests.get("/graph/v1/paper/search", {"query": "x"})
    assert fetched.failure is not None
    assert fetched.failure.reason == "too_large"
    assert len(ledger.api_calls) == 1


async def test_over_a_snapshot_every_method_answers(snapshot: Snapshot, ledger: Ledger) -> None:
    async with gateway_to(snapshot) as http:
        client = LiteratureClient(GATEWAY, ledger, http, Settings().literature)
        cutoff = date(2018, 12, 31)
        papers = await client.search_papers("robot-grasping: diffusion", 10, cutoff)
        passages = await client.search_snippets("does diffusion help robots grasp?", 10, cutoff)
        recommended = await client.recommendations(papers.items[0].paper_id, 5, cutoff)
        references = await client.references([paper.paper_id for paper in papers.items], 5, cutoff)
        unreadable = await client.search_papers("?!", 5, None)
    for answer in (papers, passages, recommended):
        assert answer.complete
        assert answer.items
        assert answer.inadmissible_count == 0, (
            "the snapshot's own filter knows the last possible day of every paper"
        )
    assert all(paper.admissible(cutoff) for paper in (*papers.items, *recommended.items))
    assert [failure.reason for failure in references.failures] == ["withheld"], (
        "this snapshot knows no references"
    )
    assert [failure.reason for failure in unreadable.failures] == ["bad_request"]
    assert {call.source for call in ledger.api_calls} == {"snapshot"}


@given(st.text(max_size=200))
def test_a_plain_query_holds_words_only_or_is_refused(text: str) -> None:
    try:
        words = plain_query(text)
    except RequestRejectedError:
        assert len(text) > 100 or not any(letter.isascii() and letter.isalnum() for letter in text)
        return
    assert words == " ".join(words.split())
    assert not set(words) & set('-:^"+|*~()')
    words.encode()


def test_a_query_that_is_too_long_is_refused_rather_than_cut() -> None:
    with pytest.raises(RequestRejectedError, match="characters"):
        plain_query("word " * 1000)


async def test_papers_that_no_search_could_date_are_counted_once(tmp_path: Path) -> None:
    venues = ["ICLR", "ICLR", "EMNLP", "NIPS", "A journal"]
    rows = [
        {**row, "venue": venue, "year": 2024, "publication_date": None}
        for row, venue in zip(paper_rows(len(venues)), venues, strict=True)
    ]
    build_snapshot(write_parquet(tmp_path / "papers.parquet", rows), tmp_path / "index")
    ledger = Ledger(IdeaId("idea"))
    async with gateway_to(open_snapshot(tmp_path / "index")) as http:
        client = LiteratureClient(GATEWAY, ledger, http, Settings().literature)
        found = await client.search_papers(rows[0]["title"], 20, date(2024, 6, 30))
        await client.search_papers("another study", 20, date(2024, 6, 30))
    assert {paper.venue for paper in found.items} == {"ICLR"}
    failure, later = ledger.failures
    assert (later.reason, later.subject) == (Reason.AFTER_CUTOFF, "papers after 2024-06-30")
    assert (failure.reason, failure.subject) == (Reason.NO_DATE, "papers of 2024")
    assert failure.detail.startswith(
        "5 papers carry no date but the cutoff's year: 2 were searched and 1 left out by the month"
        " of their venue, 2 left out"
    )
