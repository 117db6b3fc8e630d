"""The gateway with a snapshot behind it keeps to the API's shapes, refusals included."""

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks.literature.snapshot.build import build_snapshot
from tasks.literature.snapshot.snapshot import Snapshot
from tests.support.gateways import BATCH, SEARCH, gateway_to
from tests.support.paper_files import paper_rows, with_references, write_parquet

PAPER = "/graph/v1/paper/URL:https://example.org/papers/{}".format


@pytest.fixture(scope="module")
def citing(tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    folder = tmp_path_factory.mktemp("citing")
    rows = with_references(paper_rows(60))
    return build_snapshot(write_parquet(folder / "p.parquet", rows), folder / "i")


@pytest.fixture
async def gateway(citing: Snapshot) -> AsyncIterator[httpx.AsyncClient]:
    async with gateway_to(citing) as client:
        yield client


async def body(gateway: httpx.AsyncClient, path: str, status: int = 200, **parameters: Any) -> Any:
    response = await gateway.get(path, params=parameters)
    assert response.status_code == status, response.text
    return response.json()


async def test_search_pages_and_names_the_next_offset(gateway: httpx.AsyncClient) -> None:
    first = await body(gateway, SEARCH, query="graph networks", limit=4, fields="title,year")
    assert (first["offset"], first["next"], len(first["data"])) == (0, 4, 4)
    assert set(first["data"][0]) == {"paperId", "title", "year"}
    second = await body(gateway, SEARCH, query="graph networks", limit=4, offset=4)
    assert set(second["data"][0]) == {"paperId", "title"}
    assert len({paper["paperId"] for paper in first["data"] + second["data"]}) == 8
    last = await body(gateway, SEARCH, query="graph networks", limit=100, offset=8)
    assert "next" not in last
    assert first["total"] == 8 + len(last["data"])
    nothing = await body(gateway, SEARCH, query="zeppelin xylophone")
    assert nothing == {"total": 0, "offset": 0}, "an empty search has no data key"


@pytest.mark.parametrize(
    ("parameters", "error"),
    [
        ({"fields": "title,unknown"}, "Unrecognized or unsupported fields: [unknown]"),
        ({"fields": "references.title"}, "Unrecognized or unsupported fields: [references.title]"),
        (
            {"offset": 950, "limit": 50},
            "Relevance search offset + limit must be < 1000. Consider '/paper/search/bulk'",
        ),
        ({"limit": 101}, "Unacceptable query params: [limit=101]"),
        ({"offset": "x"}, "Unacceptable query params: [offset=x]"),
        (
            {"publicationDateOrYear": "soon"},
            "Unacceptable query params: [publicationDateOrYear=soon]",
        ),
        ({"query": " "}, "Missing required parameter: 'query'"),
    ],
)
async def test_refusals_have_the_apis_words(
    gateway: httpx.AsyncClient, parameters: dict[str, Any], error: str
) -> None:
    assert await body(gateway, SEARCH, 400, **({"query": "a"} | parameters)) == {"error": error}


async def test_dates_are_part_of_the_query(gateway: httpx.AsyncClient) -> None:
    asked = {"query": "contrastive learning", "fields": "year"}
    for parameters in (
        {"publicationDateOrYear": ":2012-12-31"},
        {"year": "-2012"},
        {"publicationDateOrYear": "2010:2012"},
        {"year": "2010-2012"},
    ):
        found = await body(gateway, SEARCH, **asked, **parameters)
        assert {paper["year"] for paper in found["data"]} <= {2010, 2011, 2012}
        assert found["total"] == len(found["data"]) > 0
    nothing = await body(gateway, SEARCH, **asked, publicationDateOrYear=":2009")
    assert nothing["total"] == 0


async def test_a_paper_has_the_apis_shape(gateway: httpx.AsyncClient) -> None:
    fields = (
        "title,abstract,authors,externalIds,openAccessPdf,corpusId,year,url,venue,citationCount,"
        "referenceCount,publicationDate,tldr"
    )
    paper = await body(gateway, PAPER(5), fields=fields)
    assert set(paper) == {"paperId", *fields.split(",")}
    assert paper["openAccessPdf"]["url"] == "https://example.org/papers/5.pdf"
    assert paper["authors"][0] == {"authorId": None, "name": "Ada Author5"}
    assert paper["externalIds"] == {"DOI": "10.5555/paper.5", "CorpusId": paper["corpusId"]}
    without = await body(gateway, PAPER(6), fields="openAccessPdf,publicationDate")
    assert (without["openAccessPdf"]["url"], without["publicationDate"]) == ("", None)
    for name, rest in (("0", ""), ("10.1/a/b", "/references")):
        unknown = await body(gateway, f"/graph/v1/paper/{name}{rest}", 404)
        assert unknown == {"error": f"Paper with id {name} not found"}


async def test_a_batch_answers_by_position_with_null_for_unknown(
    gateway: httpx.AsyncClient,
) -> None:
    ids = ["DOI:10.5555/paper.5", "", "CorpusId:1", "10.5555/PAPER.10"]
    response = await gateway.post(BATCH, params={"fields": "title"}, json={"ids": ids})
    assert [row and row["title"][-2:] for row in response.json()] == [" 5", None, None, "10"]
    assert response.headers["x-assay-packed"] == "4"


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'{"ids":["CorpusId:1"]}', "No valid paper ids given"),
        (b'{"ids":[]}', "No valid paper ids given"),
        (b"{", "Request body is not valid JSON"),
        (b'{"ids":[1]}', 'Request body must be {"ids": [...]} with a list of strings'),
        (b'{"ids":[' + b",".join([b'"x"'] * 501) + b"]}", "Too many ids: at most 500"),
    ],
)
async def test_a_batch_that_cannot_be_answered_is_refused(
    gateway: httpx.AsyncClient, content: bytes, error: str
) -> None:
    response = await gateway.post(BATCH, content=content)
    assert (response.status_code, response.json()) == (400, {"error": error})


async def test_references_come_nested_and_paged_and_null_where_unknown(
    gateway: httpx.AsyncClient,
) -> None:
    ids = [PAPER(number).removeprefix("/graph/v1/paper/") for number in (7, 18)]
    asked = {"fields": "referenceCount,references.title"}
    known, unknown = (await gateway.post(BATCH, params=asked, json={"ids": ids})).json()
    assert [set(row) for row in known["references"]] == [{"paperId", "title"}] * 2
    assert known["referenceCount"] == 3
    assert (unknown["references"], unknown["referenceCount"]) == (None, None)
    page = await body(gateway, f"{PAPER(7)}/references", limit=1, fields="title,contexts")
    assert (page["next"], len(page["data"]), page["data"][0]["contexts"]) == (1, 1, None)
    assert page["data"][0]["citedPaper"] == known["references"][0]
    elided = await body(gateway, f"{PAPER(18)}/references")
    assert elided["data"] is None
    disclaimer = elided["citingPaperInfo"]["openAccessPdf"]["disclaimer"]
    assert "elided by the publisher: {'references'}" in disclaimer
    citing = await body(gateway, f"{PAPER(5)}/citations")
    assert len(citing["data"]) == 1
    refused = await body(gateway, f"{PAPER(7)}/references", 400, offset=9_500, limit=500)
    assert refused == {"error": "offset + limit must be < 10000"}


async def test_snippets_have_the_apis_shape(gateway: httpx.AsyncClient) -> None:
    path, query = "/graph/v1/snippet/search", "diffusion robot"
    found = await body(gateway, path, query="does diffusion help robot grasping?", limit=5)
    assert found["retrievalVersion"].startswith("snapshot:")
    row = found["data"][0]
    assert isinstance(row["paper"]["corpusId"], str)
    assert row["snippet"]["snippetKind"] in ("abstract", "title")
    assert row["snippet"]["annotations"] == {"refMentions": None, "sentences": None}
    earlier = await body(gateway, path, query=query, limit=50, insertedBefore="2013-01-01")
    corpus_ids = [f"CorpusId:{row['paper']['corpusId']}" for row in earlier["data"]]
    papers = (await gateway.post(BATCH, params={"fields": "year"}, json={"ids": corpus_ids})).json()
    assert max(paper["year"] for paper in papers) <= 2012
    one = await body(gateway, path, query=query, paperIds=corpus_ids[0])
    assert [f"CorpusId:{row['paper']['corpusId']}" for row in one["data"]] == corpus_ids[:1]


async def test_recommendations_answer_under_their_own_key(gateway: httpx.AsyncClient) -> None:
    root, asked = "/recommendations/v1/papers", {"fields": "title,year"}
    seed = (await body(gateway, SEARCH, query="robot grasping", limit=1))["data"][0]["paperId"]
    one = await body(gateway, f"{root}/forpaper/{seed}", limit=3, **asked, **{"from": "all-cs"})
    assert len(one["recommendedPapers"]) == 3
    unwanted = one["recommendedPapers"][0]["paperId"]
    lists = {"positivePaperIds": [seed], "negativePaperIds": [unwanted]}
    for path in (root, f"{root}/"):
        many = (await gateway.post(path, params=asked | {"limit": 2}, json=lists)).json()
        assert many["recommendedPapers"] == one["recommendedPapers"][1:3]
    refused = await gateway.post(root, json={"positivePaperIds": [], "negativePaperIds": [seed]})
    assert refused.status_code == 400
    assert refused.json() == {"error": "No positive paper examples given"}
    unknown = await body(gateway, f"{root}/forpaper/0", 404)
    assert unknown == {"error": "Input papers not found"}


async def test_bulk_search_ends_with_a_null_token_and_a_title_matches_one_row_or_none(
    gateway: httpx.AsyncClient,
) -> None:
    query = '"robot grasping" | "protein folding"'
    found = await body(gateway, f"{SEARCH}/bulk", query=query, fields="title")
    assert (found["total"], found["token"], len(found["data"])) == (20, None, 20)
    found = await body(gateway, f"{SEARCH}/match", query="attention for GRAPH networks - report 30")
    assert [set(row) for row in found["data"]] == [{"paperId", "title", "matchScore"}]
    unknown = await body(gateway, f"{SEARCH}/match", 404, query="zeppelin xylophone")
    assert unknown == {"error": "Title match not found"}


async def test_health_says_what_is_behind_it_and_statistics_count(
    gateway: httpx.AsyncClient,
) -> None:
    health = await body(gateway, "/healthz")
    assert (health["status"], health["source"]) == ("ok", "snapshot")
    assert health["literature"].startswith("snapshot:")
    await body(gateway, SEARCH, query="robot")
    statistics = await body(gateway, "/stats")
    assert (statistics["papers"], statistics["gateway"]["requests"]) == (60, 1)
    assert (await gateway.get("/elsewhere")).status_code == 404


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from([SEARCH, f"{SEARCH}/bulk", f"{SEARCH}/match", "/graph/v1/snippet/search"]),
    query=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
)
async def test_no_query_text_breaks_a_search(
    gateway: httpx.AsyncClient, path: str, query: str
) -> None:
    assert (await gateway.get(path, params={"query": query})).status_code in (200, 400, 404)
