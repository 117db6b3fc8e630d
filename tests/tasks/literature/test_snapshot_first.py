"""The snapshot answers what it has; the live API is asked for the rest, and only for the rest."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from schemas.choices import LIVE, LiteratureChoice
from schemas.settings import LiteratureSettings, Settings
from tasks.literature.gateway.application import application
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.gateway.upstreams import LiveUpstream, SnapshotFirst, open_upstream
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus
from warehouse.stores.keyed_store import KeyedStore

BATCH = "/graph/v1/paper/batch"


@pytest.fixture
async def both(
    tmp_path: Path, snapshot: Snapshot, settings_for: Callable[..., Settings]
) -> AsyncIterator[tuple[Any, Any]]:
    with SemanticScholarServer(corpus(20)) as server:
        live = LiveUpstream(
            settings_for(server.url, maximum_attempts=1), KeyedStore(tmp_path / "cache")
        )
        upstream = SnapshotFirst(SnapshotUpstream(open_snapshot(snapshot.folder)), live)
        transport = httpx.ASGITransport(application(upstream))
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            yield client, server
        await upstream.close()


async def test_only_what_the_snapshot_lacks_is_asked_for(
    both: tuple[httpx.AsyncClient, SemanticScholarServer],
) -> None:
    client, server = both
    local, elsewhere = "DOI:10.5555/paper.5", "CorpusId:1003"
    rows = (
        await client.post(
            BATCH, params={"fields": "title"}, json={"ids": [elsewhere, local, "CorpusId:7"]}
        )
    ).json()
    assert [row and row["title"] for row in rows] == [
        "Study 3 of topic 3 in graphs",
        "Attention for bandit algorithms: report 5",
        None,
    ]
    assert server.batches == [["CorpusId:1003", "CorpusId:7"]]
    assert (await client.get(f"/graph/v1/paper/{local}")).status_code == 200
    assert (await client.get("/graph/v1/paper/CorpusId:1004", params={"fields": "title"})).json()[
        "title"
    ] == "Study 4 of topic 4 in graphs"
    assert (await client.get("/healthz")).json()["literature"].startswith("snapshot:")


async def test_references_the_snapshot_does_not_know_are_asked_for(
    both: tuple[httpx.AsyncClient, SemanticScholarServer],
) -> None:
    client, server = both
    (row,) = (
        await client.post(
            BATCH, params={"fields": "references.title"}, json={"ids": ["DOI:10.5555/paper.5"]}
        )
    ).json()
    assert server.batches == [["DOI:10.5555/paper.5"]]
    assert row["references"] is None


async def test_a_live_failure_is_not_hidden_by_the_snapshots_part(
    both: tuple[httpx.AsyncClient, SemanticScholarServer],
) -> None:
    client, server = both
    server.fault = lambda number, path: "500"
    mixed = await client.post(
        BATCH, params={"fields": "title"}, json={"ids": ["DOI:10.5555/paper.5", "CorpusId:1003"]}
    )
    search = await client.get("/graph/v1/paper/search", params={"query": "graph networks"})
    lists = await client.post(
        BATCH, params={"fields": "references.title"}, json={"ids": ["DOI:10.5555/paper.5"]}
    )
    edges = await client.get(
        "/graph/v1/paper/DOI:10.5555/paper.5/references", params={"fields": "title"}
    )
    assert [answer.json()["reason"] for answer in (mixed, search, lists, edges)] == [
        "server_error"
    ] * 4
    assert not any(answer.is_success for answer in (mixed, search, lists, edges))
    local = await client.post(
        BATCH, params={"fields": "title"}, json={"ids": ["DOI:10.5555/paper.5"]}
    )
    assert local.status_code == 200


async def test_services_behind_one_host_are_literature_of_their_own(
    tmp_path: Path, settings_for: Callable[..., Settings]
) -> None:
    names = []
    for url in (
        "http://proxy.example.org/one/",
        "http://proxy.example.org/one",
        "http://proxy.example.org:81/two",
    ):
        upstream = open_upstream(settings_for(url), LIVE, tmp_path / "cache")
        names.append(upstream.identity)
        await upstream.close()
    assert names == [
        "live:proxy.example.org/one",
        "live:proxy.example.org/one",
        "live:proxy.example.org:81/two",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "https://user:secret@a.example",
        "https://a.example/?key=secret",
        "https://a.example/#x",
        "a.example",
    ],
)
def test_an_upstream_address_that_would_not_be_asked_as_it_stands_is_refused(url: str) -> None:
    with pytest.raises(ValidationError):
        LiteratureSettings(upstream_url=url)


async def test_the_word_for_it_opens_it(
    tmp_path: Path, snapshot: Snapshot, settings_for: Callable[..., Settings]
) -> None:
    settings = settings_for("http://api.example.org")
    names = {}
    for literature in (f"snapshot:{snapshot.folder}", f"snapshot:{snapshot.folder}+live", "live"):
        upstream = open_upstream(settings, LiteratureChoice.parse(literature), tmp_path / "cache")
        names[literature.removeprefix(f"snapshot:{snapshot.folder}")] = upstream.identity
        await upstream.close()
    known = f"snapshot:{snapshot.fingerprint[:12]}"
    assert names == {
        "": known,
        "+live": f"{known}+live:api.example.org",
        "live": "live:api.example.org",
    }
