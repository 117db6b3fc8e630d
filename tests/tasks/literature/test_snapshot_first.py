"""The snapshot answers what it has; the live API is asked for the rest, and only for the rest."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from schemas.choices import LIVE, LiteratureChoice
from schemas.settings import LiteratureSettings, Settings
from tasks.literature.gateway.snapshot_upstream import SnapshotUpstream
from tasks.literature.gateway.upstreams import LiveUpstream, SnapshotFirst, open_upstream
from tasks.literature.snapshot.snapshot import Snapshot, open_snapshot
from tests.support.gateways import BATCH, SEARCH, gateway_to
from tests.support.semantic_scholar_server import SemanticScholarServer, corpus
from warehouse.stores.keyed_store import KeyedStore

Both = tuple[httpx.AsyncClient, SemanticScholarServer]
LOCAL = "DOI:10.5555/paper.5"


@pytest.fixture
async def both(
    tmp_path: Path, snapshot: Snapshot, settings_for: Callable[..., Settings]
) -> AsyncIterator[Both]:
    with SemanticScholarServer(corpus(20)) as server:
        live = LiveUpstream(
            settings_for(server.url, maximum_attempts=1), KeyedStore(tmp_path / "cache")
        )
        upstream = SnapshotFirst(SnapshotUpstream(open_snapshot(snapshot.folder)), live)
        async with gateway_to(upstream) as client:
            yield client, server
        await upstream.close()


async def batch(client: httpx.AsyncClient, *ids: str, fields: str = "title") -> httpx.Response:
    return await client.post(BATCH, params={"fields": fields}, json={"ids": ids})


async def test_only_what_the_snapshot_lacks_is_asked_for(both: Both) -> None:
    client, server = both
    rows = (await batch(client, "CorpusId:1003", LOCAL, "CorpusId:7")).json()
    assert [row and row["title"] for row in rows] == [
        "Study 3 of topic 3 in graphs",
        "Attention for bandit algorithms: report 5",
        None,
    ]
    assert server.batches == [["CorpusId:1003", "CorpusId:7"]]
    assert (await client.get(f"/graph/v1/paper/{LOCAL}")).status_code == 200
    asked = {"fields": "title"}
    elsewhere = (await client.get("/graph/v1/paper/CorpusId:1004", params=asked)).json()
    assert elsewhere["title"] == "Study 4 of topic 4 in graphs"
    assert (await client.get("/healthz")).json()["literature"].startswith("snapshot:")


async def test_references_the_snapshot_does_not_know_are_asked_for(both: Both) -> None:
    client, server = both
    (row,) = (await batch(client, LOCAL, fields="references.title")).json()
    assert server.batches == [[LOCAL]]
    assert row["references"] is None


async def test_a_live_failure_is_not_hidden_by_the_snapshots_part(both: Both) -> None:
    client, server = both
    server.fault = lambda number, path: "500"
    for answer in (
        await batch(client, LOCAL, "CorpusId:1003"),
        await client.get(SEARCH, params={"query": "graph networks"}),
        await batch(client, LOCAL, fields="references.title"),
        await client.get(f"/graph/v1/paper/{LOCAL}/references", params={"fields": "title"}),
    ):
        assert (answer.is_success, answer.json()["reason"]) == (False, "server_error")
    assert (await batch(client, LOCAL)).status_code == 200


async def test_services_behind_one_host_are_literature_of_their_own(
    tmp_path: Path, settings_for: Callable[..., Settings]
) -> None:
    for url, name in (
        ("http://proxy.example.org/one/", "live:proxy.example.org/one"),
        ("http://proxy.example.org:81/two", "live:proxy.example.org:81/two"),
    ):
        upstream = open_upstream(settings_for(url), LIVE, tmp_path / "cache")
        assert upstream.identity == name
        await upstream.close()


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
