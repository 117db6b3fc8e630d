import json
from datetime import date

import pytest

from schemas.literature.knowledge import SourceQuery
from tasks.sources.crossref import CrossrefSource
from tasks.sources.openalex import OpenAlexSource
from tasks.sources.unpaywall import UnpaywallSource
from tasks.sources.web_search import SerperScholarSource
from tests.support.web_servers import SHAPES, Find, ShapedServer


def works(count: int, cursor: str | None, first: int = 0) -> str:
    numbers = range(first, first + count)
    body = json.loads(SHAPES["openalex"]([Find(f"Work {each}", number=each) for each in numbers]))
    return json.dumps(body | {"meta": {"next_cursor": cursor}})


async def test_openalex_follows_the_cursor_until_there_are_enough(
    server: ShapedServer, ask
) -> None:
    pages = [works(100, "next", 0), works(100, "more", 100), works(100, None, 200)]
    server.shape = lambda _: pages.pop(0)
    answer = await ask(OpenAlexSource, SourceQuery(text="attention", limit=150))
    assert len(answer.items) == 150
    assert [request.parameters["cursor"] for request in server.asked] == [["*"], ["next"]]


async def test_openalex_asks_within_the_dates_and_with_the_key(server: ShapedServer, ask) -> None:
    within = {"published_after": date(2020, 1, 1), "published_before": date(2022, 2, 2)}
    query = SourceQuery(text='"sparse" AND (attention)', **within)
    await ask(OpenAlexSource, query, SHAPES["openalex"](()))
    (request,) = server.asked
    assert request.parameters["filter"] == [
        "from_publication_date:2020-01-01,to_publication_date:2022-02-02"
    ]
    assert request.parameters["search"] == ["sparse and attention"]
    assert request.parameters["api_key"] == ["oa-Secret+1/9"]


@pytest.mark.parametrize("kind", [OpenAlexSource, CrossrefSource], ids=lambda kind: kind.name)
async def test_dois_travel_in_batches_and_a_wrong_one_is_named(
    kind, server: ShapedServer, open_source
) -> None:
    server.shape = SHAPES[kind.name]
    server.finds = (Find("One", number=1),)
    known = (f"https://doi.org/10.1234/{number}" for number in range(60))
    dois = (*known, "not a doi", "10.1/short", "10.1234/a,b")
    async with open_source(kind) as context:
        answer = await context.source.search(SourceQuery(dois=dois, limit=1))
        packed = [call.packed for call in context.ledger.api_calls]
    assert packed == [50, 10]
    assert [failure.reason for failure in answer.failures] == ["bad_request"] * 3
    separator = "|" if kind is OpenAlexSource else ","
    assert server.asked[0].parameters["filter"][0].count(separator) == 49
    assert answer.items[0].doi == "10.1234/1"


async def test_crossref_goes_to_the_polite_pool_and_keeps_to_the_stated_rate(
    server: ShapedServer, open_source
) -> None:
    server.shape = SHAPES["crossref"]
    server.headers = {"x-rate-limit-limit": "4", "x-rate-limit-interval": "1s"}
    async with open_source(CrossrefSource) as context:
        for number in range(3):
            await context.source.search(SourceQuery(dois=(f"10.1234/{number}",)))
        waits = [call.wait_seconds for call in context.ledger.api_calls]
    assert waits[0] < 0.1
    assert min(waits[1:]) > 0.15
    assert all("mailto" in request.parameters for request in server.asked)


async def test_crossref_abstracts_lose_their_markup_and_months_mean_their_last_day(ask) -> None:
    abstract = (
        "<jats:title>Abstract</jats:title><jats:p>Is <jats:italic>p</jats:italic> &lt; 0.05 &amp; n"
        " &gt; 3?</jats:p>"
    )
    row = {
        "DOI": "10.1234/A",
        "title": ["A <i>b</i>"],
        "abstract": abstract,
        "issued": {"date-parts": [[2020, 2]]},
    }
    undated = {"DOI": "10.1234/B", "title": [], "issued": {"date-parts": [[None]]}}
    rows = [row, undated, "no row", {"title": ["no address"]}]
    query = SourceQuery(dois=("10.1234/a",))
    answer = await ask(CrossrefSource, query, {"message": {"items": rows}})
    first, second = answer.items
    assert (first.doi, first.title, first.published) == ("10.1234/a", "A b", date(2020, 2, 29))
    assert first.text == "Is p < 0.05 & n > 3?"
    assert (second.title, second.published) == ("", None)
    assert answer.failures[0].detail == "2 of 4 rows are not as documented"


async def test_the_recorded_unpaywall_record_is_read(ask, sample) -> None:
    query = SourceQuery(dois=("doi:10.1038/nature12373",))
    (item,) = (await ask(UnpaywallSource, query, sample("other_unpaywall_doi.json"))).items
    assert (item.url, item.published) == ("https://doi.org/10.1038/nature12373", date(2013, 7, 30))
    assert (item.authors, item.venue) == (("G. Aad",), "Nature")
    assert item.pdf_url == "https://www.nature.com/articles/nature12373.pdf"


async def test_the_recorded_scholar_page_is_read(ask, sample) -> None:
    query = SourceQuery(text="attention is all you need", published_before=date(2017, 12, 31))
    answer = await ask(SerperScholarSource, query, sample("other_serper_scholar.json"))
    (item,) = answer.items
    assert item.authors == ("A Vaswani", "N Shazeer", "N Parmar")
    assert (item.venue, item.citation_count) == ("Advances in neural", 119097)
    assert item.published == date(2017, 12, 31)
    assert (answer.inadmissible_count, answer.undated_count) == (1, 0)


async def test_crossref_links_versions_and_its_review_comments_are_no_papers(ask) -> None:
    article = {
        "DOI": "10.1234/A",
        "title": ["A title"],
        "relation": {"has-preprint": [{"id-type": "doi", "id": "10.1101/123456"}]},
    }
    comments = [
        {"DOI": "10.5194/egusphere-2024-1-RC1", "title": ["Comment on egusphere-2024-1"]},
        {"DOI": "10.1234/B", "title": ["Reply on RC1"]},
    ]
    letter = {"DOI": "10.1234/C", "title": ["Comment on “A title”"]}
    body = {"message": {"items": [article, *comments, letter]}}
    answer = await ask(CrossrefSource, SourceQuery(dois=("10.1234/a",)), body)
    assert [(item.doi, item.version_dois) for item in answer.items] == [
        ("10.1234/a", ("10.1101/123456",)),
        ("10.1234/c", ()),
    ]
    assert not answer.failures


async def test_a_source_of_dois_answers_no_words(server: ShapedServer, ask) -> None:
    answer = await ask(UnpaywallSource, "attention")
    assert [failure.reason for failure in answer.failures] == ["bad_request"]
    assert server.asked == []


async def test_openalex_locations_are_versions(ask) -> None:
    pages = ("https://doi.org/10.1234/a", "http://arxiv.org/abs/2301.00004v1")
    row = {
        "id": "https://openalex.org/W1",
        "doi": "https://doi.org/10.1234/A",
        "title": "A <i>title</i>",
        "locations": [{"landing_page_url": page} for page in pages],
    }
    query = SourceQuery(dois=("10.1234/a",))
    (item,) = (await ask(OpenAlexSource, query, {"results": [row], "meta": {}})).items
    assert (item.title, item.arxiv_id, item.version_dois) == ("A title", "2301.00004", ())
