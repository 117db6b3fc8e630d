"""Edges of the citation graph as an idea's client reads them: bounded, named, nothing invented."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.failure import Answer
from schemas.identifiers import IdeaId, PaperId
from schemas.settings import Settings
from tasks.accounting.ledger import Ledger
from tasks.literature.client import LiteratureClient
from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import Snapshot
from tests.support.gateways import GATEWAY, gateway_to
from tests.support.paper_files import paper_rows, write_jsonl

URL = "https://example.org/papers/{}".format
HUB_CITATIONS = 2_400


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(IdeaId("idea"))


@asynccontextmanager
async def client_of(snapshot: Snapshot, ledger: Ledger) -> AsyncIterator[LiteratureClient]:
    """A client in front of the snapshot."""
    async with gateway_to(snapshot) as http:
        yield LiteratureClient(GATEWAY, ledger, http, Settings().literature, unlimited=True)


def papers(count: int) -> list[dict[str, Any]]:
    """Papers that all have an address."""
    return [row | {"url": URL(number)} for number, row in enumerate(paper_rows(count))]


def snapshot_of(rows: Sequence[dict[str, Any]], folder: Path) -> Snapshot:
    return build_snapshot(write_jsonl(folder / "papers.jsonl", rows), folder / "index")


def papers_named(snapshot: Snapshot, *numbers: int) -> list[PaperId]:
    found = snapshot.papers([f"URL:{URL(number)}" for number in numbers])
    return [PaperId(paper.paper_id) for paper in found if paper is not None]


async def test_how_papers_cite_comes_along_with_the_references_in_one_request(
    tmp_path: Path, ledger: Ledger
) -> None:
    rows = papers(10)
    told = [{"text": "We follow [5].", "section": "Method", "intents": ["methodology", "result"]}]
    rows[9] |= {
        "references": [URL(5), URL(6), URL(7)],
        "reference_contexts": [told, [], None],
        "reference_influential": [True, None, None],
    }
    rows[8] |= {"references": [URL(5)], "reference_contexts": [["See [5]."]]}
    snapshot = snapshot_of(rows, tmp_path)
    async with client_of(snapshot, ledger) as client:
        cited = await client.references(papers_named(snapshot, 9, 8), 10, None)
        citing = await client.citations(papers_named(snapshot, 5), 10, None)
    assert [
        (edge.contexts, edge.sections, edge.intents, edge.influential) for edge, _ in cited.items
    ] == [
        (("We follow [5].",), ("Method",), ("methodology, result",), True),
        ((), (), (), None),
        (None, None, None, None),
        (("See [5].",), ("",), ("",), None),
    ]
    assert [paper.url for _, paper in citing.items] == [URL(8), URL(9)]
    assert citing.items[1][0] == cited.items[0][0], "an edge is the same from both of its ends"
    assert len(ledger.api_calls) == 2


async def test_a_snapshot_that_knows_no_references_withholds_citations_too(
    tmp_path: Path, ledger: Ledger
) -> None:
    snapshot = snapshot_of(papers(5), tmp_path)
    async with client_of(snapshot, ledger) as client:
        for look_up in (client.references, client.citations):
            answer = await look_up(papers_named(snapshot, 1), 10, None)
            assert not answer.items
            assert [failure.reason for failure in answer.failures] == ["withheld"]


async def test_where_the_run_says_that_nothing_is_known_of_references_nobody_asks(
    ledger: Ledger,
) -> None:
    transport = httpx.MockTransport(lambda _: pytest.fail("a request was sent"))
    async with httpx.AsyncClient(transport=transport) as http:
        client = LiteratureClient(
            GATEWAY, ledger, http, Settings().literature, with_references=False
        )
        for look_up in (client.references, client.citations):
            assert await look_up([PaperId("a" * 40)], 10, None) == Answer(())
    assert ledger.api_calls == []


async def test_cycles_duplicates_and_papers_that_cite_themselves_or_strangers_give_plain_edges(
    tmp_path: Path, ledger: Ledger
) -> None:
    rows = papers(4)
    rows[0] |= {"references": [URL(0), URL(1), URL(1), "W123", "10.1/stranger", ""]}
    rows[1] |= {"references": [URL(2)]}
    rows[2] |= {"references": [URL(0)]}
    rows[3] |= {"references": []}
    snapshot = snapshot_of([*rows, rows[1]], tmp_path)
    seeds = papers_named(snapshot, 0, 1, 2, 3)
    async with client_of(snapshot, ledger) as client:
        answer = await client.references([*seeds, seeds[0], PaperId("0" * 40)], 10, None)
    assert [(edge.citing_paper_id, edge.cited_paper_id) for edge, _ in answer.items] == [
        (seeds[0], seeds[1]),
        (seeds[1], seeds[2]),
        (seeds[2], seeds[0]),
    ]
    assert all(edge.contexts is None for edge, _ in answer.items)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """One paper that all others cite; every other one appeared before 2010."""
    rows = papers(HUB_CITATIONS + 1)
    for number, row in enumerate(rows):
        year = 2009 if number % 2 == 0 else 2020
        row |= {"references": [URL(0)] if number else []}
        row |= {"year": year, "publication_date": f"{year}-05-01"}
        row["citation_count"] = 0 if number else HUB_CITATIONS
    return snapshot_of(rows, tmp_path_factory.mktemp("hub"))


async def test_of_a_hub_only_what_is_wanted_is_asked_for(hub: Snapshot, ledger: Ledger) -> None:
    async with client_of(hub, ledger) as client:
        answer = await client.citations(papers_named(hub, 0), 30, None)
        again = await client.citations(papers_named(hub, 0), 20, None)
    assert len(answer.items) == 30
    assert again.items == answer.items[:20]
    assert [call.endpoint for call in ledger.api_calls] == ["paper/citations"], (
        "a list whose length is unknown is read by page, and never twice"
    )


async def test_of_a_hub_with_an_early_cutoff_only_what_is_early_enough_is_read(
    hub: Snapshot, ledger: Ledger
) -> None:
    cutoff = date(2010, 1, 1)
    async with client_of(hub, ledger) as client:
        answer = await client.citations(papers_named(hub, 0), 5_000, cutoff)
    assert len(answer.items) == HUB_CITATIONS // 2
    assert answer.complete
    assert all(paper.admissible(cutoff) for _, paper in answer.items)
    assert len(ledger.api_calls) == 2, "pages of 1,000 rows"


async def test_a_hub_that_is_cited_more_often_than_can_be_listed_says_so(
    hub: Snapshot, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.literature.edges._LAST_ROW", 1_999)
    async with client_of(hub, ledger) as client:
        answer = await client.citations(papers_named(hub, 0), HUB_CITATIONS, None)
    assert len(answer.items) == 1_999
    assert [failure.reason for failure in answer.failures] == ["too_large"]
    assert "1,999" in answer.failures[0].detail


async def test_what_was_read_for_an_early_day_does_not_answer_for_a_later_one(
    hub: Snapshot, ledger: Ledger
) -> None:
    seeds = papers_named(hub, 0)
    async with client_of(hub, ledger) as client:
        early = await client.citations(seeds, 5_000, date(2010, 1, 1))
        later = await client.citations(seeds, 2_000, date(2021, 1, 1))
        earlier = await client.citations(seeds, 10, date(2008, 1, 1))
    assert (len(early.items), len(later.items), len(earlier.items)) == (1_200, 2_000, 0)


async def test_citing_papers_that_may_be_early_enough_are_kept_or_counted(
    tmp_path: Path, ledger: Ledger
) -> None:
    rows = papers(6)
    dates: list[tuple[int | None, str | None]] = [
        (2009, None),
        (2010, None),
        (None, None),
        (2011, None),
        (2010, "2010-03-01"),
    ]
    for row, (year, day) in zip(rows[1:], dates, strict=True):
        row |= {"references": [URL(0)], "year": year, "publication_date": day, "venue": ""}
    snapshot = snapshot_of(rows, tmp_path)
    async with client_of(snapshot, ledger) as client:
        answer = await client.citations(papers_named(snapshot, 0), 10, date(2010, 6, 1))
    assert {paper.paper_id for _, paper in answer.items} == set(papers_named(snapshot, 1, 5))
    assert answer.inadmissible_count == 2, "2010 alone and no year; 2011 is certainly later"


async def test_what_a_table_says_of_a_paper_reaches_the_idea_and_what_it_does_not_stays_unknown(
    tmp_path: Path, ledger: Ledger
) -> None:
    rows = papers(2)
    rows[0] |= {
        "authors": [{"name": "Ada One", "id": "a1"}, {"name": "Bob Two"}],
        "venue_id": "v1",
        "fields_of_study": ["Biology"],
        "keywords": ["cells", "cells", "membranes"],
    }
    rows[1] |= {"keywords": None, "authors": ["Ada One"]}
    snapshot = snapshot_of(rows, tmp_path)
    async with client_of(snapshot, ledger) as client:
        answer = await client.papers(papers_named(snapshot, 0, 1), None)
    told, silent = answer.items
    assert (told.authors, told.author_ids) == (("Ada One", "Bob Two"), ("a1", ""))
    assert (told.venue_id, told.fields_of_study) == ("v1", ("Biology",))
    assert told.concepts == ("cells", "membranes")
    assert (silent.authors, silent.author_ids, silent.venue_id) == (("Ada One",), None, None)
    assert (silent.fields_of_study, silent.concepts) == (None, None)


def live(counts: dict[str, int], batches: list[str]) -> httpx.MockTransport:
    """Answers as the live API does: every paper is cited by one other."""

    def answered(request: httpx.Request) -> httpx.Response:
        fields = request.url.params["fields"]
        batches.append(f"{request.url.path.rpartition('/')[2]} {'citations.' in fields}")
        rows = [
            {
                "paperId": name,
                "title": f"On {name[0]}",
                "abstract": "About it.",
                "citationCount": counts[name],
                "citations": [{"paperId": "f" * 40, "title": "On f", "abstract": "About f."}],
            }
            for name in json.loads(request.content)["ids"]
        ]
        return httpx.Response(200, stream=httpx.ByteStream(json.dumps(rows).encode()))

    return httpx.MockTransport(answered)


async def test_papers_whose_citations_nobody_counted_are_counted_in_one_request(
    ledger: Ledger,
) -> None:
    counts, sent = {sign * 40: 7 for sign in "abcde"}, list[str]()
    async with httpx.AsyncClient(transport=live(counts, sent)) as http:
        client = LiteratureClient(GATEWAY, ledger, http, Settings().literature)
        answer = await client.citations([PaperId(name) for name in counts], 10, None)
    assert [edge.cited_paper_id for edge, _ in answer.items] == list(counts)
    assert sent == ["batch False", "batch True"]
